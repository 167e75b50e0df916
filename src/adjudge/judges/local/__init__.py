"""The judge in the package: no key, no network. Tier 0 is plain Python and always there, tier 1 needs `adjudge[local]`.

LocalJudge().judge("Capital of France?", ["Paris"], "It is Paris.")      -> Judgement with verdict, probability, reasons
"""

from adjudge.judges.local._judge import LocalJudge
from adjudge.judges.local._rubric import LocalRubricJudge
from adjudge.judges.local._tiers import AGREEMENT, TIERS

__all__ = ["AGREEMENT", "TIERS", "LocalJudge", "LocalRubricJudge"]
