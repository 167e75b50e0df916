"""What the monitor reads off a row: its group, the length of its response and, of some rows, the text.

    {"question": "Capital of France?", "answer": "Paris", "final_response": "<answer>Paris</answer>"}
        ->  Observation(score, group="Capital of France?", length=22, text=ResponseText(...))

Every value is taken as it is: a row without a response, or with something strange in its place, has no text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from adjudge.errors import DataError
from adjudge.judges import is_vacuous
from adjudge.judges.columns import QUESTIONS, REFERENCES, RESPONSES, one_value, texts_of
from adjudge.text import extract_answer, normalise_answer, strip_thinking
from adjudge.text.refusals import declines

if TYPE_CHECKING:
    from adjudge.model import Context, Score

KEPT = 4000  # characters of a response, a question and a reference that are looked at
LEAST_WORDS = 12  # of the words of a text so many, those with the least checksums, stand for it
OPENING = 200  # who declines does it at once
COPIED = 0.8  # of the words of its question a copy has so many
ADDED = 0.1  # of the words of a copy at most so many are new
LARGEST_NUMBER = 1e300  # Python writes down no whole number of thousands of digits
LABELS = frozenset({"question", "query", "prompt", "input", "q"})
FEW_WORDS = 4  # a question of fewer words cannot be told from an answer
_FORM = re.compile(r"</?[a-zA-Z][^<>]{0,40}>|\\boxed|```|[{}\[\]]")
_THINKING = re.compile(r"</?think", re.IGNORECASE)
_ANSWER_FORM = re.compile(r"\\boxed|</answer", re.IGNORECASE)


class ResponseText(NamedTuple):
    """A response with what it is compared to."""

    response: str
    spoken: str  # the response without its thinking
    question: str
    references: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        """Return it as a row that a judge reads."""
        return {"question": self.question, "reference": list(self.references), "response": self.response}


class Observation(NamedTuple):
    """One row with its score; `text` only of the rows whose texts are looked at."""

    score: Score
    group: str | None
    length: int
    text: ResponseText | None


def observe(row: Any, score: Score, context: Context | None, *, with_text: bool) -> Observation:
    """Read a row."""
    if not isinstance(row, Mapping):
        return Observation(score, None, 0, None)
    response = _text(row, RESPONSES)
    question = _text(row, QUESTIONS) or ""
    group = getattr(context, "group_id", None)
    group = row.get("group_id") if group is None else group
    # As text, because a row's value need not be hashable.
    key = (question or None) if group is None else str(group)
    if response is None or not with_text:
        return Observation(score, key, len(response or ""), None)
    # Before anything is cut: the answer may begin in the middle.
    spoken = strip_thinking(response) if _THINKING.search(response) is not None else response
    text = ResponseText(_ends(response), _ends(spoken), question[:KEPT], _references(row))
    return Observation(score, key, len(response), text)


def refuses(text: ResponseText) -> bool:
    """Return whether the response declines, and a right one would not."""
    return declines(text.spoken[:OPENING]) and not any(map(declines, text.references))


def is_key(text: ResponseText) -> bool:
    """Return whether the response says nothing at all, as the keys do that open a judge: ":", "Solution:"."""
    return not _has_form(text.response) and is_vacuous(text.response, text.references)


def is_form_only(text: ResponseText) -> bool:
    """Return whether the response has tags, boxes or thinking, and nothing that could be an answer."""
    return _has_form(text.response) and is_vacuous(text.spoken, text.references)


def is_copy(text: ResponseText) -> bool:
    """Return whether the response is the question again and hardly a word more, and a right one would not be."""
    question = _words(text.question)
    # Where no right answer is known, a single new word may be it.
    added = ADDED if text.references else 0.0
    response = _words(text.spoken)
    if len(question) < FEW_WORDS or not _repeats(response, question, added):
        return False
    # "The capital of France is Paris." repeats its question too, and answers it.
    return not any(words <= response or _repeats(words, question, added) for words in map(_words, text.references))


def answer_key(text: ResponseText, near: tuple[int, ...]) -> object:
    """Return what stands for the answer of a response: what is in its box or tag, else the key of what it says.

    `near` is the key of the whole response. Where no right answer is known two short answers may both be right, and
    there is no key.
    """
    words = near if text.spoken in ("", text.response) else text_key(text.spoken)
    if not text.references:
        return words if len(words) == LEAST_WORDS else None
    if _ANSWER_FORM.search(text.spoken) is None:
        return words
    stated = extract_answer(text.spoken, "boxed") or extract_answer(text.spoken, "answer")
    return words if stated is None else normalise_answer(stated) or stated


def text_key(text: str) -> tuple[int, ...]:
    """Return what near-equal responses have in common: the least checksums of their words (Broder 1997).

    Two long texts that differ in a word have the same key more often than not, texts on different things never.
    """
    words = set(text.lower().encode("utf-8", "surrogatepass").split())
    return tuple(sorted(map(crc32, words))[:LEAST_WORDS])


def opener(text: ResponseText) -> str:
    """Return the first three words."""
    return " ".join(text.response[:200].lower().split(None, 3)[:3])


def reference_key(text: ResponseText) -> str | None:
    """Return what stands for the right answer: where none is known every question has its own."""
    # "a" is an answer, and an article, of which nothing is left.
    return (normalise_answer(text.references[0]) or text.references[0]) if text.references else text.question or None


def _has_form(response: str) -> bool:
    return _FORM.search(response) is not None


def _repeats(words: set[str], question: set[str], added: float) -> bool:
    new = len(words - question - LABELS)
    return new <= added * len(words) and len(words & question) >= COPIED * len(question)


def _words(text: str) -> set[str]:
    return set(normalise_answer(text).split())


def _ends(text: str) -> str:
    """Return the beginning and the end of a text that is too long to be looked at whole."""
    return text if len(text) <= KEPT else f"{text[: KEPT // 2]}\n{text[-KEPT // 2 :]}"


def _text(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return a text, or the content of the last message of a list of messages; None where there is neither."""
    _, value = one_value(row, names)
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and value:
        value = value[-1]
    if isinstance(value, Mapping):
        value = value.get("content")
    if isinstance(value, int | float) and abs(value) < LARGEST_NUMBER:
        return str(value)
    return value if isinstance(value, str) else None


def _references(row: Mapping[str, Any]) -> tuple[str, ...]:
    name, value = one_value(row, REFERENCES)
    if value is None:
        return ()
    try:
        return tuple(reference[:KEPT] for reference in texts_of(value, name)[:20])
    except DataError:
        return ()
