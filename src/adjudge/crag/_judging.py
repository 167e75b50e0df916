"""Phase 2: every turn is labelled, in the order miss? exact? judge, so that only turns that need it cost a call.

A run whose first scorer is that rule. Replies are in the run file before they are read, and in the cache for the next
run. A turn without a verdict, whatever the cause, is unscored; it is never wrong for that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.conversations import Labels, settle, unscored, verdict_labels
from adjudge.crag import config
from adjudge.crag._turns import FAULT, TurnRows, result_row
from adjudge.crag.llm_judge import LLMJudge, api_response
from adjudge.datasets import json_line
from adjudge.errors import Caught, DataError, UsageError
from adjudge.judges import get_judge, judge_scorer
from adjudge.model import Judge, Provenance, Score
from adjudge.rewards import Scorer, get_scorer
from adjudge.runs import CaseRead, Job, Plan, RunConfig, RunFile, RunTask, open_run

if TYPE_CHECKING:
    from adjudge.crag._phases import Phases
    from adjudge.model import Context

FILE = "evaluate"
RULE = "crag_turn"
REPLY = "api_response"
OURS = ("id", "question", "answer", "final_response")  # columns that scorers know, beside those of the turn
_ADDRESSES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def judge_of(
    name: str | Judge | None, *, api_key: str | None = None, base_url: str | None = None
) -> tuple[Judge | None, str | None]:
    """Return the judge, or None and, where one was wanted, why there is none.

    A bare name is a model behind an OpenAI-compatible endpoint; otherwise names are those of `adjudge.judges`.

    >>> judge_of("local:0")[0].name, judge_of(None)
    ('local:0', (None, None))
    """
    if name is None or not isinstance(name, str):
        return name, None
    kind, colon, rest = name.strip().partition(":")
    if not kind or (colon and not rest):
        raise UsageError(f"{name!r} does not name a model to judge with", code="unknown-judge")
    if kind == "local":
        return get_judge(name), None
    limits: dict[str, Any] = {"max_tokens": config.MAX_EVAL_TOKENS, "attempts": config.MAX_API_RETRIES}
    # Their members find keys of their own.
    if kind in ("panel", "cascade", "litellm") and colon:
        return get_judge(name, api_key=api_key or None, base_url=base_url, **limits), None
    api, model = (kind, rest) if colon and kind in _KEYS else ("openai", name.strip())
    places = (_KEYS[api], f"{_KEYS[api]}_FILE", _ADDRESSES[api])
    # Without any key the evaluation still gives misses and exact matches, so this is a warning and not an error.
    if not (api_key or base_url or any(os.environ.get(place) for place in places)):
        message = f"semantic evaluation is off: there is no key for {name}; set {_KEYS[api]}, or give eval_api_key"
        return None, f"{message} or eval_base_url (--base-url), or name 'local' as the judge"
    return LLMJudge(model, api_key or None, base_url, api=api), None


class TurnScorer(Scorer):
    """1 for a correct turn, 0 for a miss or a wrong one, by the rule and, where that leaves it open, by a judge."""

    parts = ("exact", "miss")
    range = (0.0, 1.0)
    columns = ("final_response", "question", "answer")
    accepts = columns
    is_async = True
    has_async = True
    is_group = False

    def __init__(self, judge: Judge | None) -> None:
        self.name = RULE
        self.version = "1, no judge" if judge is None else f"1, {judge.name} {judge.version}"
        self.judges = () if judge is None else (judge,)
        self._ask = None if judge is None else judge_scorer(judge)
        prompt = getattr(judge, "prompt_hash", None)
        self.provenance = Provenance(RULE, self.version, None if judge is None else judge.name, prompt)

    async def _ascore_rows(
        self, rows: Sequence[Mapping[str, Any]], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        del contexts, labels
        scores: list[Score] = []
        for row in rows:
            with Caught() as caught:
                scores.append(await self._turn(row))
            if caught.reason is not None:
                scores.append(self._failed("error", caught.reason))
        return scores

    async def _turn(self, row: Mapping[str, Any]) -> Score:
        response, truths = str(row["final_response"]), references_of(row["answer"])
        labels = settle_turn(response, truths)
        if labels is not None:
            reason = "exact" if labels.is_exact_match else "miss" if labels.is_miss else "unknown-too"
            return self._scored(labels, reason)
        if self._ask is None:
            return self._scored(verdict_labels(correct=False), "no-judge")
        given = await self._ask.ascore({"question": str(row["question"]), "reference": truths, "response": response})
        reply = api_response(given)
        if reply["verdict"] is None:
            return self._failed(given.status, given.reason or "no-verdict", reply)
        return self._scored(verdict_labels(correct=reply["accuracy"]), given.reason, reply)

    def _scored(self, labels: Labels, reason: str | None, reply: Mapping[str, Any] | None = None) -> Score:
        parts = {"exact": float(labels.is_exact_match), "miss": float(labels.is_miss)}
        value = float(labels.is_correct)
        return Score.scored(value, reason=reason, parts=parts, provenance=self.provenance, detail=reply)

    def _failed(self, status: str, reason: str, reply: Mapping[str, Any] | None = None) -> Score:
        make = Score.error if status == "error" else Score.unscored
        return make(reason, parts=dict.fromkeys(self.parts), provenance=self.provenance, detail=reply)


def references_of(answer: Any) -> list[str]:
    """Return the ground truths of a turn: one, or several that are as good."""
    return [str(one) for one in answer] if isinstance(answer, list | tuple) else [str(answer)]


def settle_turn(response: str, truths: Sequence[str]) -> Labels | None:
    """Return the labels of a turn that needs no judge, by the ground truth that suits it best; None where it needs one.

    >>> settle_turn("Red", ["crimson", "red"]).is_exact_match, settle_turn("Reddish", ["red"]) is None
    (True, True)
    """
    known = [labels for truth in truths if (labels := settle(response, truth)) is not None]
    # Of several ground truths that are as good, the kindest counts.
    return max(known, key=lambda labels: (labels.is_correct, labels.is_exact_match), default=None)


def in_order(turn_data: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the turns in order of (session_id, turn_idx), checked; one that appears twice raises `DataError`."""
    rows = TurnRows()
    turns = [rows.take(turn, f"turn {number}: ") for number, turn in enumerate(turn_data, 1)]
    # The order of the file must not change the run: a resumed one is compared by its digest.
    turns.sort(key=lambda turn: (turn["session_id"], turn["turn_idx"]))
    ids: set[str] = set()
    places: set[tuple[str, int]] = set()
    for turn in turns:
        place = (turn["session_id"], turn["turn_idx"])
        if place in places:
            raise DataError(f"session {place[0]!r} has two turns {place[1]}: number its turns from 0", code="same-turn")
        if turn["interaction_id"] in ids:
            message = f"interaction_id {turn['interaction_id']!r} appears twice (again in session {place[0]!r})"
            raise DataError(message, code="same-turn")
        ids.add(turn["interaction_id"])
        places.add(place)
    return turns


def evaluate(
    phases: Phases, turns: Sequence[Mapping[str, Any]], scorers: Sequence[Scorer], settings: RunConfig, *, retry: bool
) -> Path:
    """Run phase 2 for turns that are in order, and return its run file; the first of the scorers is the rule."""
    path = phases.file(FILE, anew=True)
    sums = blake2b(digest_size=16)
    for turn in turns:
        sums.update(json_line(turn))
    digest = sums.hexdigest()
    if retry and path.exists() and open_run(path).plan.digest not in (None, digest):
        # Turns that had failed have answers now. That is another run; the cache has the replies that were paid for.
        path.replace(path.with_name(f"{path.name}.before"))
    plan = Plan("evaluate", scorers=tuple(scorer.name for scorer in scorers), digest=digest)
    task = RunTask(path, Job(tuple(scorers)), plan, settings, map(_case, turns), retry_failed=retry)
    phases.run("evaluating", task)
    return path


def scorers_of(judge: Judge | None, more: Sequence[Any], columns: Iterable[str]) -> list[Scorer]:
    """Return the rule, then the other scorers that are wanted; turns must have the columns that they need."""
    several = [more] if isinstance(more, str) or callable(more) else more
    scorers = [get_scorer(scorer) for scorer in several]
    for scorer in scorers:
        scorer.check(dict.fromkeys((*columns, *OURS)))
    return [TurnScorer(judge), *scorers]


def results(path: Path, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Give the results of a finished run, in order."""
    for case, _, scores, _ in RunFile(path).rows():
        # A turn that was never reached is an error, not a wrong answer.
        score, *others = scores or [Score.error("not-run: the run ended before this turn") for _ in names]
        row = case.row or {}
        turn = {name: value for name, value in row.items() if name not in OURS}
        labels = _labels(row, score, failed=case.fault is not None)
        # Run files had the reply here before scores had a detail.
        kept = (score.notes or {}).get(REPLY)
        reply = score.detail if kept is None else json.loads(kept)
        extra = {
            name: {"value": other.value, "status": other.status, "reason": other.reason}
            for name, other in zip(names[1:], others, strict=True)
        }
        yield result_row(turn, labels, reply, scorers=extra)


def _case(turn: Mapping[str, Any]) -> CaseRead:
    """Return a turn as a case with the columns that scorers know; one whose agent failed cannot be scored."""
    row = {
        **turn,
        "id": turn["interaction_id"],
        "question": turn["query"],
        "answer": turn.get("references", turn["ground_truth"]),
        "final_response": turn["agent_response"],
    }
    return CaseRead(row["id"], row, turn.get(FAULT))


def _labels(row: Mapping[str, Any], score: Score, *, failed: bool) -> Labels:
    if failed:
        return unscored("error")
    if score.value is None:
        return unscored()
    # The rule is cheap: its labels are found again here, so the run file need not hold them.
    labels = settle_turn(row["final_response"], references_of(row["answer"]))
    return verdict_labels(correct=score.value == 1.0) if labels is None else labels
