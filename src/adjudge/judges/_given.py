"""Whether a response of openers or signs gives a reference all the same: "Solution", where that is accepted."""

import re
from collections.abc import Sequence
from unicodedata import category, name, normalize

from adjudge.judges._announcements import kind_of
from adjudge.judges._openers import listed
from adjudge.text import fold

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_NUMERALS = {
    word: str(value)
    for value, words in enumerate(("zero", "first one", "second two", "third three", "fourth four", "fifth five"))
    for word in words.split()
}
_SHORT = 3  # letters: articles and the like, which two texts may share by chance
_FEW = 4  # words that may be meant as they are

_MEANT = re.compile(r"[<>=+%@&/\\$]|[<>=!:+*/-]=|&&|\|\||\[\s?\]|\{\s?\}|//|->|=>|::|<>")
_SIGN_NAMES = {
    ".": "period dot point ellipsis", "-": "minus dash negative subtraction", "/": "slash division", "\\": "backslash",
    "_": "underscore", "'": "quote quotes empty string", '"': "quote quotes quotation empty string",
    "(": "bracket parentheses tuple", "[": "bracket", "{": "brace", "#": "hash pound sharp", "|": "pipe",
    "*": "star times multiplication", "!": "bang factorial", "…": "dots", "`": "backtick", "?": "interrogation",
}  # fmt: skip
_UNNAMED = listed("mark sign left right full with and zero width space line no")


def plain_words(text: str) -> str:
    """Return the words of a text, without case, accents of quotation and punctuation.

    >>> plain_words("Let’s  SOLVE this!")
    'lets solve this'
    """
    if text.isascii():
        return " ".join(_ASCII_WORD.findall(text.lower().replace("'", "")))
    plain = normalize("NFKC", fold(text)).casefold().replace("'", "")
    kept = "".join(c for c in plain if category(c) != "Cf")
    # Combining marks belong to the words of many scripts, but they are not letters, and not words without letters.
    words = "".join(c if c.isalnum() or category(c)[0] == "M" else " " for c in kept).split()
    return " ".join(word for word in words if any(map(str.isalnum, word)))


def gives_words(given: str, references: Sequence[str], *, announced: bool) -> bool:
    """Return whether words that announce an answer are one: a reference consists of them.

    >>> gives_words("right", ["the right side"], announced=False), gives_words("first", ["1st"], announced=False)
    (True, True)
    """
    stems = _stems(given)
    for reference in references:
        wanted = plain_words(reference)
        if not wanted:
            continue
        # One word of an announcement is not meant as the answer, unless it ends with it; of a label it may be.
        if f" {wanted} " in f" {given} " and (not announced or " " in wanted or given.endswith(wanted)):
            return True
        if not announced and len(stems) < _FEW and not stems.isdisjoint(_stems(wanted)):
            return True
        # Where the accepted answer is itself of such words, the question asks for them.
        if kind_of(wanted) in ("announcement", "continuation"):
            return True
    return False


def gives_signs(signs: str, references: Sequence[str], written: str = "") -> bool:
    """Return whether signs are an answer: they mean something by themselves, or a reference names or has them.

    >>> gives_signs(">", ["greater than"]), gives_signs(":", ["a colon"]), gives_signs(":", ["Paris"])
    (True, True, False)
    """
    if _MEANT.fullmatch(signs) is not None:
        return True
    names = {word for sign in set(signs) for word in f"{name(sign, '')} {_SIGN_NAMES.get(sign, '')}".lower().split()}
    names = {part for word in names for part in word.split("-")} - _UNNAMED
    for reference in references:
        words = plain_words(reference)
        if written and written in reference.split():
            return True
        if f" {signs} " in f" {fold(reference).strip()} " or not names.isdisjoint({*words.split(), *_stems(words)}):
            return True
    return False


def _stems(words: str) -> set[str]:
    """Return the words that count, without a plural's ending, and numerals as numbers."""
    plain = [_NUMERALS.get(word, word) for word in _ORDINAL.sub(r"\1", words).split()]
    return {word.removesuffix("s") for word in plain if len(word) > _SHORT or not word.isascii() or word.isdigit()}
