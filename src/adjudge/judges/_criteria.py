"""Rubrics: weighted criteria of a row, one verdict for each by a model, the weighted share as the score.

    get_scorer("rubric:openai:MODEL").score({
        "question": "Is aspirin safe for children?",
        "response": "...",
        "rubric": [{"criterion": "Names Reye's syndrome", "weight": 5},
                   "Advises to ask a doctor",
                   {"criterion": "Gives a dose", "weight": -3}],
    })                                                       parts: criterion_1, criterion_2, criterion_3

All criteria of a row are asked in one call. A weight below 0 is that of a fault: it counts against the response.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from adjudge.errors import ArgumentError, Caught, DataError, UsageError
from adjudge.judges._registry import get_judge
from adjudge.judges._rubric import CriteriaAsker
from adjudge.judges._scorer import PENDING, JudgeScorer
from adjudge.model import Score
from adjudge.text.values import plain

if TYPE_CHECKING:
    from adjudge.model import Context
    from adjudge.prompts import Prompt

COLUMN = "rubric"
MOST = 100  # criteria of one row
HEAVIEST = 1e12  # so that a sum of weights is a number
_PROMPT = "evaluation/criteria/v1"
_KEYS = ("criterion", "weight", "name")


class Criterion(NamedTuple):
    """One criterion of a rubric: what it asks, what it counts, and what its part of the score is called."""

    criterion: str
    weight: float = 1.0
    name: str = ""


@dataclass(eq=False)
class CriteriaJudge(CriteriaAsker):
    """Asks a chat model which criteria a response meets, all of them in one call.

    `Judgement.scores` has 1 or 0 for each, by `criterion_1`, `criterion_2` and so on.
    """

    prompt: Prompt | str = _PROMPT
    names = ()  # they are those of each rubric
    is_binary = True

    def _names(self, fields: dict[str, str | Sequence[str]]) -> Sequence[str]:
        criteria = fields["criteria"]
        if not criteria:
            raise DataError("there is no criterion to check", code="no-criteria")
        names = [f"criterion_{number}" for number in range(1, len(criteria) + 1)]
        fields["criteria"] = [f"{name}: {one}" for name, one in zip(names, criteria, strict=True)]
        return names


class RubricScorer(JudgeScorer):
    """Scores by the rubric of each row, or by one rubric for all of them."""

    judge: CriteriaJudge

    def __init__(self, judge: CriteriaJudge, *, rubric: object = None, name: str | None = None) -> None:
        super().__init__(judge, name=name or f"{COLUMN}:{judge.name}", by_rubric=True)
        self.rubric = None if rubric is None else read_rubric(rubric)
        if self.rubric is None:
            self.columns = (*self.columns, COLUMN)
        self.accepts = (*(self.accepts or ()), COLUMN)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.judge, self.rubric, self.name)

    def check(self, columns: Collection[str]) -> None:
        """Raise `ArgumentError` if rows with these columns cannot be scored."""
        super().check(columns)
        if self.rubric is None and COLUMN not in columns:
            raise ArgumentError(f"no column {COLUMN!r}, which {self.name} needs")

    async def _ascore_rows(
        self, rows: Sequence[Mapping[str, Any]], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        scores = [PENDING] * len(rows)
        rubrics: dict[int, Sequence[Criterion]] = {}
        for index, row in enumerate(rows):
            with Caught() as caught:
                rubrics[index] = self.rubric or read_rubric(row.get(COLUMN))
            if caught.reason is not None:
                scores[index] = self._failed(caught.reason)
        asked = [{**rows[index], "criteria": [one.criterion for one in rubric]} for index, rubric in rubrics.items()]
        given = [contexts[index] for index in rubrics], [labels[index] for index in rubrics]
        found = await super()._ascore_rows(asked, *given)
        for index, score in zip(rubrics, found, strict=True):
            scores[index] = weigh(rubrics[index], score)
        return scores


def rubric_scorer(model: str, *, rubric: object = None, **options: Any) -> RubricScorer:
    """Return the scorer that asks this model (`openai:MODEL`) about rubrics; `options` are those of a judge."""
    kind, _, rest = model.partition(":")
    get_judge(model)  # for its error: it names the judge that is closest to an unknown name
    if kind not in ("openai", "anthropic", "litellm"):
        raise UsageError(f"{model!r} cannot check criteria: write {COLUMN}:openai:MODEL", code="wrong-judge")
    return RubricScorer(CriteriaJudge(rest, **{**options, "api": kind}), rubric=rubric)


def read_rubric(given: object) -> tuple[Criterion, ...]:
    """Return the criteria of a rubric: texts, or mappings with `criterion`, `weight` and `name`.

    >>> read_rubric(["Names a doctor", {"criterion": "Gives a dose", "weight": -3, "name": "dose"}])[1]
    Criterion(criterion='Gives a dose', weight=-3.0, name='dose')
    """
    several = plain(given)
    if isinstance(several, str) or not isinstance(several, Sequence) or not several:
        raise _bad(f"a rubric must be a list of criteria, got {str(several)[:80]!r}")
    if len(several) > MOST:
        raise _bad(f"a rubric has at most {MOST} criteria, got {len(several)}")
    found = tuple(
        one if isinstance(one, Criterion) else _criterion(one, number) for number, one in enumerate(several, 1)
    )
    if len({one.name for one in found}) < len(found):
        raise _bad("the names of criteria must differ")
    if not any(one.weight > 0 for one in found):
        raise _bad("a rubric needs a criterion with a weight above 0")
    return found


def _criterion(given: object, number: int) -> Criterion:
    default = f"criterion_{number}"
    if isinstance(given, str):
        given = {"criterion": given}
    if not isinstance(given, Mapping):
        raise _bad(f"{default} must be a text or a mapping, got {type(given).__name__}")
    unknown = next((key for key in given if key not in _KEYS), None)
    if unknown is not None:
        raise _bad(f"{default} has criterion, weight and name, not {unknown!r}")
    text, weight, name = given.get("criterion"), given.get("weight", 1.0), given.get("name", default)
    if not isinstance(text, str) or not text.strip():
        raise _bad(f"{default} must have a text, got {text!r}")
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < abs(weight) < HEAVIEST:
        raise _bad(f"the weight of {default} must be a number other than 0, got {weight!r}")
    if not isinstance(name, str) or not name.strip():
        raise _bad(f"the name of {default} must be text, got {name!r}")
    return Criterion(text, float(weight), name)


def weigh(rubric: Sequence[Criterion], score: Score) -> Score:
    """Return the score of a rubric whose parts are the verdicts, in order: the weighted share, at least 0."""
    if score.status != "scored":
        return replace(score, parts=dict.fromkeys(one.name for one in rubric))
    met = [value or 0.0 for value in score.parts.values()]
    total = sum(one.weight * value for one, value in zip(rubric, met, strict=True))
    most = sum(one.weight for one in rubric if one.weight > 0)
    parts = {one.name: value for one, value in zip(rubric, met, strict=True)}
    return replace(score, value=min(1.0, max(0.0, total / most)), parts=parts)


def _bad(message: str) -> ArgumentError:
    return ArgumentError(message, code="bad-rubric")


def _rebuild(judge: CriteriaJudge, rubric: object, name: str) -> RubricScorer:
    return RubricScorer(judge, rubric=rubric, name=name)
