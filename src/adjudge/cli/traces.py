"""`adjudge traces show`: what is understood of a record, and what to do where something is not."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from adjudge.cli._options import AGENT_NAMES, exit_on_sigterm, new_command, new_group, take_agent_names, with_options
from adjudge.errors import UsageError, printable

if TYPE_CHECKING:
    from adjudge.cli._show import Terminal
    from adjudge.model import ToolCall
    from adjudge.receivers import OtlpEndpoint
    from adjudge.traces import AgentNames, UnderstoodRun

LONGEST = 200  # characters of a value
MOST = 50  # tool calls of a run
QUIET = 1.0  # seconds without news after which a trace counts as whole
PATIENCE = 30.0  # seconds that are waited for what is missing

command = new_group(
    "traces",
    short_help="Show what is understood of traces.",
    epilog="\b\nExample:\n  adjudge traces show run.json",
    help="Look at traces: what is understood of them.",
)


@new_command(
    "show",
    command,
    short_help="Show what is understood of a record.",
    epilog="""\b
Examples:
  adjudge traces show run.json
  adjudge traces show spans.jsonl --trace 4bf92f3577b34da6a3ce929d0e0e4736
  adjudge traces show run.json --map-agent call_model=research --ignore-agent team
  adjudge traces show --listen 4318""",
)
@click.argument("path", required=False)
@click.option("--listen", is_flag=False, flag_value="0", help="In place of a file: listen for spans on [HOST:]PORT.")
@click.option("--trace", help="Which run, where the record holds several.")
@click.option("--format", "named", help="The format, where it cannot be recognised.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines: the trajectory of every run.")
@with_options(*AGENT_NAMES)
def show(
    path: str | None, listen: str | None, trace: str | None, named: str | None, as_json: bool, **more: Any
) -> None:
    """Print what is understood of the record in PATH: agents, tools, arguments, answer, and what it cannot show."""
    from adjudge.cli._show import Terminal
    from adjudge.traces import understand

    names = take_agent_names(more)
    if (path is None) == (listen is None):
        raise UsageError("name the file of a record, or listen for spans with --listen")
    console = Terminal()
    if path is not None:
        for run in understand(path, named, trace=trace, agents=names):
            _print(run, path, console, as_json=as_json)
        return
    # Ctrl-C is how listening ends, also while a trace is printed.
    with exit_on_sigterm(), suppress(KeyboardInterrupt):
        for run in _received(str(listen), names):
            _print(run, "spans.jsonl", console, as_json=as_json)


def _received(place: str, names: "AgentNames") -> "Iterator[UnderstoodRun]":
    """Give every trace that arrives, once it is whole; the rest at the end."""
    from adjudge.receivers import OtlpEndpoint
    from adjudge.traces import understand_record

    host, _, port = place.rpartition(":")
    if not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise UsageError(f"the endpoint must be PORT or HOST:PORT, got {place!r}", code="bad-option")
    with OtlpEndpoint(host.strip("[]") or "127.0.0.1", int(port)) as endpoint:
        click.echo(f"adjudge: listening for spans: OTEL_EXPORTER_OTLP_ENDPOINT={endpoint.base_url}", err=True)
        seen: dict[str, tuple[float, int]] = {}  # when a trace last changed, and how many spans it had
        try:
            while True:
                for trace in _whole(endpoint, seen):
                    yield understand_record(endpoint.record(trace), names)
                    endpoint.forget(trace)
                time.sleep(QUIET / 4)
        except KeyboardInterrupt:
            for trace in endpoint.trace_ids:
                yield understand_record(endpoint.record(trace), names)


def _whole(endpoint: "OtlpEndpoint", seen: dict[str, tuple[float, int]]) -> list[str]:
    """Return the traces that have not changed for a while; longer, where something is missing."""
    found = []
    for trace in endpoint.trace_ids:
        size, now = len(endpoint.record(trace).spans), time.monotonic()
        since, before = seen.get(trace, (now, -1))
        if size != before:
            seen[trace] = now, size
        elif now - since > (PATIENCE if endpoint.missing(trace, parent=None) else QUIET):
            found.append(trace)
            del seen[trace]
    return found


def _print(run: "UnderstoodRun", path: str, console: "Terminal", *, as_json: bool) -> None:
    """Print one run."""
    from adjudge.model import to_json

    if as_json:
        click.echo(to_json(run))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="bold", min_width=9)
    table.add_column(overflow="fold")
    for name, value, style in _lines(run, path):
        table.add_row(name, Text(value, style=style))
    console.print(Text(f"run {printable(run.id, LONGEST)}" if run.id else "the conversation", style="bold cyan"))
    console.print(table, "")


def _lines(run: "UnderstoodRun", path: str) -> Iterator[tuple[str, str, str]]:
    """Give what is shown of a run: a name, a value, a style."""
    record = run.trajectory
    agents = " > ".join(printable(agent, LONGEST) for agent in record.agents_called)
    yield "agents", agents or ("unknown" if "agents" in record.unknown else "none"), ""
    if record.steps:
        more = f" and {len(record.steps) - MOST:,} more" if len(record.steps) > MOST else ""
        steps = ", ".join(printable(step, LONGEST) for step in record.steps[:MOST])
        yield "steps", f"{steps}{more}  (ran; not agents, unless you name them)", "dim"
    calls = record.tool_calls
    if calls is None or "tools" in record.unknown:
        yield "tools", "unknown", ""
    for number, call in enumerate((calls or ())[:MOST], 1):
        yield (
            "tools" if number == 1 else "",
            f"{number}. {_call(call, has_arguments='arguments' not in record.unknown)}",
            "",
        )
    if calls is not None and len(calls) > MOST:
        yield "", f"and {len(calls) - MOST:,} more", ""
    if calls == () and "tools" not in record.unknown:
        yield "tools", "none", ""
    unknown_answer = "unknown" if "answer" in record.unknown else "none"
    yield "answer", unknown_answer if record.final_response is None else printable(record.final_response, LONGEST), ""
    used = [
        f"{count:,} {way}"
        for count, way in ((record.prompt_tokens, "in"), (record.completion_tokens, "out"))
        if count is not None
    ]
    if used or record.cost is not None:
        cost = "" if record.cost is None else f"  ${record.cost:.4g}"
        yield "tokens", f"{', '.join(used) or 'unknown'}{cost}", ""
    for question, why in record.unknown.items():
        yield "unknown", f"{question}: {printable(why, 2 * LONGEST)}", "yellow"
    for fault in run.missing[:5]:
        yield "missing", printable(fault, LONGEST), "yellow"
    if len(run.missing) > 5:
        yield "", f"and {len(run.missing) - 5:,} more", "yellow"
    if run.candidates:
        named = " ".join(f"--map-agent '{printable(name, 60)}=AGENT'" for name in run.candidates[:5])
        yield "try", f"adjudge traces show {printable(path, LONGEST)} {named}", "green"


def _call(call: "ToolCall", *, has_arguments: bool) -> str:
    from adjudge.model import to_json

    arguments = call.arguments if isinstance(call.arguments, str) else to_json(call.arguments).decode()
    shown = printable(arguments, LONGEST) if has_arguments else "(arguments unknown)"
    if not call.executed:
        return f"{printable(call.name, LONGEST)} {shown}  (requested, never executed)"
    result = "" if call.result is None else f" -> {printable(call.result, LONGEST)}"
    return f"{printable(call.name, LONGEST)} {shown}{result}"
