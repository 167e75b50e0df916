"""One score on its way out, made fit for every receiver, and what became of a delivery."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal, Protocol, TypeAlias

DataType: TypeAlias = Literal["numeric", "boolean", "categorical"]
"""What a score's value is: a number, true or false, or one of a few words."""


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class OutScore:
    """One score on its way out, the same for every receiver.

    `value` is a number, a truth value, a category, or None where there is no score; then `reason` says why.
    `data_type` follows from the value if it is not given. `id` is made of run, trace and name: the same score has the
    same id in every attempt to deliver it.

    >>> score = OutScore("workflow_pass", True, trace_id="4bf92f3577b34da6a3ce929d0e0e4736", run="july")
    >>> score.data_type, score.id == OutScore("workflow_pass", False, trace_id=score.trace_id, run="july").id
    ('boolean', True)
    """

    name: str
    value: bool | float | str | None = None
    data_type: DataType | None = None
    comment: str | None = None
    trace_id: str | None = None
    session_id: str | None = None
    observation_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    run: str = ""
    id: str = ""
    timestamp: datetime = field(default_factory=_now)

    def __post_init__(self) -> None:
        if self.data_type is None:
            kinds: dict[type, DataType] = {bool: "boolean", str: "categorical"}
            object.__setattr__(self, "data_type", kinds.get(type(self.value), "numeric"))
        if not self.id:
            object.__setattr__(self, "id", self._made_id())

    def _made_id(self) -> str:
        place = [self.trace_id, self.session_id, self.observation_id]
        # Scores without a place are told apart by scenario and repeat: else all of them would be one.
        if self.trace_id is None and self.session_id is None:
            place += [str(self.metadata.get(key)) for key in ("scenario_id", "repeat")]
        # The text of a list shows where each item ends: no two lists have the same.
        text = repr([self.run, *place, self.name]).encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A score that will not be delivered, and why."""

    id: str
    name: str
    reason: str
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of the scores that a sink was given, in this and earlier deliveries of its outbox.

    `delivered` were acknowledged by the receiver; `unconfirmed` were handed to a client that does not say what becomes
    of them; `pending` are kept for `adjudge resend`, for the reason in `fault`; `rejected` will not be delivered.
    """

    delivered: int = 0
    pending: int = 0
    rejected: tuple[Rejected, ...] = ()
    unconfirmed: int = 0
    fault: str | None = None


class Sink(Protocol):
    """Takes scores."""

    def send(self, scores: Iterable[OutScore]) -> Receipt:
        """Deliver as many scores as possible; never raises because of what a score holds or a receiver does."""
        ...


QUALITY = ("answer_quality", "factual_correctness", "completeness")


def scenario_scores(result: Mapping[str, Any], like: OutScore) -> list[OutScore]:
    """Return what a scenario's result says, as scores for the place of `like` (trace, session, run, metadata).

    `workflow_pass`, `quality_answer_quality`, `quality_factual_correctness`, `quality_completeness` and, of a complete
    set, their mean `quality_overall`; the judge's reasoning is the comment. What was not asked for gives no score; what
    was asked for and has no value gives a score without a value, which sinks list and do not send.

    >>> quality = {"answer_quality": 0.75, "factual_correctness": 1.0, "completeness": 0.5, "reasoning": "Fair."}
    >>> scores = scenario_scores({"workflow": {"pass": True}, "quality": quality}, OutScore("", trace_id="t1"))
    >>> [(score.name, score.value) for score in scores][::4]
    [('workflow_pass', True), ('quality_overall', 0.75)]
    """
    found: list[OutScore] = []
    given = result.get("reason") or "; ".join(result.get("reasons") or ()) or result.get("status")
    why = str(given or "not scored")
    workflow, quality = result.get("workflow"), result.get("quality")
    if workflow is not None:
        passed = workflow.get("pass")
        found.append(_scored(like, "workflow_pass", passed, None if passed is not None else why))
    if quality is not None:
        values = {name: quality.get(name) for name in QUALITY}
        if all(isinstance(value, int | float) for value in values.values()):
            values["overall"] = sum(values.values()) / len(QUALITY)
        comment = quality.get("reasoning")
        for name, value in values.items():
            reason = None if value is not None else why
            found.append(replace(_scored(like, f"quality_{name}", value, reason), comment=comment))
    return found


def _scored(like: OutScore, name: str, value: Any, reason: str | None) -> OutScore:
    kind: DataType = "boolean" if name == "workflow_pass" else "numeric"
    return replace(like, name=name, value=value, data_type=kind, reason=reason, id="")


LONGEST_COMMENT = 20_000  # characters
_LONGEST_TEXT = 2_000
_LONGEST_NAME = 200
_MOST_ITEMS = 100
_DEEPEST = 4

# Control characters, those that reorder the text around them, lone surrogates, and what is never a character.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_BAD_ID = re.compile("[\x00-\x1f\x7f-\x9f\ufffd]")  # the last one is what clean_text puts in place of a character


def clean_text(text: str, most: int = LONGEST_COMMENT) -> str:
    r"""Return text without lone surrogates, control and reordering characters, cut with a note where it is too long.

    >>> clean_text("red\x1b[31m \ud800 alert\n"), clean_text("a" * 50, most=4)
    ('red\ufffd[31m \ufffd alert\n', 'aaaa... [cut: 50 characters in all]')
    """
    kept = _UNFIT.sub("\ufffd", text[:most])
    return kept if len(text) <= most else f"{kept}... [cut: {len(text):,} characters in all]"


def cleaned_score(score: OutScore) -> OutScore:
    """Return the score as it is kept and sent; a value that cannot be one becomes None with the reason."""
    value, reason = _clean_value(score)
    return replace(
        score,
        name=clean_text(score.name, _LONGEST_NAME),
        value=value,
        reason=None if reason is None else clean_text(reason, _LONGEST_TEXT),
        comment=None if score.comment is None else clean_text(score.comment),
        trace_id=_clean_id(score.trace_id),
        session_id=_clean_id(score.session_id),
        observation_id=_clean_id(score.observation_id),
        id=clean_text(score.id, _LONGEST_NAME),
        metadata=plain(score.metadata),
        run=clean_text(score.run, _LONGEST_NAME),
    )


def why_not_sendable(score: OutScore, *, placed: bool) -> str | None:
    """Return why a cleaned score cannot be sent, or None; with `placed` it needs a trace or a session."""
    if score.value is None:
        return f"no-value: {score.reason or 'the score has no value'}"
    if not score.name.strip():
        return "bad-name: the score has no name"
    ids = {"trace": score.trace_id, "session": score.session_id, "observation": score.observation_id, "": score.id}
    for what, one in ids.items():
        if one is not None and (not 0 < len(one) <= _LONGEST_NAME or _BAD_ID.search(one)):
            return f"bad-id: its {f'{what} id'.strip()} is empty, too long, or has characters that no id has"
    if placed and score.trace_id is None and score.session_id is None:
        return "no-trace: the score names neither a trace nor a session"
    return None


def _clean_id(one: str | None) -> str | None:
    return None if one is None else clean_text(one, _LONGEST_NAME)


def _clean_value(score: OutScore) -> tuple[bool | float | str | None, str | None]:
    value = score.value
    if value is None:
        return None, score.reason
    if score.data_type == "categorical":
        is_word = isinstance(value, str) and value.strip()
        return (
            (clean_text(str(value), _LONGEST_NAME), score.reason) if is_word else (None, "the category is not a text")
        )
    if isinstance(value, str):
        return None, f"the value is the text {clean_text(value, 60)!r}, not a number"
    return _clean_number(value, score)


def _clean_number(value: float, score: OutScore) -> tuple[bool | float | None, str | None]:
    try:
        number = float(value)
    # An integer may be beyond any float.
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        return None, f"the value is {number}, not a number"
    if score.data_type == "boolean":
        if number not in (0, 1):
            return None, f"the value is {number:g}, neither true nor false"
        return bool(number), score.reason
    return number, score.reason


def plain(value: object, depth: int = 0) -> Any:
    """Return metadata as JSON can hold it, bounded; NaN and numbers that are too large become null."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return clean_text(value, _LONGEST_TEXT)
    if isinstance(value, int | float):
        # Other readers of JSON have floats only; NaN fails both comparisons.
        return value if -(2**53) <= value <= 2**53 else None
    if isinstance(value, Mapping) and depth < _DEEPEST:
        items = list(value.items())[:_MOST_ITEMS]
        return {clean_text(str(key), _LONGEST_NAME): plain(item, depth + 1) for key, item in items}
    if isinstance(value, list | tuple | set | frozenset) and depth < _DEEPEST:
        # A set has no order of its own, and the outbox compares what it holds byte by byte.
        listed = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [plain(item, depth + 1) for item in list(listed)[:_MOST_ITEMS]]
    return clean_text(str(type(value).__name__), _LONGEST_NAME)
