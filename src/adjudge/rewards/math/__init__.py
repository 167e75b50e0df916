r"""Is this response equal to the gold answer: right, fast, and impossible to hang.

The package is lazy: importing it loads nothing, each name below is imported when it is first used.

>>> from adjudge.rewards.math import compare
>>> verdict = compare(r"Therefore $x = \boxed{\frac{1}{\sqrt{2}}}$.", r"\frac{\sqrt{2}}{2}")
>>> verdict.equal, verdict.reason, verdict.answer, verdict.tier
(True, 'symbolic', '\\frac{1}{\\sqrt{2}}', 1)
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.rewards.math._compare import acompare as acompare
    from adjudge.rewards.math._compare import compare as compare
    from adjudge.rewards.math._policy import MathPolicy as MathPolicy
    from adjudge.rewards.math._verdict import MathVerdict as MathVerdict

__all__ = ["MathPolicy", "MathVerdict", "acompare", "compare"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_compare": ("acompare", "compare"),
        "_policy": ("MathPolicy",),
        "_verdict": ("MathVerdict",),
    },
)
