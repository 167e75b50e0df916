"""What a run does with each case: whom it asks, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.errors import DataError
from adjudge.judges._material import QUESTIONS, REFERENCES, RESPONSES, check_response, one_of
from adjudge.model import Judgement, Provenance, Score, asking
from adjudge.rewards import Scorer
from adjudge.runs._cases import references_in, text_in

if TYPE_CHECKING:
    from adjudge.model import Agent, Ask, ChatModel, Judge

GROUP = "group_id"
CONVERSATION = "conversation_id"


@dataclass(frozen=True, slots=True)
class Job:
    """The agent, the scorers and the judge of a run; the judge's score comes last."""

    scorers: tuple[Scorer, ...] = ()
    judge: Judge | None = None
    agent: Agent | None = None

    @property
    def unit_column(self) -> str | None:
        """By which column cases are worked on together: a group by its scorers, a conversation by its agent."""
        if any(scorer.is_group for scorer in self.scorers):
            return GROUP
        return None if self.agent is None else CONVERSATION

    @property
    def together(self) -> int | None:
        """How many units the agent wants in progress, because it answers them together; None where it does not mind."""
        return getattr(self.agent, "together", None)

    @property
    def names(self) -> tuple[str, ...]:
        """What the scores are called, in their order."""
        judge = () if self.judge is None else (self.judge.name,)
        return (*(scorer.name for scorer in self.scorers), *judge)

    @property
    def ranges(self) -> tuple[tuple[float, float] | None, ...]:
        """The least and the greatest value of each score, where that is known."""
        judge = () if self.judge is None else ((0.0, 1.0),)
        return (*(scorer.range for scorer in self.scorers), *judge)

    def failed(self, reason: str) -> list[Score]:
        """Return the error that every scorer gives for a case that cannot be scored."""
        scores = [
            Score.error(reason, parts=dict.fromkeys(scorer.parts or ()), provenance=scorer.provenance)
            for scorer in self.scorers
        ]
        if self.judge is not None:
            scores.append(Score.error(reason, provenance=judge_provenance(self.judge)))
        return scores


async def judge_row(judge: Judge, row: Mapping[str, Any], ask: Ask | None) -> Score:
    """Ask the judge about one row and return what it says as a score."""
    question = text_in(row, QUESTIONS)
    if question is None:
        raise DataError(f"the row has no question: call it {one_of(QUESTIONS)}", code="missing-column")
    references: Sequence[str] = references_in(row)
    if not references:
        criteria = row.get("criteria")
        if not isinstance(criteria, str):
            words = f"the row has no reference to judge by: call it {one_of(REFERENCES)}"
            raise DataError(words, code="missing-column")
        references = [criteria]
    check_response(row)
    return score_of(await judge.ajudge(question, references, text_in(row, RESPONSES), ask=ask), judge)


async def judge_through(judge: Judge, row: Mapping[str, Any], way: Callable[[Mapping[str, ChatModel]], Ask]) -> Score:
    """Ask the judge about one row, with its models asked in this way; a panel's members have each their own models."""
    chats: Mapping[str, ChatModel] | None = getattr(judge, "chats", None)
    if chats:
        return await judge_row(judge, row, way(chats))
    token = asking.set(way)
    try:
        return await judge_row(judge, row, None)
    finally:
        asking.reset(token)


def score_of(judgement: Judgement, judge: Judge) -> Score:
    """Return a judgement as a score: 1 for CORRECT, 0 for WRONG, the mean of rubric scores, or no number."""
    provenance = judge_provenance(judge, judgement)
    notes = _notes(judgement)
    parts: dict[str, float | None] = dict(judgement.scores)
    if judgement.reasons or judgement.tier is not None:
        parts["probability"] = judgement.probability
    if judgement.status != "scored":
        make = Score.unscored if judgement.status == "unscored" else Score.error
        return make(
            judgement.reason or judgement.status, parts=dict.fromkeys(parts), notes=notes, provenance=provenance
        )
    if judgement.verdict is not None:
        value = 1.0 if judgement.verdict == "CORRECT" else 0.0
    elif judgement.scores:
        value = sum(judgement.scores.values()) / len(judgement.scores)
    else:
        return Score.error("bad-judgement: scored, but neither a verdict nor scores", provenance=provenance)
    return Score.scored(value, reason=judgement.reason, parts=parts, notes=notes, provenance=provenance)


def _notes(judgement: Judgement) -> dict[str, str] | None:
    """Return what a judgement says in words: its verdict, what it was seen by, and which tier decided, if one did."""
    notes = {} if judgement.verdict is None else {"verdict": str(judgement.verdict)}
    if judgement.reasons or judgement.tier is not None:
        notes["reasons"] = " ".join(judgement.reasons)
    if judgement.tier is not None:
        notes["tier"] = str(judgement.tier)
    return notes or None


def judge_provenance(judge: Judge, judgement: Judgement | None = None) -> Provenance:
    """Say which judge, in which edition, a score comes from."""
    prompt = None if judgement is None else judgement.prompt_hash
    name = judge.name if judgement is None or not judgement.judge else judgement.judge
    return Provenance(judge.name, judge.version, judge=name, prompt_hash=prompt)
