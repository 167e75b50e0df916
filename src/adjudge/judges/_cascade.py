"""A cheap judge first, an expensive one where it is not sure.

Most verdicts do not need a large model: the first judge decides where its calibrated confidence reaches the threshold,
otherwise the second does. Every judgement names who decided and, where the second did, the verdict of the first: the
summary has the share escalated, how often the two agreed there, and what was saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from adjudge.errors import UsageError
from adjudge.judges._panel import Ensemble, ask_member
from adjudge.judges._rubric import GivesScores
from adjudge.model import Judge, Judgement

if TYPE_CHECKING:
    from adjudge.judges._calibration import Calibration
    from adjudge.model import Ask, Score

ERROR_BUDGET = 0.02
KEPT, ESCALATED, SAID = "kept", "escalated", "first-said-"
COMPARED, AGREED = "compared", "agreed"


@dataclass(eq=False)
class CascadeJudge(Ensemble):
    """Asks `first`, and `second` where `first` is less sure than `threshold`.

    Confidence is the greater of the probabilities of CORRECT and WRONG; a first judge that gives none, or no verdict,
    is never sure. Without a `threshold` it is the lowest one at which the labels of its `calibration` show that the
    first judge errs in at most `error_budget` of the rows that it decides or, without a calibration, at which it did so
    on its own validation rows (`threshold_for`), which promises nothing for yours.

    >>> from adjudge.judges import LLMJudge, LocalJudge
    >>> cascade = CascadeJudge(LocalJudge(tier=0), LLMJudge(model="gpt-4o"), threshold=0.9)
    >>> cascade.name
    'cascade:local:0,openai:gpt-4o'
    """

    first: Judge
    second: Judge
    threshold: float | None = None
    error_budget: float = ERROR_BUDGET
    calibration: Calibration | None = None
    rule: str = field(default="", init=False)
    kind: ClassVar[str] = "cascade"

    def __post_init__(self) -> None:
        """Choose the threshold."""
        self.members = (self.first, self.second)
        if any(isinstance(member, GivesScores) for member in self.members):
            raise UsageError("a cascade has two judges for verdicts")
        # A coin errs in one half of the rows: no budget is larger.
        if not 0.0 <= self.error_budget <= 0.5:
            words = f"an error budget is a share from 0 to one half, got {self.error_budget:.4g}"
            raise UsageError(f"{words}: write 0.02 for 2 %")
        # A threshold measured on another judge would keep or escalate the wrong rows.
        if self.calibration is not None:
            self.calibration.check(self.first.name, self.first.version, getattr(self.first, "prompt_hash", None))
        if self.threshold is None:
            known = getattr(self.calibration or self.first, "threshold_for", None)
            if known is None:
                words = f"{self.first.name} has no threshold for an error budget: put local first"
                raise UsageError(f"{words}, or give CascadeJudge a threshold for a judge with probabilities")
            self.threshold = float(known(self.error_budget))
            self.rule = self._rule()
        # Confidence is the greater of two probabilities, so it is never below one half.
        if not 0.5 <= self.threshold <= 1.0:
            raise UsageError(f"the threshold of a cascade lies between .5 and 1, got {self.threshold}")
        self.rule = self.rule or f"a confidence of {self.threshold:.4g} is needed"

    def _rule(self) -> str:
        """Say which confidence the first judge needs to decide, and by which budget that was chosen."""
        budget = f"{self.error_budget:.1%}"
        if self.calibration is None:
            elsewhere = f"{budget} of its own validation rows, which promises nothing for yours"
            if self.threshold == 1.0:
                return f"no confidence kept its errors to {elsewhere}"
            return f"beyond a confidence of {self.threshold:.4g} it erred in at most {elsewhere}"
        if self.threshold == 1.0:
            return f"the labels show for no confidence that it errs in at most {budget}"
        return f"the labels show that beyond a confidence of {self.threshold:.4g} it errs in at most {budget}"

    @property
    def version(self) -> str:
        """The versions of both, and the threshold between them."""
        return f"{self.first.version}+{self.second.version} at {self.threshold:.4g}"

    @property
    def parts(self) -> tuple[str, ...]:
        """The probability of the first judge, and what the second gives."""
        return tuple(dict.fromkeys(("probability", *getattr(self.second, "parts", ()))))

    async def ajudge(
        self, question: str, reference: str | Sequence[str], response: str | None, *, ask: Ask | None = None
    ) -> Judgement:
        """Judge one response; `ask` answers the requests of both."""
        first = await ask_member(self.first, question, reference, response, ask)
        if self.is_sure(first):
            return replace(first, judge=self.name, reasons=(*first.reasons, KEPT))
        second = await ask_member(self.second, question, reference, response, ask)
        said = f"{SAID}{(first.verdict or first.status).lower()}"
        return replace(
            second,
            judge=self.name,
            reasons=(*second.reasons, ESCALATED, said),
            calls=first.calls + second.calls,
        )

    def is_sure(self, judgement: Judgement) -> bool:
        """Return whether the first judge decides with this judgement; with a threshold of 1 it never does."""
        probability, least = judgement.probability, self.threshold or 1.0
        if judgement.status != "scored" or judgement.verdict is None or probability is None:
            return False
        return least <= max(probability, 1.0 - probability) and least < 1.0


@dataclass(frozen=True, slots=True)
class CascadeReport:
    """How a cascade's work was shared: `compared` escalated rows have verdicts of both judges, `agreed` equal ones.

    `saved` is what the second judge would have cost on the rows kept, at its mean cost on the rows that it decided;
    None where there is no price. `rule` says which confidence the first judge needs.
    """

    kept: int
    escalated: int
    compared: int
    agreed: int
    saved: float | None = None
    rule: str | None = None

    @property
    def share(self) -> float:
        """The share of rows that the second judge was asked about."""
        return self.escalated / (self.kept + self.escalated)


@dataclass(slots=True)
class CascadeTally:
    """Adds up how a cascade's work was shared; `costs` has the rows and their dollars by the judge that decided."""

    steps: Counter[str] = field(default_factory=Counter)
    costs: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, score: Score, cost: float | None) -> None:
        """Add a row's score and its cost; None where some reply was known already and cost nothing."""
        steps = steps_of(score)
        self.steps.update(steps)
        if steps and cost is not None:
            rows, dollars = self.costs.get(steps[0], (0, 0.0))
            self.costs[steps[0]] = rows + 1, dollars + cost

    def report(self, rule: str | None) -> CascadeReport | None:
        """Return how the work was shared; None where no row came from a cascade."""
        kept, escalated = self.steps[KEPT], self.steps[ESCALATED]
        if not kept and not escalated:
            return None
        # Where an agent answered the rows, the kept ones cost something too: only the difference is the second judge's.
        more = self._mean(ESCALATED) - self._mean(KEPT)
        saved = more * kept if more > 0.0 else None
        return CascadeReport(kept, escalated, self.steps[COMPARED], self.steps[AGREED], saved, rule)

    def _mean(self, step: str) -> float:
        rows, dollars = self.costs.get(step, (0, 0.0))
        return dollars / rows if rows else 0.0


def steps_of(score: Score) -> tuple[str, ...]:
    """Return the steps of a cascade that a score shows: who decided, and whether both judges agreed."""
    notes = score.notes or {}
    reasons = notes.get("reasons", "").split()
    if ESCALATED in reasons:
        said = next((reason.removeprefix(SAID) for reason in reasons if reason.startswith(SAID)), None)
        verdict = notes.get("verdict", "").lower()
        # Only where both judges gave a verdict can they agree.
        if not verdict or said not in ("correct", "wrong"):
            return (ESCALATED,)
        return (ESCALATED, COMPARED, AGREED) if said == verdict else (ESCALATED, COMPARED)
    return (KEPT,) if KEPT in reasons else ()
