"""One row as a page shows it: what was asked, what was done step by step, how it was judged.

The conversation is a list of steps; a tool's call and its result are one step, folded until somebody opens it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adjudge.errors import RowError
from adjudge.judges.columns import QUESTIONS, REFERENCES, RESPONSES
from adjudge.model import Message, PendingCalls, Score, ToolCall, Trajectory, decode_json
from adjudge.runs import RowReply
from adjudge.view._sources import ViewRow
from adjudge.view._text import RowMaterial, Shown, cut, decimal, material_of, one_line, pretty, shown

MOST_STEPS = 400
MOST_IMAGE = 4 << 20  # characters of an image that is part of the row
RESULT = "result"  # the note in which older runs of scenarios kept their result
KINDS = ("png", "jpeg", "gif", "webp")
OWN_COLUMNS = frozenset(  # what has a place of its own on a page
    (*QUESTIONS, *REFERENCES, *RESPONSES, "id", "messages", "trajectory", "image", "scenario", "criteria")
)


@dataclass(frozen=True, slots=True)
class ShownCall:
    """One call of a tool: its arguments and result as text, and what became of it."""

    name: str
    arguments: str
    result: Shown | None
    state: str


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One message: who said what, and the tools that were called with it."""

    role: str
    name: str | None
    text: Shown
    calls: tuple[ShownCall, ...] = ()
    images: tuple[str, ...] = ()
    not_loaded: tuple[str, ...] = ()  # addresses of images that are not part of the row


@dataclass(frozen=True, slots=True)
class ShownScore:
    """One score with its parts, reason and notes; `tone` is right, wrong, middle, unscored or error."""

    name: str
    score: Score
    tone: str
    value: str
    reason: Shown | None
    notes: tuple[tuple[str, Shown], ...] = ()
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class ShownReply:
    """One question to a model: the prompt message by message, the raw reply, the attempts that failed."""

    reply: RowReply
    prompt: tuple[tuple[str, Shown], ...]
    answer: Shown | None
    raw: str | None


@dataclass(frozen=True, slots=True)
class RowView:
    """A row, ready for its page."""

    row: ViewRow
    material: RowMaterial
    steps: tuple[ShownStep, ...]
    scores: tuple[ShownScore, ...]
    replies: tuple[ShownReply, ...] = ()
    columns: tuple[tuple[str, Shown], ...] = ()
    image: str | None = None
    not_loaded: str | None = None  # the address of an image that is not part of the row
    scenario: Mapping[str, Any] | None = None
    unknown: tuple[tuple[str, str], ...] = ()
    sources: tuple[Shown, ...] = ()
    left_out: int = field(default=0)  # steps beyond the most that a page shows


def view_of(row: ViewRow, replies: Sequence[RowReply] = ()) -> RowView:
    """Return a row as its page shows it."""
    record = row.trajectory
    steps = [] if record is None else list(_steps(record))
    others = [(shown(name, 80), _column(value)) for name, value in row.columns.items() if name not in OWN_COLUMNS]
    scores = tuple(shown_score(name, score) for name, score in (row.scores or {}).items())
    image = row.columns.get("image") or None
    return RowView(
        row=row,
        material=material_of(row),
        steps=tuple(steps[:MOST_STEPS]),
        scores=scores,
        replies=tuple(_reply(one) for one in replies),
        columns=tuple(others),
        image=_image(image),
        not_loaded=None if image is None or _image(image) else one_line(image),
        scenario=scenario_of(row),
        unknown=() if record is None else tuple((str(name), str(why)) for name, why in record.unknown.items()),
        sources=() if record is None else tuple(cut(one, 2000) for one in record.sources),
        left_out=max(0, len(steps) - MOST_STEPS),
    )


def _column(value: Any) -> Shown:
    """Return a column as text: a list of words, such as tags, on one line."""
    is_words = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
    return cut(", ".join(value) if is_words else pretty(value))


def scenario_of(row: ViewRow) -> Mapping[str, Any] | None:
    """Return the result of a scenario, which a check keeps as the detail of its score."""
    for score in (row.scores or {}).values():
        detail = score.detail
        if detail is None and RESULT in (score.notes or {}):
            detail = _decoded((score.notes or {})[RESULT])
        if isinstance(detail, Mapping) and "workflow" in detail:
            return detail
    return None


def _decoded(text: str) -> Any:
    try:
        return decode_json(text.encode("utf-8", "surrogatepass"))
    except (RowError, RecursionError):
        return None


def shown_score(name: str, score: Score) -> ShownScore:
    """Return one score as a page shows it."""
    notes = tuple((shown(key, 80), cut(text)) for key, text in (score.notes or {}).items() if key != RESULT)
    is_result = isinstance(score.detail, Mapping) and "workflow" in score.detail
    return ShownScore(
        name,
        score,
        tone_of(score),
        "–" if score.value is None else number(score.value),
        None if not score.reason else cut(score.reason),
        notes,
        None if score.detail is None or is_result else pretty(score.detail),
    )


def tone_of(score: Score) -> str:
    """Return how a score is coloured."""
    if score.value is None:
        return score.status
    return "right" if score.value >= 1.0 else "wrong" if score.value <= 0.0 else "middle"


def number(value: float) -> str:
    """Return a score as text: whole numbers plainly, others with four decimals."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else decimal(value)


def _steps(record: Trajectory) -> Iterator[ShownStep]:
    """Give the messages; results of tools are shown with their calls."""
    pending: PendingCalls[int] = PendingCalls()
    results: dict[int, Message] = {}
    order: list[tuple[Message, list[int]]] = []
    number_ = 0
    for message in record.messages:
        mine = []
        for call in message.tool_calls:
            pending.add(number_, call.id, call.name)
            mine.append(number_)
            number_ += 1
        order.append((message, mine))
        if message.role in ("tool", "function"):
            found, _ = pending.take(message)
            if found is not None:
                results[found] = message
    answered = {id(message) for message in results.values()}
    for message, mine in order:
        if id(message) in answered:
            continue
        calls = tuple(
            _call(call, results[at].text if at in results else call.result)
            for at, call in zip(mine, message.tool_calls, strict=True)
        )
        given = list(_images(message))
        images = tuple(data for one in given if (data := _image(one)) is not None)
        others = tuple(one_line(one) for one in given if _image(one) is None)
        yield ShownStep(_role(message.role), message.name, cut(message.text), calls, images, others)
    # A record of spans has calls, and perhaps no messages.
    if record.tool_calls and not number_:
        yield ShownStep("assistant", None, cut(""), shown_calls(record))
    if record.final_response and not any(record.final_response == message.text for message in record.messages):
        yield ShownStep("assistant", None, cut(record.final_response))


def shown_calls(record: Trajectory) -> tuple[ShownCall, ...]:
    """Return all calls of a record, in order."""
    return tuple(_call(call, call.result) for call in (record.tool_calls or ())[:MOST_STEPS])


def _call(call: ToolCall, result: str | None) -> ShownCall:
    is_done = result is not None or call.executed
    state = "ran" if is_done and call.requested else "ran unasked" if is_done else "requested, did not run"
    return ShownCall(
        shown(call.name, 120), pretty(call.arguments), None if result is None else cut(pretty(result)), state
    )


def _role(role: str) -> str:
    return {"human": "user", "ai": "assistant", "model": "assistant", "function": "tool"}.get(role, shown(role, 30))


def _images(message: Message) -> Iterator[object]:
    """Give what a message has as images: their data, or addresses."""
    for part in message.content if isinstance(message.content, tuple) else ():
        given = part.get("image_url") or part.get("image")
        found = given.get("url") if isinstance(given, Mapping) else given
        if found:
            yield found


def _image(given: object) -> str | None:
    """Return an image that is part of the row, as its data; nothing is ever fetched because a row names it."""
    if not isinstance(given, str) or len(given) > MOST_IMAGE:
        return None
    return given if given.startswith(tuple(f"data:image/{kind};base64," for kind in KINDS)) else None


def _reply(one: RowReply) -> ShownReply:
    prompt = () if one.request is None else tuple((_role(each.role), cut(each.text)) for each in one.request.messages)
    answer = None if one.reply is None or one.reply.text is None else cut(one.reply.text)
    raw = None if one.reply is None or not one.reply.raw else pretty(one.reply.raw)
    return ShownReply(one, prompt, answer, raw)
