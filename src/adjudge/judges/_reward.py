"""Any judge as a reward: a verdict is 1 or 0, rubric scores their mean, and what could not be judged stays so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjudge.judges._cascade import CascadeJudge
from adjudge.judges._rubric import RubricJudge
from adjudge.judges.local import LocalJudge, LocalRubricJudge
from adjudge.model import Judge, Judgement, Provenance, Score
from adjudge.rewards import reward

_VALUES = {"CORRECT": 1.0, "WRONG": 0.0}


def judge_reward(judge: Judge, *, name: str | None = None) -> Callable[..., Any]:
    """Return a reward that asks the judge: 1.0 for CORRECT, 0.0 for WRONG, unscored and error as they are.

    Its columns are `final_response`, `question`, and `reference` or `answer`. A rubric judge takes `criteria` instead
    of references, and `sources` where the row has them; its value is the mean, its parts are the scores. The
    provenance of every score names the judge and the hash of its prompt.

    >>> from adjudge.rewards import get_reward
    >>> scorer = get_reward(judge_reward(LocalJudge()))
    >>> scorer.score({"question": "Capital of France?", "answer": "Paris", "final_response": "It is Paris."}).value
    1.0
    """
    name = name or f"judge:{judge.name}"
    provenance = Provenance(name, judge.version, judge.name, getattr(judge, "prompt_hash", None))
    if isinstance(judge, RubricJudge | LocalRubricJudge):
        return _of_rubric(judge, provenance)
    if isinstance(judge, LocalJudge):
        return _of_local(judge, provenance)

    parts = ("probability",) if isinstance(judge, CascadeJudge) else ()

    @reward(name=name, version=judge.version, parts=parts or None, range=(0.0, 1.0))
    async def judged(final_response: Any, question: Any, reference: Any = None, answer: Any = None) -> Score:
        """1 if the judge calls the response correct, else 0."""
        wanted = answer if reference is None else reference
        return score_of(await judge.ajudge(question, wanted, final_response), provenance, parts)

    return judged


def _of_local(judge: LocalJudge, provenance: Provenance) -> Callable[..., Any]:
    @reward(name=provenance.scorer, version=provenance.version, parts=("probability",), range=(0.0, 1.0))
    def judged(final_response: Any, question: Any = "", reference: Any = None, answer: Any = None) -> Score:
        """1 if the judge calls the response correct, else 0."""
        wanted = answer if reference is None else reference
        return score_of(judge.judge(question, wanted, final_response), provenance)

    return judged


def _of_rubric(judge: RubricJudge | LocalRubricJudge, provenance: Provenance) -> Callable[..., Any]:
    @reward(name=provenance.scorer, version=provenance.version, parts=judge.names, range=(0.0, 1.0))
    async def judged(
        final_response: Any, question: Any, criteria: Any = (), sources: Sequence[str] | str | None = ()
    ) -> Score:
        """Return the mean of the rubric's scores."""
        judgement = await judge.ajudge(question, criteria, final_response, sources=sources or ())
        return score_of(judgement, provenance, judge.names)

    return judged


def score_of(judgement: Judgement, provenance: Provenance, names: Sequence[str] = ()) -> Score:
    """Return a judgement as a Score; `names` are the parts that it has even where nothing was scored."""
    parts: dict[str, float | None] = {name: judgement.scores.get(name) for name in names} or dict(judgement.scores)
    if judgement.tier is not None:
        parts["probability"] = judgement.probability
    reason = judgement.reason
    if judgement.prompt_hash != provenance.prompt_hash:
        provenance = Provenance(provenance.scorer, provenance.version, provenance.judge, judgement.prompt_hash)
    if judgement.status == "error":
        return Score.error(reason or "error", parts=parts, provenance=provenance)
    if judgement.verdict is not None:
        return Score.scored(_VALUES[judgement.verdict], reason=reason, parts=parts, provenance=provenance)
    if judgement.status == "scored" and judgement.scores:
        value = sum(judgement.scores.values()) / len(judgement.scores)
        return Score.scored(value, reason=reason, parts=parts, provenance=provenance)
    return Score.unscored(reason or "unscored", parts=parts, provenance=provenance)
