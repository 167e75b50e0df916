r"""Is this response equal to the gold answer: right, fast, and impossible to hang.

>>> from adjudge.rewards.math import compare
>>> verdict = compare(r"Therefore $x = \boxed{\frac{1}{\sqrt{2}}}$.", r"\frac{\sqrt{2}}{2}")
>>> verdict.equal, verdict.reason, verdict.answer, verdict.tier
(True, 'symbolic', '\\frac{1}{\\sqrt{2}}', 1)
"""

from adjudge.rewards.math._compare import acompare, compare
from adjudge.rewards.math._policy import MathPolicy
from adjudge.rewards.math._verdict import MathVerdict

__all__ = ["MathPolicy", "MathVerdict", "acompare", "compare"]
