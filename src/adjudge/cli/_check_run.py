"""What `adjudge check` does with its options: the check is made, shown, and sent where it is wanted."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._check_show import inert, show_check
from adjudge.cli._live import live
from adjudge.cli._show import Terminal
from adjudge.errors import AdjudgeError, UsageError
from adjudge.scenarios._check import Checked, CheckOptions, check
from adjudge.scenarios._reports import check_langfuse, github_lines, send_langfuse, write_json, write_junit

if TYPE_CHECKING:
    from adjudge.sinks import Receipt

UNDECIDED = 3


def run_check(scenarios: str, *, otlp_endpoint: str | None, json_file: str | None, **options: Any) -> int:
    """Check, show, report, and return the exit code."""
    outputs = [options["junit"], json_file, options["outbox"] if options["langfuse"] else None]
    _refuse_unwritable([path for path in outputs if path is not None])
    if options["langfuse"]:
        check_langfuse(options["outbox"])
    known = {one.name for one in fields(CheckOptions)}
    asked = CheckOptions(endpoint=otlp_endpoint, **{name: one for name, one in options.items() if name in known})
    with _whoever_reads():
        with live() as watch:
            checked = check(scenarios, asked, watch=watch, told=_say_endpoint, signals=True)
        if checked.signal is not None:
            _say(f"interrupted; the same command with --run {checked.run.file} goes on")
            return checked.exit_code
        is_taken = "-" in outputs  # standard output is somebody's report
        with _whoever_reads():
            for warning in checked.run.warnings:
                _say(f"warning: {warning}")
            show_check(checked, Terminal(stderr=is_taken))
        reports: list[tuple[str | None, Callable[[str], None]]] = [
            (outputs[0], lambda path: write_junit(checked, path)),
            (outputs[1], lambda path: write_json(checked, path)),
            ("annotations" if options["github"] else None, lambda _: _annotate(checked, to_stderr=is_taken)),
            (outputs[2], lambda path: _show_receipt(send_langfuse(checked, path), path)),
        ]
        written = [_written(write, path) for path, write in reports if path is not None]
        with _whoever_reads():
            _show_end(checked)
        return checked.exit_code if all(written) else UNDECIDED
    return UNDECIDED


def _written(write: Callable[[str], None], path: str) -> bool:
    """Write one report, and say whether that went well; one that cannot be written keeps no other one back."""
    try:
        with _whoever_reads():
            write(path)
    except (AdjudgeError, OSError) as error:
        why = error.message if isinstance(error, AdjudgeError) else f"{path}: {error.strerror or error}"
        _say(f"error: {why}")
        return False
    return True


def _annotate(checked: Checked, *, to_stderr: bool) -> None:
    click.echo(github_lines(checked), nl=False, err=to_stderr)


@contextmanager
def _whoever_reads() -> Iterator[None]:
    """Go on without a reader when it has gone, as `head` does: the exit code is for somebody else."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character decides nothing
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _refuse_unwritable(paths: Sequence[str]) -> None:
    """Refuse, before anything is asked, what could not be written after it."""
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(f"{path} cannot be written twice: give every report a place of its own", code="bad-option")
        folder = Path(path).parent
        if path != "-" and (not folder.is_dir() or Path(path).is_dir()):
            why = "it is a folder" if Path(path).is_dir() else f"there is no folder {folder}"
            raise UsageError(f"{path} cannot be written: {why}", code="cannot-write")


def _show_end(checked: Checked) -> None:
    again = ""
    if checked.run.counts["error"]:
        again = f"; the same command with --run {checked.run.file} --retry-failed does again what ended in an error"
    _say(f"the run is in {checked.run.file}{again}")


def _show_receipt(receipt: "Receipt", outbox: str) -> None:
    """Say what became of the scores; the gate's verdict does not depend on it."""
    counts = f"{receipt.delivered:,} delivered, {receipt.pending:,} pending, {len(receipt.rejected):,} rejected"
    more = f"; adjudge resend {outbox} sends the rest" if receipt.pending else ""
    _say(f"langfuse: {counts}{more}")
    if receipt.fault is not None:
        _say(f"langfuse: {receipt.fault}")
    for one in receipt.rejected[:3]:
        _say(f"langfuse: rejected {one.name} of {one.trace_id or '-'}: {one.reason}")


def _say_endpoint(address: str) -> None:
    _say(f"listening for spans: OTEL_EXPORTER_OTLP_ENDPOINT={address}")


def _say(line: str) -> None:
    click.echo(f"adjudge: {inert(line, most=1000)}", err=True)
