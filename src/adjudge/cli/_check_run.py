"""What `adjudge check` does with its options: the check is made, shown, and sent where it is wanted."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._check_show import inert, show_check
from adjudge.cli._live import live
from adjudge.cli._show import Terminal
from adjudge.scenarios._check import Checked, CheckOptions, check
from adjudge.scenarios._reports import github_lines, send_langfuse, write_json, write_junit

if TYPE_CHECKING:
    from adjudge.sinks import Receipt


def run_check(scenarios: str, *, otlp_endpoint: str | None, json_file: str | None, **options: Any) -> int:
    """Check, show, report, and return the exit code."""
    known = {one.name for one in fields(CheckOptions)}
    asked = CheckOptions(endpoint=otlp_endpoint, **{name: one for name, one in options.items() if name in known})
    with live() as watch:
        checked = check(scenarios, asked, watch=watch, told=_say_endpoint, signals=True)
    for warning in checked.run.warnings:
        _say(f"warning: {warning}")
    if checked.signal is not None:
        _say(f"interrupted; the same command with --run {checked.run.file} goes on")
        return checked.exit_code
    if options["junit"] is not None:
        write_junit(checked, options["junit"])
    if json_file is not None:
        write_json(checked, json_file)
    show_check(checked, Terminal())
    if options["github"]:
        click.echo(github_lines(checked), nl=False)
    if options["langfuse"]:
        _show_receipt(send_langfuse(checked, options["outbox"]), options["outbox"])
    _show_end(checked)
    return checked.exit_code


def _show_end(checked: Checked) -> None:
    again = ""
    if checked.decision.verdict == "undecided":
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
