"""The `@reward` tag: it marks an ordinary function as a reward and leaves it an ordinary function.

@reward(version="2", parts=("length",))
def brevity(final_response):
    return {"reward": 1.0 if len(final_response) < 80 else 0.0, "length": len(final_response)}

brevity("short")                                    # just the function
get_reward(brevity).score({"final_response": "short"})   # a Score
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, overload

from adjudge.errors import AdjudgeError
from adjudge.model import Provenance, Score

Row: TypeAlias = Mapping[str, Any]
"""One row: the columns of a data set, or the arguments of a reward, by name."""

Batch: TypeAlias = Callable[[Sequence[Row], Provenance], Sequence[Score]]
"""A reward's batch path: rows that have every required argument in, one finished `Score` a row out."""

Function = TypeVar("Function", bound=Callable[..., Any])

ATTRIBUTE = "__adjudge_reward__"


@dataclass(frozen=True, slots=True)
class Tag:
    """What `@reward` noted on a function."""

    name: str
    version: str = "1"
    parts: tuple[str, ...] | None = None
    range: tuple[float, float] | None = None
    group: bool = False
    batch: Batch | None = None


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
    batch: Batch | None = None,
) -> Callable[[Function], Function]: ...


def reward(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    version: str = "1",
    parts: Sequence[str] | None = None,
    range: tuple[float, float] | None = None,  # noqa: A002 (the word that users expect)
    group: bool = False,
    batch: Batch | None = None,
) -> Function | Callable[[Function], Function]:
    """Tag a function, sync or async, as a reward; the function itself is returned unchanged.

    It returns a number, or a mapping with `reward`, named numbers (its parts) and texts (its notes), or a
    `Score`. `parts` declares the names of the parts, `range` the least and the greatest value: both are then
    checked on every result. `group=True` makes every argument a list over all rollouts of one prompt, and the
    function returns a list. `version` goes into every score: change it when the scores change.

    >>> @reward
    ... def polite(final_response):
    ...     return "please" in final_response
    >>> polite("yes please")
    True
    """

    def tag(function: Function) -> Function:
        noted = Tag(
            name=name or function.__name__,
            version=version,
            parts=None if parts is None else tuple(parts),
            range=range,
            group=group,
            batch=batch,
        )
        setattr(function, ATTRIBUTE, noted)
        return function

    return tag if function is None else tag(function)


def tag_of(function: Callable[..., Any]) -> Tag:
    """Return the function's tag; an untagged function has that of its name."""
    tag = getattr(function, ATTRIBUTE, None)
    return tag if isinstance(tag, Tag) else Tag(getattr(function, "__name__", type(function).__name__))


def by_row(rule: Callable[[Row, Provenance], Score], parts: Sequence[str] = ()) -> Batch:
    """Make a batch path of a rule for one row; what the rule raises on purpose is that row's error."""

    def batch(rows: Sequence[Row], provenance: Provenance) -> list[Score]:
        scores: list[Score] = []
        for row in rows:
            try:
                scores.append(rule(row, provenance))
            except AdjudgeError as error:
                unknown = dict.fromkeys(parts)
                scores.append(Score.error(error.reason, parts=unknown, provenance=provenance))
        return scores

    return batch
