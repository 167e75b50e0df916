"""What text looks like: how answers are normalised for comparison and found inside a model's output."""

from typing import TYPE_CHECKING

from adjudge.text._normalise import fold, normalise_answer, tokens

if TYPE_CHECKING:
    from adjudge.text._extract import ExtractMode, extract_answer, strip_thinking

__all__ = ["ExtractMode", "extract_answer", "fold", "normalise_answer", "strip_thinking", "tokens"]


def __getattr__(name: str) -> object:
    """Load extraction, with its patterns, when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module 'adjudge.text' has no attribute {name!r}")
    from adjudge.text import _extract

    value: object = getattr(_extract, name)
    globals()[name] = value
    return value
