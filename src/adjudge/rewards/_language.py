"""The language of a text, by py3langid; None where there is too little to tell."""

import re
from functools import cache
from typing import Any

from adjudge.errors import MissingExtra

_FEWEST = 20  # letters
_LARGEST = 20_000  # characters that are looked at
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)


@cache
def _identifier() -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError as error:
        raise MissingExtra.of("language", "is_language") from error
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def languages() -> frozenset[str]:
    """Return the languages that can be told apart, by their ISO 639-1 codes."""
    return frozenset(str(one) for one in _identifier().labels)


def language_of(text: str) -> tuple[str, float] | None:
    """Return the likeliest language of a text, code and links aside, with its probability."""
    prose = _CODE.sub(" ", text[:_LARGEST])
    if sum(one.isalpha() for one in prose) < _FEWEST:
        return None
    language, probability = _identifier().classify(prose)
    return str(language), float(probability)
