"""The local judge: one interface with the judges that ask a model, and no calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal

from adjudge.errors import DataError, UsageError
from adjudge.judges.columns import Material, material_of
from adjudge.judges.local._tiers import AGREEMENTS, RULED_OUT, TIERS, Assessment, assessor, best_tier, threshold_of
from adjudge.model import Judgement

if TYPE_CHECKING:
    from adjudge.judges._fit import Fit
    from adjudge.judges.local._explain import Explanation
    from adjudge.model import Ask, ChatModel

VERSION = "8"
OWN_LABELS = "own-labels"
"""The reason of a verdict that a fit has turned."""

_NEVER_FITTED = frozenset(("vacuous", "injected-verdict", "too-long"))
_LONGEST = 1_000_000
_SHOWN = 80  # characters of an assertion in a reason
_TOGETHER = 1024  # rows that are assessed at once: enough to fill batches, whatever the number of rows


class LocalJudge:
    """Judges without asking anybody, with the same interface as the judges that ask a model.

    `tier` chooses among what is installed: 0 is there always, 1 needs `adjudge[local]`; without it, the best one. A
    judgement has the `probability` of CORRECT, and the names of what was seen as `reasons`: the first is what spoke
    loudest, `low-confidence` says that people would disagree about such a row, or the judge with them. `asserted` are
    the words that tier 1 read as the answer; None where it found none, where a rule decided, and in tier 0.

    >>> LocalJudge(tier=0).judge("What is the capital of France?", "Paris", "It is Paris.").verdict
    'CORRECT'
    >>> LocalJudge(tier=0).judge("How tall is it?", ["330 m"], "Perhaps 300 m or 330 m").reasons
    ('hedged', 'low-confidence')
    """

    parts = ("probability",)

    def __init__(self, tier: int | None = None, *, fit: Fit | None = None) -> None:
        if tier is not None and (type(tier) is not int or tier not in TIERS):
            there = " and ".join(map(str, TIERS))
            raise UsageError(f"the local judge has the tiers {there}, not {tier!r}", code="unknown-judge")
        self.tier = best_tier() if tier is None else tier
        self._assess = assessor(self.tier)
        self.name = f"local:{self.tier}"
        self.version = VERSION
        self.fit = fit
        if fit is not None:
            fit.check(self.name, VERSION)
            # Other numbers make another judge.
            self.version = f"{VERSION}+fit:{fit.sum[:8]}"
        self.agreement = AGREEMENTS[self.tier]
        self.prompt_hash = None
        self.chats: Mapping[str, ChatModel] = {}

    def __reduce__(self) -> tuple[Callable[..., LocalJudge], tuple[int, Fit | None]]:
        # Pickled by its tier and fit alone: it is made again where it arrives, if that tier is installed there.
        return _made, (self.tier, self.fit)

    def __repr__(self) -> str:
        return f"LocalJudge(tier={self.tier})"

    def warm_up(self) -> None:
        """Load the models of its tier; otherwise they are loaded for the first row."""
        self._assess([("Who wrote it?", ("Jane Austen",), "The author of Emma did, around 1815.")])

    def judge(self, question: str, reference: str | Sequence[str], response: str | None) -> Judgement:
        """Judge one response."""
        return self.judge_many([{"question": question, "reference": reference, "response": response}])[0]

    def explain(self, question: str, reference: str | Sequence[str], response: str) -> Explanation:
        """Return the steps by which it comes to its verdict: each has a `name`, and what was `said` there."""
        from adjudge.judges.local._explain import explain

        row = self._read({"question": question, "reference": reference, "response": response})
        if isinstance(row, Judgement):
            raise DataError(str(row.reason), code="bad-row")
        return explain(self.tier, *row)

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Judge one response; nothing is asked of anybody."""
        del ask
        return self.judge(question, reference, response)

    def judge_many(self, rows: Iterable[Mapping[str, Any]]) -> list[Judgement]:
        """Judge rows with `question`, `reference` and `response`, or other names that `adjudge judge run` knows.

        A row's verdict is its own; one that cannot be judged is an error in its place.
        """
        # In parts: features of all rows at once would take memory without making batches fuller.
        given, found = iter(rows), []
        while some := list(islice(given, _TOGETHER)):
            found += self._judge_some(some)
        return found

    async def ajudge_many(self, rows: Iterable[Mapping[str, Any]]) -> list[Judgement]:
        """Judge rows as `judge_many` does, without holding up the event loop."""
        import asyncio

        return await asyncio.to_thread(self.judge_many, rows)

    def _judge_some(self, rows: Sequence[Mapping[str, Any]]) -> list[Judgement]:
        read = [self._read(row) for row in rows]
        # Rows that cannot be judged keep their places between those that can.
        seen = iter(self._assess([one for one in read if not isinstance(one, Judgement)]))
        found = [one if isinstance(one, Judgement) else self._said(next(seen)) for one in read]
        return found if self.fit is None else list(map(self._fitted, found, read))

    def _fitted(self, said: Judgement, row: tuple[str, tuple[str, ...], str] | Judgement) -> Judgement:
        """Return a judgement as the labels correct it; what was ruled out for what it does stays so."""
        if self.fit is None or isinstance(row, Judgement) or said.reasons[0] in _NEVER_FITTED:
            return said
        chance = self.fit.probability(said, Material(*row))
        verdict: Literal["CORRECT", "WRONG"] = "CORRECT" if chance >= 0.5 else "WRONG"
        reasons = said.reasons if verdict == said.verdict else (OWN_LABELS, *said.reasons)
        return replace(said, verdict=verdict, probability=round(chance, 4), reasons=reasons)

    def threshold_for(self, error_budget: float) -> float:
        """Return the least confidence beyond which it was seen to err in at most that share of validation rows.

        >>> judge = LocalJudge(tier=0)
        >>> 0.5 <= judge.threshold_for(0.02) <= judge.threshold_for(0.005) <= 1.0
        True
        """
        return threshold_of(self.tier, error_budget)

    def _read(self, row: Mapping[str, Any]) -> tuple[str, tuple[str, ...], str] | Judgement:
        """Return question, references and response of a row, or what is to be said of it without a look at them."""
        try:
            material = material_of(row)
        except DataError as error:
            return Judgement("error", reason=error.reason, judge=self.name, tier=self.tier)
        text = material.response or ""
        # Reading such a text would take longer than any answer is worth.
        if len(text) > _LONGEST:
            return self._judgement(
                Assessment(RULED_OUT, ("too-long",), ruled=True), f"too-long: {len(text)} characters"
            )
        return material.question, material.references, text

    def _said(self, seen: Assessment) -> Judgement:
        if seen.reasons == ("vacuous",):
            return self._judgement(seen, "vacuous")
        read_as = "" if seen.asserted is None else f", read as: {shorten(seen.asserted, _SHOWN)}"
        return self._judgement(seen, f"{', '.join(seen.reasons)}{read_as} ({self.agreement})")

    def _judgement(self, seen: Assessment, reason: str) -> Judgement:
        return Judgement(
            "scored",
            "CORRECT" if seen.is_right else "WRONG",
            reason=reason,
            judge=self.name,
            probability=round(seen.probability, 4),
            reasons=seen.reasons,
            tier=self.tier,
            asserted=seen.asserted,
        )


def _made(tier: int, fit: Fit | None) -> LocalJudge:
    return LocalJudge(tier, fit=fit)
