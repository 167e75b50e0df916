"""One row of a run on the terminal, whole: what was asked, what was done, how it was scored, what models were asked.

    row 2 of 12: q2
    question
      Capital of France?
    score local:0: 0
      reason: ...

Everything that a row or a model wrote passes `printable`, line by line, so that none of it moves the cursor or commands
CI. A text is shown up to 20,000 characters, with a note of how many were left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from adjudge.errors import DataError, TrajectoryError, UsageError, printable
from adjudge.judges.columns import CRITERIA, QUESTIONS, REFERENCES, RESPONSES, SOURCES, one_value, texts_of
from adjudge.model import Trajectory

if TYPE_CHECKING:
    from adjudge.model import Message, Score, ToolCall
    from adjudge.runs import RowReply, RunFile, RunRow

MOST = 20_000  # characters of one text
MOST_STEPS = 400  # messages of one conversation, and calls of tools
MOST_SHARED = 10  # rows with the same id that are named
MOST_LEAVES = 1_000  # values of one that is nested
SHOWN = frozenset(
    (*QUESTIONS, *REFERENCES, *RESPONSES, *CRITERIA, *SOURCES, "id", "messages", "trajectory", "scenario")
)


def find_row(run: RunFile, given: str) -> RunRow:
    """Return the row with that id, else the one with that number, counted from 1."""
    try:
        return run.row(run.find(given))
    except UsageError as unknown:
        # The id comes first: rows that were given no id have their number as one, so both mean the same.
        if given.isascii() and given.isdigit() and 1 <= int(given[:18]) <= run.size:
            return run.row(int(given) - 1)
        raise UsageError(f"{unknown.message}; it has {run.size:,} cases", code=unknown.code) from None


def show_row(run: RunFile, row: RunRow, *, err: bool = False) -> None:
    """Print a row."""
    id_ = str(row.case.id)
    click.echo(f"row {row.number + 1:,} of {run.size:,}: {printable(id_)}", err=err)
    found = list(islice(run.numbers_of(id_), MOST_SHARED + 1))
    if len(found) > 1:
        numbers = ", ".join(str(number + 1) for number in found[:MOST_SHARED])
        more = " and more" if len(found) > MOST_SHARED else ""
        click.echo(f"several rows have this id: {numbers}{more}; give a number to see that row", err=err)
    for line in _lines(run, row):
        click.echo(line, err=err)


def _lines(run: RunFile, row: RunRow) -> Iterator[str]:
    yield from _asked(row)
    yield from _done(row)
    if row.scores is None:
        yield "no scores: the run has not reached this row, or was decided without it"
    for name, score in zip(run.plan.names, row.scores or (), strict=False):
        yield from _score(name, score)
    for number, reply in enumerate(run.replies(row.number), 1):
        yield from _reply(number, reply)


def _asked(row: RunRow) -> Iterator[str]:
    """Give what was asked, and what a good answer is."""
    columns: Mapping[str, Any] = row.case.row or {}
    yield from _block("fault", row.case.fault)
    for title, names in (("question", QUESTIONS), ("reference", REFERENCES), ("criteria", CRITERIA)):
        for text in _texts(columns, names):
            yield from _block(title, text)
    yield from _block("expected", columns.get("scenario"))
    for name, value in columns.items():
        if name not in SHOWN:
            yield from _block(f"column {printable(str(name))}", value)


def _done(row: RunRow) -> Iterator[str]:
    """Give what the agent did, or the response that came with the row."""
    columns: Mapping[str, Any] = row.case.row or {}
    done = row.trajectory
    record = None if done is None else done.trajectory
    responses, sources = _texts(columns, RESPONSES), _texts(columns, SOURCES)
    if done is None and columns.get("trajectory") is not None:
        try:
            record = Trajectory.from_messages(columns["trajectory"])
        except TrajectoryError:
            yield from _block("trajectory", columns["trajectory"])
    if record is not None:
        yield from _conversation(record)
        # The record comes first, as it does for scorers.
        responses = responses if record.final_response is None else (record.final_response,)
        sources += record.sources
    for title, texts in (("response", responses), ("source", sources)):
        for text in texts:
            yield from _block(title, text)
    if done is not None:
        yield from _block("the agent failed", done.fault)
        yield from _cost_of(record, done.seconds)


def _texts(columns: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...]:
    """Return what a row has under the first of the names; what is not text as JSON."""
    name, value = one_value(columns, names)
    if value is None:
        return ()
    try:
        return texts_of(value, name)
    except (DataError, TypeError, ValueError):
        return (_as_text(value),)


def _block(title: str, value: object, indent: str = "") -> Iterator[str]:
    """Give a title and, indented below it, a text or the leaves of a value; nothing for None."""
    if value is None:
        return
    text = value if isinstance(value, str) else _as_text(value)
    is_short = len(text) + len(title) < 100
    is_nested = isinstance(value, Mapping | list | tuple)
    lines = list(_leaves(value) if is_nested and not is_short else safe_lines(text))
    if len(lines) == 1 and is_short:
        yield f"{indent}{title}: {lines[0]}"
        return
    yield f"{indent}{title}"
    for line in lines:
        yield f"{indent}  {line}"


def _leaves(value: object) -> Iterator[str]:
    """Give the leaves of a nested value, a line each: `workflow.tools.missing: ["search"]`; empty ones are left out."""
    todo: list[tuple[str, object]] = [("", value)]
    for _ in range(MOST_LEAVES):
        if not todo:
            return
        path, one = todo.pop()
        is_flat = not isinstance(one, Mapping) and not (
            isinstance(one, list | tuple) and any(isinstance(inner, Mapping | list | tuple) for inner in one)
        )
        if is_flat:
            if one not in (None, "", [], ()):
                text = one if isinstance(one, str) else _as_text(one)
                yield from _block(printable(path, most=500), text)
            continue
        pairs = one.items() if isinstance(one, Mapping) else enumerate(one)  # type: ignore[arg-type]
        # The last one in is the first one out.
        todo += [(f"{path}.{name}" if path else str(name), inner) for name, inner in pairs][::-1]
    yield "[more]"


def safe_lines(text: str, most: int = MOST) -> Iterator[str]:
    """Give the lines of a text as a terminal may show them; the last one says how much was left out."""
    left_out = len(text) - most
    for line in text[:most].replace("\r\n", "\n").replace("\t", "    ").split("\n"):
        yield printable(line, most=MOST)
    if left_out > 0:
        yield f"[{left_out:,} more characters]"


def _as_text(value: object) -> str:
    """Return a value as JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return "[nested too deeply]"


def _conversation(record: Trajectory) -> Iterator[str]:
    """Give the messages with the calls of tools, then how each call ended, then what the record cannot show."""
    if record.messages:
        yield "conversation"
    for message in record.messages[:MOST_STEPS]:
        yield from _message(message)
    if len(record.messages) > MOST_STEPS:
        yield f"  [{len(record.messages) - MOST_STEPS:,} more messages]"
    if record.agents_called:
        yield from _block("agents", ", ".join(record.agents_called))
    calls = record.tool_calls
    if calls is None:
        yield "tool calls: the record cannot show them"
    elif calls:
        yield "tool calls"
        for at, call in enumerate(calls[:MOST_STEPS], 1):
            # The messages, where there are some, have the results already.
            yield from _call(f"{at}. ", call, with_result=not record.messages)
        if len(calls) > MOST_STEPS:
            yield f"  [{len(calls) - MOST_STEPS:,} more calls]"
    for name, why in record.unknown.items():
        yield from _block(f"not known: {printable(name)}", why)
    if not record.complete:
        yield "part of the record is missing"
    yield from _block("trace", record.trace_id)


def _message(message: Message, indent: str = "  ") -> Iterator[str]:
    who = printable(message.role if message.name is None else f"{message.role} {message.name}")
    yield from _block(who, message.text or ("" if message.tool_calls else "[nothing]"), indent)
    for call in message.tool_calls:
        yield from _block(f"calls {printable(call.name)}", call.arguments or "", f"{indent}  ")


def _call(place: str, call: ToolCall, *, with_result: bool) -> Iterator[str]:
    ran = call.executed or call.result is not None
    state = ("ran" if call.requested else "ran, was not requested") if ran else "requested, did not run"
    yield f"  {place}{printable(call.name)}: {state}"
    if with_result:
        yield from _block("arguments", call.arguments or None, "    ")
        yield from _block("result", call.result, "    ")


def _cost_of(record: Trajectory | None, seconds: float) -> Iterator[str]:
    words = [f"{seconds:.3f} s"]
    if record is not None and (record.prompt_tokens or record.completion_tokens):
        words.append(f"{record.prompt_tokens or 0:,} + {record.completion_tokens or 0:,} tokens")
    if record is not None and record.cost is not None:
        words.append(f"${record.cost:.6f}")
    yield f"the agent took {', '.join(words)}"


def _score(name: str, score: Score) -> Iterator[str]:
    value = score.status if score.value is None else f"{score.value:g}"
    yield f"score {printable(name)}: {value}"
    for part, number in score.parts.items():
        yield f"  {printable(part)}: {'–' if number is None else f'{number:g}'}"
    yield from _block("reason", score.reason, "  ")
    if score.steps is not None:
        yield from _block("steps", ", ".join(f"{step:g}" for step in score.steps[:MOST_STEPS]), "  ")
    for note, text in (score.notes or {}).items():
        yield from _block(printable(note), text, "  ")
    yield from _block("detail", score.detail, "  ")
    known = score.provenance
    if known is not None:
        parts = (f"version {known.version}", known.judge and f"judge {known.judge}")
        prompt = known.prompt_hash and f"prompt {known.prompt_hash}"
        yield from _block("by", ", ".join(part for part in (*parts, prompt) if part), "  ")


def _reply(number: int, one: RowReply) -> Iterator[str]:
    """Give one request to a model: how it went, its attempts that failed, the prompt, the raw reply."""
    model = "an agent" if one.request is None else one.request.model
    words = [one.source or "no answer", f"{one.calls} {'attempt' if one.calls == 1 else 'attempts'}"]
    if one.at:
        words.append(datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC"))
    if one.seconds is not None:
        words.append(f"{one.seconds:.3f} s")
    reply = one.reply
    if reply is not None and (reply.prompt_tokens or reply.completion_tokens):
        words.append(f"{reply.prompt_tokens or 0:,} + {reply.completion_tokens or 0:,} tokens")
    if one.cost is not None:
        words.append(f"${one.cost:.6f}")
    yield f"request {number} to {printable(model)}: {', '.join(words)}"
    for attempt in one.attempts:
        yield from _block(f"attempt {attempt.number} failed after {attempt.seconds:.3f} s", attempt.fault, "  ")
    yield from _block("fault", one.fault, "  ")
    if one.request is not None:
        yield "  prompt"
        for message in one.request.messages:
            yield from _message(message, "    ")
    if reply is not None:
        yield from _block("reply", reply.text, "  ")
        yield from _block("refusal", reply.refusal, "  ")
        yield from _block("raw", reply.raw or None, "  ")
