"""What text looks like: how answers are normalised for comparison and found inside a model's output."""

from adjudge.text._extract import ExtractMode, extract_answer, strip_thinking
from adjudge.text._normalise import fold, normalise_answer, tokens

__all__ = ["ExtractMode", "extract_answer", "fold", "normalise_answer", "strip_thinking", "tokens"]
