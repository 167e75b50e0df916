"""Responses cut at so many tokens: by the tokenizer that is given, or by one that needs no download.

cut("The car is red.", WordTokenizer(), 3) == "The car is"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from inspect import signature
from itertools import islice
from typing import Any, Protocol

from adjudge.errors import UsageError

# Content alone: no start or end marks, and no text is taken for a mark.
_PLAIN: dict[str, dict[str, Any]] = {
    "encode": {"add_special_tokens": False, "disallowed_special": ()},
    "decode": {"skip_special_tokens": True},
}


class Tokenizer(Protocol):
    """Whatever turns text into tokens and back: those of `tokenizers`, `transformers` and `tiktoken` all do."""

    def encode(self, text: str, /) -> Any:
        """Return the tokens, or an object that has them as `ids`."""
        ...

    def decode(self, tokens: Any, /) -> str:
        """Return the text of tokens."""
        ...


class WordTokenizer:
    """Words and punctuation by a fixed rule, version 1.

    A token is a character of Chinese, Japanese or Korean writing; or up to 16 other letters or digits that stand
    together; or any other character that is no white space. White space belongs to the token after it.

    >>> WordTokenizer().encode("It's a red  car.")
    ['It', "'", 's', ' a', ' red', '  car', '.']
    >>> WordTokenizer().decode(['It', "'", 's', ' a'])
    "It's a"
    """

    name = "words-1"
    _token = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_]{1,16}|[^\s]")

    def encode(self, text: str, most: int | None = None) -> list[str]:
        """Return the tokens, at most so many; what stands after the last one is white space."""
        tokens: list[str] = []
        at = 0
        for found in islice(self._token.finditer(text), most):
            tokens.append(text[at : found.end()])
            at = found.end()
        return tokens

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens."""
        return "".join(tokens)


def name_of(tokenizer: Tokenizer) -> str:
    """Return what outputs call a tokenizer.

    >>> name_of(WordTokenizer())
    'words-1'
    """
    for attribute in ("name", "name_or_path"):
        name = getattr(tokenizer, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(tokenizer).__qualname__


def check(tokenizer: Tokenizer) -> None:
    """Raise `UsageError` if this is no tokenizer."""
    for name in ("encode", "decode"):
        if not callable(getattr(tokenizer, name, None)):
            raise UsageError(f"a {type(tokenizer).__name__} is no tokenizer: it has no {name}", code="bad-tokenizer")


def cut(text: str, tokenizer: Tokenizer, most: int) -> str:
    """Return the text, or its first tokens where it has more than `most` of them.

    >>> cut("I think that it is red", WordTokenizer(), 3), cut(" red ", WordTokenizer(), 3)
    ('I think that', ' red ')
    """
    tokens = tokens_of(text, tokenizer, most + 1)
    return text if len(tokens) <= most else str(_plainly(tokenizer.decode, "decode", tokens[:most]))


def tokens_of(text: str, tokenizer: Tokenizer, most: int | None = None) -> Sequence[Any]:
    """Return the content tokens of a text; those after `most` may be left out."""
    if isinstance(tokenizer, WordTokenizer):
        return tokenizer.encode(text, most)
    found = _plainly(tokenizer.encode, "encode", text)
    tokens: Sequence[Any] = getattr(found, "ids", found)
    return tokens


def _plainly(method: Callable[..., Any], name: str, argument: Any) -> Any:
    """Call a tokenizer's method with those of our settings that it knows."""
    try:
        known = set(signature(method).parameters)
    except (TypeError, ValueError):  # some compiled functions do not say
        known = set()
    return method(argument, **{key: value for key, value in _PLAIN[name].items() if key in known})
