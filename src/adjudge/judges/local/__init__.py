"""The judge in the package: no key, no network. Tier 0 is plain Python and always there, tier 1 needs `adjudge[local]`.

LocalJudge().judge("Capital of France?", ["Paris"], "It is Paris.")      -> Judgement with verdict, probability, reasons
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.judges.local._judge import LocalJudge
    from adjudge.judges.local._rubric import LocalRubricJudge
    from adjudge.judges.local._tiers import AGREEMENT, TIERS

__all__ = ["AGREEMENT", "TIERS", "LocalJudge", "LocalRubricJudge"]

__getattr__, __dir__ = lazy_names(
    __name__, {"_judge": ("LocalJudge",), "_rubric": ("LocalRubricJudge",), "_tiers": ("AGREEMENT", "TIERS")}
)
