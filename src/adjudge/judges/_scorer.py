"""A judge as a scorer: the one place where a row becomes a question to a judge, and a judgement a Score.

    judge_scorer("local:0").score({"question": ..., "reference": ..., "response": ...})

1 for CORRECT, 0 for WRONG, the mean of rubric scores; what could not be judged stays unscored or an error. Which
columns count as question, reference and response is the table in `columns`.
"""

from __future__ import annotations

import inspect
from asyncio import CancelledError, current_task
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adjudge.calling import for_each
from adjudge.errors import ArgumentError, Caught, UsageError, closest
from adjudge.judges._chat_judge import way_of
from adjudge.judges._registry import get_judge
from adjudge.judges._rubric import QUALITY, GivesScores, RubricJudge
from adjudge.judges.columns import CRITERIA, QUESTIONS, REFERENCES, RESPONSES, SOURCES, Material, material_of, one_of
from adjudge.model import Judge, Judgement, Provenance, Score, gathering
from adjudge.rewards import Scorer

if TYPE_CHECKING:
    from adjudge.model import Context

__all__ = ["JudgeScorer", "judge_reward", "judge_scorer", "quality_judge"]

QUALITY_NAME = "quality"
RUBRIC_NAME = "rubric"
PENDING = Score.error("not-judged")  # in the place of a row until the judge has answered


def judge_scorer(judge: Judge | str, **options: Any) -> JudgeScorer:
    """Return the scorer of a judge, or of a judge's name; `get_scorer` calls this for both."""
    if not isinstance(judge, str):
        if options:
            raise UsageError(f"{judge.name} takes no options here: give them to its constructor")
        return JudgeScorer(judge)
    kind, _, rest = judge.strip().partition(":")
    if kind not in (QUALITY_NAME, RUBRIC_NAME):
        return JudgeScorer(get_judge(judge, **options))
    model = options.pop("judge", None) or rest
    if not model:
        message = f"{judge!r} does not name a judge for the {kind}: write {kind}:openai:MODEL"
        raise UsageError(message, code="unknown-judge")
    if kind == RUBRIC_NAME:
        from adjudge.judges._criteria import rubric_scorer

        return rubric_scorer(model, **options)
    made = quality_judge(model, **options)
    return JudgeScorer(made, name=f"{QUALITY_NAME}:{made.name}")


def judge_reward(judge: Judge | str, *, name: str | None = None) -> JudgeScorer:
    """Return a judge as a scorer, under another name if one is given.

    >>> scorer = judge_reward("local:0")
    >>> scorer.score({"question": "Capital of France?", "answer": "Paris", "final_response": "It is Paris."}).value
    1.0
    """
    scorer = judge_scorer(judge)
    return scorer if name is None else JudgeScorer(scorer.judge, name=name)


def quality_judge(judge: Any, **options: Any) -> Any:
    """Return a judge of quality: the given one, or a rubric judge of the model with that name."""
    if isinstance(judge, str):
        kind, _, rest = judge.strip().partition(":")
        if kind == "local" and "approximate" in options:
            from adjudge.judges.local import LocalRubricJudge

            return LocalRubricJudge(tier=int(rest) if rest else None, **options)
        # For its error: it names the judge that is closest to an unknown name.
        get_judge(judge)
        if kind not in ("openai", "anthropic", "litellm"):
            raise UsageError(f"{judge!r} gives verdicts, not scores: write openai:MODEL", code="wrong-judge")
        return RubricJudge(rest, **{**options, "api": kind})
    if not hasattr(judge, "ajudge"):
        message = f"a quality judge must be a RubricJudge or a name such as openai:MODEL, got {type(judge).__name__}"
        raise UsageError(message, code="wrong-judge")
    names = getattr(judge, "names", QUALITY)
    if isinstance(judge, RubricJudge) and names != QUALITY:
        message = f"the judge scores {', '.join(names)}, the quality of a scenario is {', '.join(QUALITY)}"
        raise UsageError(message, code="wrong-judge")
    return judge


class JudgeScorer(Scorer):
    """Asks a judge about rows; with `by_rubric` the judge gives scores by criteria, else verdicts by references."""

    range = (0.0, 1.0)
    has_async = True
    is_group = False

    def __init__(self, judge: Judge, *, name: str | None = None, by_rubric: bool | None = None) -> None:
        self.judge = judge
        self.judges = (judge,)
        self.by_rubric = isinstance(judge, GivesScores) if by_rubric is None else by_rubric
        self.is_binary = not self.by_rubric
        # Both are part of every score and of the run file.
        for member in ("name", "version"):
            if not isinstance(getattr(judge, member, None), str):
                kind = type(judge).__name__
                raise UsageError(f"a judge must have a {member} that is text: {kind} has none", code="wrong-judge")
        if isinstance(judge, type):
            raise UsageError(f"a judge is needed, got the class {judge.__name__}: make one", code="wrong-judge")
        self.name = name or judge.name
        self.version = judge.version
        self.parts: tuple[str, ...] | None = getattr(judge, "parts", None)
        self.provenance = Provenance(self.name, self.version, judge.name, getattr(judge, "prompt_hash", None))
        self.columns = (QUESTIONS[0], RESPONSES[0]) if self.by_rubric else (QUESTIONS[0], REFERENCES[0], RESPONSES[0])
        self.accepts = (*QUESTIONS, *REFERENCES, *RESPONSES, *(CRITERIA + SOURCES if self.by_rubric else ()))
        # Only a judge that awaits nothing can be asked without an event loop.
        self.is_async = self.by_rubric or not hasattr(judge, "judge_many")
        self._batches = not self.by_rubric and hasattr(judge, "ajudge_many")
        parameters = inspect.signature(judge.ajudge).parameters.values()
        self._takes_sources = any(one.name == "sources" or one.kind is one.VAR_KEYWORD for one in parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.judge, self.name, self.by_rubric)

    def check(self, columns: Collection[str]) -> None:
        """Raise `ArgumentError` if rows with these columns cannot be judged; it names the columns to add."""
        for names in (QUESTIONS, RESPONSES) if self.by_rubric else (QUESTIONS, REFERENCES, RESPONSES):
            if not any(name in columns for name in names):
                hint = closest(names[0], columns)
                words = f"no column {names[0]!r} (or {one_of(names[1:])}), which {self.name} needs{hint}"
                raise ArgumentError(words)

    def _score_slice(
        self, rows: Sequence[Mapping[str, Any]], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        del contexts, labels
        judge: Any = self.judge
        scores, ready = self._read(rows)
        # All rows in one batch; if the judge raises, one by one, so that only the row at fault fails.
        with Caught() as caught:
            self._take(scores, ready, judge.judge_many([_plain(material) for material in ready.values()]))
        for index in ready if caught.reason is not None else ():
            with Caught() as caught:
                self._take(scores, [index], judge.judge_many([_plain(ready[index])]))
            if caught.reason is not None:
                scores[index] = self._failed(caught.reason)
        return scores

    async def _ascore_rows(
        self, rows: Sequence[Mapping[str, Any]], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        del contexts, labels
        scores, ready = self._read(rows)
        if self._batches and ready:
            judge: Any = self.judge
            gather = gathering.get()
            materials = [_plain(material) for material in ready.values()]
            with Caught() as caught:
                found = await (judge.ajudge_many(materials) if gather is None else gather(judge, materials))
                self._take(scores, ready, found)
            if caught.reason is None:
                return scores

        async def one(index: int) -> None:
            material, options = ready[index], dict[str, Any]()
            if (ask := way_of(self.judge)) is not None:
                options["ask"] = ask
            if self.by_rubric and self._takes_sources:
                options["sources"] = material.sources
            wanted = list(material.criteria if self.by_rubric else material.references)
            try:
                with Caught() as caught:
                    judgement = await self.judge.ajudge(material.question, wanted, material.response, **options)
                    scores[index] = self._score(judgement)
                if caught.reason is not None:
                    scores[index] = self._failed(caught.reason)
            except CancelledError:
                task = current_task()
                if task is not None and task.cancelling():
                    raise
                # The judge raised it: nobody cancelled this task.
                scores[index] = self._failed("raised: CancelledError")

        # A row alone needs no task of its own; the rows of a batch that failed are asked one by one.
        if len(ready) == 1:
            await one(next(iter(ready)))
        else:
            await for_each(ready, one)
        return scores

    def _read(self, rows: Sequence[Mapping[str, Any]]) -> tuple[list[Score], dict[int, Material]]:
        """Read what the judge is shown of each row; a row that lacks something is an error in its place."""
        scores: list[Score] = []
        ready: dict[int, Material] = {}
        for index, row in enumerate(rows):
            with Caught() as caught:
                ready[index] = material_of(row, by_rubric=self.by_rubric)
            scores.append(PENDING if caught.reason is None else self._failed(caught.reason))
        return scores, ready

    def _take(self, scores: list[Score], members: Collection[int], found: Sequence[Judgement]) -> None:
        for index, judgement in zip(members, found, strict=True):
            scores[index] = self._score(judgement)

    def _failed(self, reason: str) -> Score:
        return Score.error(reason, parts=dict.fromkeys(self.parts or ()), provenance=self.provenance)

    def _score(self, judgement: Judgement) -> Score:
        """Return a judgement as a score; one whose members are of the wrong kind is an error."""
        fault = _fault_of(judgement)
        if fault is not None:
            return self._failed(f"bad-judgement: {fault}")
        known: dict[str, float | None] = {name: float(value) for name, value in judgement.scores.items()}
        if judgement.reasons or judgement.tier is not None:
            known["probability"] = judgement.probability
        parts = known if self.parts is None else {name: known.get(name) for name in self.parts}
        # A cascade or a panel may say more exactly who judged, and by which prompt.
        provenance = self.provenance
        if (judgement.judge or provenance.judge, judgement.prompt_hash) != (provenance.judge, provenance.prompt_hash):
            name = judgement.judge or provenance.judge
            provenance = Provenance(self.name, self.version, name, judgement.prompt_hash)
        notes = {} if judgement.verdict is None else {"verdict": str(judgement.verdict)}
        if judgement.reasons or judgement.tier is not None:
            notes["reasons"] = " ".join(judgement.reasons)
        if judgement.tier is not None:
            notes["tier"] = str(judgement.tier)
        if judgement.asserted is not None:
            notes["asserted"] = judgement.asserted
        more: dict[str, Any] = {"notes": notes or None, "provenance": provenance}
        if judgement.calls or judgement.raw is not None:
            more["detail"] = {"raw": judgement.raw, "calls": judgement.calls}
        if judgement.status != "scored":
            make = Score.unscored if judgement.status == "unscored" else Score.error
            return make(judgement.reason or judgement.status, parts=dict.fromkeys(parts), **more)
        if judgement.verdict is not None:
            value = 1.0 if judgement.verdict == "CORRECT" else 0.0
        else:
            value = sum(judgement.scores.values()) / len(judgement.scores)
        return Score.scored(value, reason=judgement.reason, parts=parts, **more)


def _fault_of(judgement: Any) -> str | None:
    """Say what is wrong with a judgement, which may be of somebody else's making."""
    # A judge of somebody else may return anything, whatever the protocol says.
    if not isinstance(judgement, Judgement):
        return f"the judge gave a {type(judgement).__name__}, not a Judgement"
    if judgement.verdict is not None and judgement.verdict not in ("CORRECT", "WRONG"):
        return f"the verdict must be CORRECT or WRONG, got {str(judgement.verdict)[:40]!r}"
    if judgement.status == "scored" and judgement.verdict is None and not judgement.scores:
        return "scored, but neither a verdict nor scores"
    for name in ("reason", "raw"):
        value = getattr(judgement, name)
        if value is not None and not isinstance(value, str):
            return f"its {name} must be text, got {type(value).__name__}"
    pairs: list[tuple[str, Any]] = [*judgement.scores.items(), ("probability", judgement.probability)]
    for name, number in pairs:
        if number is not None and (not isinstance(number, int | float) or number - number != 0):
            return f"{name} must be a finite number, got {str(number)[:40]!r}"
    return None


def _rebuild(judge: Judge, name: str, by_rubric: bool) -> JudgeScorer:
    return JudgeScorer(judge, name=name, by_rubric=by_rubric)


def _plain(material: Material) -> dict[str, Any]:
    """Return a row as batches of judges take it."""
    return {"question": material.question, "reference": list(material.references), "response": material.response}
