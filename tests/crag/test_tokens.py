"""Where responses are cut: by content tokens, without changing what is kept."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.crag._generate import WordTokenizer, check_tokenizer, cut, tokenizer_name, tokens_of
from adjudge.errors import UsageError
from support import assert_linear

WORDS = WordTokenizer()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("   ", []),
        ("red", ["red"]),
        (" It's 3.5 km. ", [" It", "'", "s", " 3", ".", "5", " km", "."]),
        ("well-known", ["well", "-", "known"]),
        ("snake_case", ["snake", "_", "case"]),
        ("a" * 40, ["a" * 16, "a" * 16, "a" * 8]),
        ("紅色の車", ["紅", "色", "の", "車"]),
        ("빨간 차", ["빨", "간", " 차"]),
        ("Ärger über Öl", ["Ärger", " über", " Öl"]),
        ("🚗🚗", ["🚗", "🚗"]),
    ],
)
def test_words(text: str, tokens: list[str]) -> None:
    """A token is a word or a piece of one, a sign, or a character of a script without spaces."""
    assert WORDS.encode(text) == tokens


@given(st.text(), st.integers(0, 12))
def test_a_cut_is_a_beginning(text: str, most: int) -> None:
    """What is kept is the beginning of the text, of at most so many tokens, and a short text is not touched."""
    kept = cut(text, WORDS, most)
    assert text.startswith(kept)
    assert len(WORDS.encode(kept)) <= most
    assert kept == text if len(WORDS.encode(text)) <= most else len(WORDS.encode(kept)) == most
    assert cut(kept, WORDS, most) == kept
    assert WORDS.decode(WORDS.encode(text)) == text.rstrip() or text != text.rstrip()


@pytest.mark.parametrize("piece", [" ", "a", "a ", "_", "\n\t"])
def test_long_texts(piece: str) -> None:
    """Time grows with the length of the text, and no faster."""
    assert_linear(lambda size: lambda: WORDS.encode(piece * size), 200_000)


class Encoding:
    """What some tokenizers return instead of the tokens."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids


class Marked:
    """A tokenizer that puts a mark before the text unless it is told not to, and refuses texts that look like one."""

    def encode(self, sequence: str, add_special_tokens: bool = True, disallowed_special: Any = "all") -> Encoding:
        """Return code points."""
        if disallowed_special == "all" and "<|end|>" in sequence:
            raise ValueError("a special token")
        return Encoding([0] * add_special_tokens + [ord(letter) for letter in sequence])

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        """Return the text, without marks."""
        return "".join(chr(code) for code in ids if code or not skip_special_tokens)


def test_content_alone_counts() -> None:
    """Marks at the beginning do not count, and a response that looks like one is text like any other."""
    assert cut("abcdef", Marked(), 3) == "abc"
    assert cut("abc", Marked(), 3) == "abc"
    assert cut("<|end|>abc", Marked(), 4) == "<|en"
    assert len(tokens_of("abc", Marked())) == 3


def test_names() -> None:
    """Outputs name a tokenizer by its name, its path, or its class."""
    assert tokenizer_name(WORDS) == "words-1"
    assert tokenizer_name(Marked()) == "Marked"

    class FromHub(Marked):
        name_or_path = "meta-llama/Llama-3.2-1B-Instruct"

    assert tokenizer_name(FromHub()) == "meta-llama/Llama-3.2-1B-Instruct"
    with pytest.raises(UsageError, match="got object without encode"):
        check_tokenizer(object())  # type: ignore[arg-type]
