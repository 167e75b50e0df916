"""Which words of a title are nouns: by a lexicon for our own catalogue, by spaCy, or by a plain rule.

The type of a purchase is judged by nouns, so a result names the finder that it rests on.
"""

import re
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from adjudge.environments.webshop._words import BRANDS, KINDS
from adjudge.errors import MissingExtra, UsageError, closest

__all__ = ["NounFinder", "noun_finder"]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MODEL = "en_core_web_sm"  # what the original uses


@runtime_checkable
class NounFinder(Protocol):
    """Finds the nouns of a title. `name` stands in every result that rests on it."""

    @property
    def name(self) -> str:
        """What results call it, version included."""
        ...

    def nouns(self, title: str) -> tuple[str, ...]:
        """Return the nouns of a title, proper nouns included, in lower case, as often as they stand there."""
        ...


class Lexicon:
    """Knows the nouns of our own catalogue: brands, materials, kinds of things and what comes with them."""

    name = "lexicon-1"

    def __init__(self) -> None:
        words = {brand.lower() for brand in BRANDS}
        for kind in KINDS:
            words.update(kind.name.split(), kind.materials, (extra.split()[-1] for extra in kind.extras))
        self._known = frozenset(words)

    def nouns(self, title: str) -> tuple[str, ...]:
        """Return the words that the lexicon has."""
        return tuple(word for word in _WORD.findall(title.lower()) if word in self._known)


class Words:
    """Takes every word of three letters and more that is no function word for a noun: no part of speech is known."""

    name = "words-1"
    _FUNCTION = frozenset(
        "and are for from has into its not off our out per that the this was with without your".split()  # noqa: SIM905 (as words)
    )

    def nouns(self, title: str) -> tuple[str, ...]:
        """Return the words that could be nouns."""
        found = (word for word in _WORD.findall(title.lower()) if len(word) > 2 and not word.isdigit())
        return tuple(word for word in found if word not in self._FUNCTION)


class Spacy:
    """Asks spaCy's small English model, as the original does."""

    def __init__(self) -> None:
        try:
            spacy: Any = import_module("spacy")
        except ImportError:
            raise MissingExtra.of("spacy", "nouns='spacy' (nouns='words' does without)") from None
        try:
            self._model: Any = spacy.load(_MODEL, exclude=["parser", "ner", "lemmatizer"])
        except OSError:
            raise MissingExtra(f"spaCy's model is not there: python -m spacy download {_MODEL}") from None
        self.name = f"spacy:{_MODEL}-{self._model.meta.get('version', '?')}"

    def nouns(self, title: str) -> tuple[str, ...]:
        """Return what the model takes for a noun or a proper noun."""
        return tuple(token.text.lower() for token in self._model(title) if token.pos_ in ("NOUN", "PROPN"))


_FINDERS: dict[str, type[Lexicon] | type[Words] | type[Spacy]] = {"lexicon": Lexicon, "words": Words, "spacy": Spacy}


@lru_cache(maxsize=len(_FINDERS))
def noun_finder(name: str) -> NounFinder:
    """Return the finder called `lexicon`, `words` or `spacy`, one for the whole process.

    >>> noun_finder("lexicon").nouns("Oakmere Leak Proof Steel Water Bottle with Carry Loop")
    ('oakmere', 'steel', 'water', 'bottle', 'loop')
    """
    if name not in _FINDERS:
        raise UsageError(f"there is no noun finder {name!r}{closest(name, _FINDERS)}: {', '.join(_FINDERS)}")
    return _FINDERS[name]()
