"""The math rewards: 1 for an answer that equals the gold, and the same on the tool ladder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from adjudge.errors import AdjudgeError, ArgumentError, DataError, closest
from adjudge.model import Provenance, Score
from adjudge.rewards._tag import AsyncBatch, Row, by_row, mark_finished, reward
from adjudge.rewards.math._compare import acompare, compare, warm_up
from adjudge.rewards.math._policy import MathPolicy
from adjudge.rewards.math._verdict import MathVerdict
from adjudge.rewards.tools import enough_tools, ladder, ladder_result
from adjudge.text.values import references_of, text_of

LIMIT_S = 2.0  # of a worker's CPU time, for one comparison
AT_ONCE = 4  # comparisons of one batch under way, nearly all of them in a worker

_DEFAULT = MathPolicy()
_OPTIONS = ("policy", "limit_s")

Finish: TypeAlias = Callable[[MathVerdict, Row, Provenance], Score]
"""What a verdict means for one row's score."""


@dataclass(frozen=True, slots=True)
class _Question:
    """One response with everything it takes to compare it."""

    response: str
    golds: list[str]
    policy: MathPolicy
    limit_s: float

    @classmethod
    def of(cls, row: Row) -> "_Question":
        limit_s = row.get("limit_s", LIMIT_S)
        if not isinstance(limit_s, int | float) or isinstance(limit_s, bool) or not limit_s > 0:
            raise ArgumentError(f"limit_s must be a number of seconds above 0, got {limit_s!r}", code="bad-option")
        text = text_of(row["final_response"], "final_response")
        return cls(text, references_of(row["answer"]), _policy(row.get("policy")), float(limit_s))

    def verdict(self) -> MathVerdict:
        """Compare with every accepted answer."""
        return _best([compare(self.response, gold, policy=self.policy, limit_s=self.limit_s) for gold in self.golds])

    async def averdict(self) -> MathVerdict:
        """Compare with every accepted answer, without holding up the event loop."""
        found = [await acompare(self.response, gold, policy=self.policy, limit_s=self.limit_s) for gold in self.golds]
        return _best(found)


def _policy(policy: object) -> MathPolicy:
    if policy is None:
        return _DEFAULT
    if isinstance(policy, MathPolicy):
        return policy
    if not isinstance(policy, Mapping):
        raise ArgumentError(f"policy must be a MathPolicy or a mapping, got {type(policy).__name__}", code="bad-option")
    known = [field.name for field in fields(MathPolicy)]
    for name in policy:
        if name not in known:
            raise ArgumentError(f"the policy has no {name!r}{closest(str(name), known)}", code="bad-option")
    return MathPolicy(**policy)


def _best(verdicts: Sequence[MathVerdict]) -> MathVerdict:
    """Return the first that is equal; else one whose gold cannot be read, since that one might have been it."""
    # A gold that cannot be read matters only if no other one is equal.
    for wanted in (True, None):
        for verdict in verdicts:
            if verdict.equal is wanted:
                if wanted is None:
                    raise DataError(verdict.detail, code="unparsed-gold")
                return verdict
    return verdicts[0]


def _plain_score(verdict: MathVerdict, _: Row, provenance: Provenance) -> Score:
    reason, notes = f"{verdict.reason}: {verdict.detail}", _notes(verdict)
    return Score.scored(float(bool(verdict.equal)), reason=reason, notes=notes, provenance=provenance)


def _tool_score(verdict: MathVerdict, row: Row, provenance: Provenance) -> Score:
    used = enough_tools(row["trajectory"], row.get("min_tool_calls", 1), row.get("ignore_tools", ()))
    parts, notes = {"acc": float(bool(verdict.equal))}, _notes(verdict)
    if used is None:
        return Score.unscored("tool-use-unknown", parts=parts, notes=notes, provenance=provenance)
    value, rung = ladder(used=used, correct=bool(verdict.equal))
    reason = rung if rung == "no-tool" else f"{verdict.reason}: {verdict.detail}"
    return Score.scored(value, reason=reason, parts=parts, notes=notes, provenance=provenance)


def _notes(verdict: MathVerdict) -> dict[str, str] | None:
    return None if verdict.answer is None else {"answer": verdict.answer}


def _rule(finish: Finish) -> Callable[[Row, Provenance], Score]:
    return lambda row, provenance: finish(_Question.of(row).verdict(), row, provenance)


def _async_batch(finish: Finish, parts: Sequence[str]) -> AsyncBatch:
    async def batch(rows: Sequence[Row], provenance: Provenance) -> list[Score]:
        from asyncio import Semaphore, TaskGroup, sleep

        scores: dict[int, Score] = {}
        turn = Semaphore(AT_ONCE)

        async def one(index: int) -> None:
            try:
                scores[index] = finish(await _Question.of(rows[index]).averdict(), rows[index], provenance)
            except AdjudgeError as error:
                scores[index] = Score.error(error.reason, parts=dict.fromkeys(parts), provenance=provenance)
            finally:
                turn.release()

        async with TaskGroup() as tasks:
            for index in range(len(rows)):
                await turn.acquire()
                tasks.create_task(one(index))
                # Other tasks get a turn after every comparison.
                await sleep(0)
        return [scores[index] for index in range(len(rows))]

    return mark_finished(batch)


@reward(
    version="4",
    binary=True,
    parts=(),
    range=(0.0, 1.0),
    batch=by_row(_rule(_plain_score)),
    abatch=_async_batch(_plain_score, ()),
    warm_up=warm_up,
)
def math_equal_reward(
    final_response: str | None,
    answer: Any,
    *,
    policy: MathPolicy | Mapping[str, Any] | None = None,
    limit_s: float = LIMIT_S,
    **kwargs: Any,
) -> float:
    r"""1 if the response's answer is mathematically equal to the accepted one, else 0.

    Other keyword arguments are ignored, but for a close misspelling of an option. A gold that cannot be read raises.

    >>> math_equal_reward(r"So the answer is $\boxed{\frac{1}{2}}$.", "0.5")
    1.0
    """
    for name in kwargs:
        hint = closest(name, _OPTIONS)
        if hint:
            raise ArgumentError(f"math_equal_reward takes no option {name!r}{hint}", code="unknown-argument")
    row = {"final_response": final_response, "answer": answer, "policy": policy, "limit_s": limit_s}
    return float(bool(_Question.of(row).verdict().equal))


@reward(
    version="4",
    parts=("acc",),
    range=(0.0, 1.0),
    batch=by_row(_rule(_tool_score), ("acc",)),
    abatch=_async_batch(_tool_score, ("acc",)),
    warm_up=warm_up,
)
def math_equal_reward_tool(
    final_response: str | None,
    answer: Any,
    trajectory: Any,
    *,
    min_tool_calls: int = 1,
    ignore_tools: Sequence[str] = (),
    policy: MathPolicy | Mapping[str, Any] | None = None,
    limit_s: float = LIMIT_S,
) -> dict[str, Any]:
    r"""0 without a tool, 0.1 with a tool and a wrong answer, 1 with a tool and a correct one.

    `acc` is 1 if the answer is correct, tool or not. The options are those of `qa_f1_reward_tool` and of
    `math_equal_reward`.

    >>> math_equal_reward_tool(r"\boxed{4}", "4", [{"role": "tool", "content": "4"}])
    {'reward': 1.0, 'acc': 1.0}
    """
    row = {"final_response": final_response, "answer": answer, "policy": policy, "limit_s": limit_s}
    correct = bool(_Question.of(row).verdict().equal)
    used = enough_tools(trajectory, min_tool_calls, ignore_tools)
    return ladder_result(used, {"acc": float(correct)}, correct=correct)
