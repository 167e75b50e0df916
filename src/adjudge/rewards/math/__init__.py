r"""Is this response equal to the gold answer: right, fast, and impossible to hang.

The package is lazy: importing it loads nothing, each name below is imported when it is first used.

>>> from adjudge.rewards.math import compare
>>> verdict = compare(r"Therefore $x = \boxed{\frac{1}{\sqrt{2}}}$.", r"\frac{\sqrt{2}}{2}")
>>> verdict.equal, verdict.reason, verdict.answer, verdict.tier
(True, 'symbolic', '\\frac{1}{\\sqrt{2}}', 1)
"""

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.rewards.math._compare import acompare as acompare
    from adjudge.rewards.math._compare import compare as compare
    from adjudge.rewards.math._policy import MathPolicy as MathPolicy
    from adjudge.rewards.math._verdict import MathVerdict as MathVerdict

__all__ = ["MathPolicy", "MathVerdict", "acompare", "compare"]

_HOMES = {"MathPolicy": "_policy", "MathVerdict": "_verdict", "acompare": "_compare", "compare": "_compare"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
