"""Answers as SQuAD and HotpotQA compare them: lower-case, without punctuation and articles, as words.

    "The U.S.A.’s capital"  ->  ["usas", "capital"]

The definition is that of the official SQuAD 1.1 evaluation script (Rajpurkar et al. 2016, arXiv:1606.05250):
lower-case, delete ASCII punctuation, drop a/an/the, collapse white space. Before it, typographic quotes and
dashes are folded to their ASCII forms, so that "don’t" is "don't". Deleting joins: "well-known" is one word.
"""

import re
from string import ascii_lowercase, ascii_uppercase, punctuation

_ARTICLES = frozenset({"a", "an", "the"})

_TYPOGRAPHIC = {"'": "‘’‚‛‹›′‵ʼ", '"': "“”„‟«»″‶", "-": "‐‑‒–—―−⁻﹘﹣－"}
# These are rare in a text: to look for them is several times as fast as a table.
_FOLD = tuple((re.compile(f"[{signs}]"), plain) for plain, signs in _TYPOGRAPHIC.items())
# Folded quotes and dashes are ASCII punctuation and so are deleted with it: one table does both.
_DELETE = dict.fromkeys(map(ord, punctuation + "".join(_TYPOGRAPHIC.values())))

# The same two steps for plain ASCII, on bytes: six times as fast as a table of code points. Control characters that are
# not white space become NUL, so that one look finds them: they are boundaries of words, and rare.
_CONTROL = bytes(code for code in range(128) if not chr(code).isprintable() and not chr(code).isspace())
_ASCII_LOWER = bytes.maketrans(ascii_uppercase.encode() + _CONTROL, ascii_lowercase.encode() + bytes(len(_CONTROL)))
_ASCII_PUNCTUATION = punctuation.encode()

# A word of its own by SQuAD's rule, but not beside a combining mark: the last letter of a decomposed "bahía" and the
# first of "à" are not articles.
_MARKS = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_ARTICLE = re.compile(rf"\b(?<!{_MARKS})(?:an?|the)\b(?!{_MARKS})")


def fold(text: str) -> str:
    r"""Return the text with typographic quotes and dashes as their ASCII forms.

    >>> fold("“don’t” – ever")
    '"don\'t" - ever'
    """
    if not text.isascii():
        for signs, plain in _FOLD:
            text = signs.sub(plain, text)
    return text


def tokens(text: str) -> list[str]:
    """Return the words that two answers are compared by.

    >>> tokens("The well-known U.S.A.")
    ['wellknown', 'usa']
    """
    if text.isascii():
        plain = text.encode().translate(_ASCII_LOWER, _ASCII_PUNCTUATION)
        if 0 not in plain:
            words = plain.decode().split()
            # Three searches are cheaper than hashing every word.
            if "the" in words or "a" in words or "an" in words:
                return [word for word in words if word not in _ARTICLES]
            return words
    return _ARTICLE.sub(" ", text.translate(_DELETE).lower()).split()


def normalise_answer(text: str) -> str:
    """Return the answer as it is compared: the tokens, joined by single spaces.

    >>> normalise_answer("  An   Eiffel—Tower! ")
    'eiffeltower'
    """
    return " ".join(tokens(text))
