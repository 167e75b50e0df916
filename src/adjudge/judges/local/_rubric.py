"""Rubric scores from the local judge: an approximation for those who ask for it by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from adjudge.errors import DataError, UsageError
from adjudge.judges._rubric import QUALITY, GivesScores
from adjudge.judges._vacuous import is_vacuous
from adjudge.judges.columns import texts_of
from adjudge.judges.local._judge import LocalJudge
from adjudge.model import Judgement
from adjudge.text.values import text_of

if TYPE_CHECKING:
    from adjudge.model import Ask, ChatModel


class LocalRubricJudge(GivesScores):
    """Scores a response by how many of its criteria it states: not quality, and only with `approximate=True`.

    Each criterion is taken for a statement that a good response makes; its score is the local judge's probability that
    the response makes it. All three scores of the quality rubric are their mean. Tone, order and whether the sources
    bear it out are not looked at: use a `RubricJudge` with a model for anything that decides.

    >>> judge = LocalRubricJudge(approximate=True, tier=0)
    >>> judge.judge("When does it open?", ["It opens at nine"], "It opens at nine.").scores["completeness"] > 0.5
    True
    """

    def __init__(self, *, approximate: bool = False, tier: int | None = None) -> None:
        if not approximate:
            message = "the local judge gives verdicts, not rubric scores: use a RubricJudge with a model"
            raise UsageError(f"{message}, or ask for the approximation with approximate=True", code="wrong-judge")
        self._judge = LocalJudge(tier)
        self.names = QUALITY
        self.name = f"{self._judge.name}:rubric"
        self.version = self._judge.version
        self.prompt_hash = None
        self.chats: Mapping[str, ChatModel] = {}

    def __repr__(self) -> str:
        return f"LocalRubricJudge(approximate=True, tier={self._judge.tier})"

    def judge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, sources: str | Sequence[str] = ()
    ) -> Judgement:
        """Score one response; `reference` are the criteria, and `sources` are not looked at."""
        del sources
        try:
            asked = text_of(question, "question")
            criteria = [one for one in texts_of(reference, "reference") if one.strip()]
            text = text_of(response, "response")
        except DataError as error:
            return Judgement("error", reason=error.reason, judge=self.name)
        # Without criteria there is nothing to be stated, which is not the response's fault.
        if not criteria:
            return Judgement("unscored", reason="no-criteria: there is nothing to look for", judge=self.name)
        found = [self._judge.judge(asked, [one], text).probability or 0.0 for one in criteria]
        value = 0.0 if is_vacuous(text) else sum(found) / len(found)
        reason = f"approximation: the mean probability that each of {len(criteria)} criteria is stated"
        return Judgement("scored", scores=dict.fromkeys(QUALITY, value), reason=reason, judge=self.name)

    async def ajudge(
        self,
        question: str,
        reference: str | Sequence[str],
        response: str | None,
        *,
        sources: str | Sequence[str] = (),
        ask: Ask | None = None,
    ) -> Judgement:
        """Score one response; nothing is asked of anybody."""
        del ask
        return self.judge(question, reference, response, sources=sources)
