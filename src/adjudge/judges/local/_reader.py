"""The reader: which span of a response is given as the answer to the question, or that none is.

"Karlo, who lost to Ana Sol in the final" to "Who won?"  ->  "Ana Sol"
"I could not find that."                                  ->  none

MiniLM-L6 in whole numbers, fine-tuned on spans of text that answer questions (training/span_rows.py). Needs
`adjudge[local]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from adjudge.judges.local._encoder import ends, tokens_with_places
from adjudge.judges.local._sequence import CLS, LONGEST_QUESTION, REFERENCES, SEP, cut, plain

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

LONGEST_SAID = 184
"""Tokens of a response that are read: two thirds from its beginning, the rest from its end."""
RESPONSE = 2
"""The segment of the response."""
SAID = ("said_there", "said_belief", "said_sure", "said_none", "said_odds", "said_right", "said_size")
"""What is made of what a response asserts: whether a reference stands in the response, how much the reader believes in
it there, how sure it is that anything is asserted, that nothing is, tier 0's opinion of what is, and its length."""

LONGEST_SPAN = 30
"""Tokens of an answer."""
_LEAST = -1e4

_MOST_PLACES = 8  # of one reference
_WORD = re.compile(r"[^\W_]+")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A question and a response as the reader takes them; `places` says where a token stands in the response."""

    tokens: list[int]
    segments: list[int]
    places: list[Place | None]


def encode(question: str, response: str) -> Encoded:
    """Return a question and a response as tokens."""
    asked = cut(tokens_with_places(question)[0], LONGEST_QUESTION)
    said, places = tokens_with_places(response)
    if len(said) > LONGEST_SAID:
        head = LONGEST_SAID * 2 // 3
        tail = len(said) - (LONGEST_SAID - head)
        said, places = [*said[:head], *said[tail:]], [*places[:head], *places[tail:]]
    before = len(asked) + 2
    return Encoded(
        [CLS, *asked, SEP, *said, SEP],
        [0] * before + [RESPONSE] * (len(said) + 1),
        [*([None] * before), *places, None],
    )


@dataclass(frozen=True, slots=True)
class Asserted:
    """What a response gives as its answer: a text, or None where it gives none.

    `sure` is by how much its best span beats none, in log-odds.
    """

    text: str | None
    sure: float
    odds: Array
    """For each first token (row) and last token (column) the log-odds that the span between them is the answer."""
    none: float
    """The log-odds that nothing is asserted."""
    places: tuple[Place | None, ...]
    """Where each token stands in the response; None for tokens of the question."""

    def belief(self, wanted: Sequence[Place]) -> float:
        """Return by how much the best span that touches one of some places beats all others, and none."""
        import numpy as np

        touched = [
            place is not None and any(place[0] < end and start < place[1] for start, end in wanted)
            for place in self.places
        ]
        before = np.concatenate([[0], np.cumsum(touched)])
        inside = before[None, 1:] > before[:-1, None]
        best = float(np.where(inside, self.odds, _LEAST).max())
        other = float(np.where(inside, _LEAST, self.odds).max())
        return best - max(other, self.none)


def read_many(rows: Sequence[tuple[str, str]]) -> list[Asserted]:
    """Return what each response gives as its answer to its question.

    >>> rows = [("Who won?", "Karlo came second, behind Ana Sol, who won."), ("Who won?", "I could not find that.")]
    >>> [one.text for one in read_many(rows)]
    ['Ana Sol', None]
    """
    texts = [(plain(question), plain(response)) for question, response in rows]
    read = [encode(*row) for row in texts]
    found = ends([(one.tokens, one.segments) for one in read])
    return [asserted_by(response, one, logits) for (_, response), one, logits in zip(texts, read, found, strict=True)]


def asserted_by(response: str, read: Encoded, logits: Array) -> Asserted:
    """Return what a response asserts, by the reader's two logits of each token."""
    import numpy as np

    size = len(read.places)
    odds = logits[:, 0][:, None] + logits[:, 1][None, :]
    at = np.arange(size)
    ahead = at[None, :] - at[:, None]
    said = np.array([place is not None for place in read.places])
    odds = np.where((ahead >= 0) & (ahead < LONGEST_SPAN) & said[:, None] & said[None, :], odds, _LEAST)
    none = float(logits[0, 0] + logits[0, 1])
    best = int(odds.argmax())
    first, last = (read.places[place] for place in divmod(best, size))
    sure = float(odds.max()) - none
    text = response[first[0] : last[1]] if first is not None and last is not None and sure > 0 else None
    return Asserted(text, sure, odds, none, tuple(read.places))


def places_of(references: Sequence[str], response: str) -> list[Place]:
    """Return where references stand in a response, word for word, whatever is between the words.

    >>> places_of(["New York", "NYC"], "In New  York (NYC).")
    [(3, 12), (14, 17)]
    """
    text = plain(response)
    found = []
    for reference in references[:REFERENCES]:
        parts = [re.escape(word) for word in _WORD.findall(plain(reference))]
        if parts:
            pattern = re.compile(rf"(?<!\w){'[^a-zA-Z0-9]+'.join(parts)}(?!\w)", re.IGNORECASE)
            found += [(match.start(), match.end()) for match in islice(pattern.finditer(text), _MOST_PLACES)]
    return found
