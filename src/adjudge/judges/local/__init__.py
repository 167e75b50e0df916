"""The judge in the package: no key, no network. Tier 0 is plain Python and always there.

LocalJudge().judge("Capital of France?", ["Paris"], "It is Paris.")      -> Judgement with verdict, probability, reasons
"""

from adjudge.judges.local._judge import AGREEMENT, TIERS, LocalJudge

__all__ = ["AGREEMENT", "TIERS", "LocalJudge"]
