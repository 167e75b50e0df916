"""The `@reward` tag: it marks an ordinary function as a reward and leaves it an ordinary function.

@reward(version="2", parts=("length",))
def brevity(final_response):
    return {"reward": 1.0 if len(final_response) < 80 else 0.0, "length": len(final_response)}

brevity("short")                                    # just the function
get_scorer(brevity).score({"final_response": "short"})   # a Score
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar, overload

from adjudge.errors import AdjudgeError, UsageError
from adjudge.model import Provenance, Score

Row: TypeAlias = Mapping[str, Any]
"""One row: the columns of a data set, or the arguments of a reward, by name."""

Batch: TypeAlias = Callable[[Sequence[Row], Provenance], Sequence[Score]]
"""A reward's batch path: rows that have every required argument in, one finished `Score` a row out."""

AsyncBatch: TypeAlias = Callable[[Sequence[Row], Provenance], Awaitable[Sequence[Score]]]
"""The same as a coroutine: for a reward that would otherwise block an event loop."""

Function = TypeVar("Function", bound=Callable[..., Any])

ATTRIBUTE = "__adjudge_reward__"
FINISHED = "__adjudge_finished__"


@dataclass(frozen=True, slots=True)
class Tag:
    """What `@reward` declares about a function."""

    name: str
    owner: Callable[..., Any]  # the function that was tagged: a wrapper inherits the attribute, not the batch path
    version: str = "1"
    parts: tuple[str, ...] | None = None
    range: tuple[float, float] | None = None
    group: bool = False
    binary: bool = False
    batch: Batch | None = None
    abatch: AsyncBatch | None = None
    warm_up: Callable[[], None] | None = None


@overload
def reward(function: Function, /) -> Function: ...


@overload
def reward(
    *,
    name: str | None = None,
    version: str = "1",
    parts: Sequence[str] | None = None,
    range: tuple[float, float] | None = None,
    group: bool = False,
    binary: bool = False,
    batch: Batch | None = None,
    abatch: AsyncBatch | None = None,
    warm_up: Callable[[], None] | None = None,
) -> Callable[[Function], Function]: ...


def reward(  # noqa: PLR0913 (all that can be declared, each by its name)
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    version: str = "1",
    parts: Sequence[str] | None = None,
    range: tuple[float, float] | None = None,  # noqa: A002 (the word that users expect)
    group: bool = False,
    binary: bool = False,
    batch: Batch | None = None,
    abatch: AsyncBatch | None = None,
    warm_up: Callable[[], None] | None = None,
) -> Function | Callable[[Function], Function]:
    """Tag a function, sync or async, as a reward; the function itself is returned unchanged.

    It returns a number, or a mapping with `reward`, named numbers (its parts) and texts (its notes), or a
    `Score`. `parts` declares the names of the parts, `range` the least and the greatest value: both are then
    checked on every result. `group=True` makes every argument a list over all rollouts of one prompt, and the
    function returns a list. `binary=True` says that 1 is a pass and all else is not: a scenario with such a scorer
    passes only where it is 1. `batch` scores many rows at once, `abatch` does so awaiting. `warm_up` starts what the
    first heavy row would wait for. `version` goes into every score: change it when the scores change.

    >>> @reward
    ... def polite(final_response):
    ...     return "please" in final_response
    >>> polite("yes please")
    True
    """

    def tag(function: Function) -> Function:
        owner: Any = getattr(function, "__func__", function)  # under a staticmethod or classmethod
        noted = Tag(
            name=name or _name_of(owner),
            owner=owner,
            version=str(version),
            parts=(parts,) if isinstance(parts, str) else None if parts is None else tuple(parts),
            range=range,
            group=group,
            binary=binary,
            batch=batch,
            abatch=abatch,
            warm_up=warm_up,
        )
        try:
            setattr(owner, ATTRIBUTE, noted)
        except AttributeError:
            raise UsageError(f"@reward cannot mark a {type(owner).__name__}: mark the function itself") from None
        return function

    return tag if function is None else tag(function)


def tag_of(function: Callable[..., Any]) -> Tag:
    """Return the function's tag; an untagged function has that of its name, a wrapper that of what it wraps."""
    owner = getattr(function, "__func__", function)
    tag = getattr(owner, ATTRIBUTE, None)
    if not isinstance(tag, Tag):
        return Tag(_name_of(function), owner)
    # A wrapper may change the result, so the batch path of the wrapped function is not its own.
    return tag if tag.owner is owner else replace(tag, owner=owner, batch=None, abatch=None)


def _name_of(function: Callable[..., Any]) -> str:
    # A partial has the name of its function.
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__name__", type(inner).__name__))


def by_row(rule: Callable[[Row, Provenance], Score], parts: Sequence[str] = ()) -> Batch:
    """Make a batch path of a rule for one row; an `AdjudgeError` of the rule is that row's error."""

    def batch(rows: Sequence[Row], provenance: Provenance) -> list[Score]:
        scores: list[Score] = []
        for row in rows:
            try:
                scores.append(rule(row, provenance))
            except AdjudgeError as error:
                unknown = dict.fromkeys(parts)
                scores.append(Score.error(error.reason, parts=unknown, provenance=provenance))
        return scores

    return mark_finished(batch)


def mark_finished(batch: Function) -> Function:
    """Mark a batch path of our own whose scores need no more checking."""
    setattr(batch, FINISHED, True)
    return batch


def is_finished(batch: Callable[..., Any]) -> bool:
    """Return whether a batch path's scores need no more checking."""
    return getattr(batch, FINISHED, False) is True
