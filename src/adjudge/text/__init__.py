"""What text looks like: how answers are normalised for comparison and found inside a model's output."""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names
from adjudge.text._normalise import fold, normalise_answer, tokens

if TYPE_CHECKING:
    from adjudge.text._extract import ExtractMode, extract_answer, strip_thinking

__all__ = ["ExtractMode", "extract_answer", "fold", "normalise_answer", "strip_thinking", "tokens"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_extract": ("ExtractMode", "extract_answer", "strip_thinking"),
    },
)
