"""What the sample system looks things up in: a handful of made-up documents, and a plain search over them."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

_WORD = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    {
        *("a", "about", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "had", "has"),
        *("have", "how", "i", "in", "is", "it", "its", "me", "of", "on", "one", "or", "tell", "that", "the", "their"),
        *("there", "this", "to", "was", "were", "what", "when", "where", "which", "who", "will", "with", "you"),
    }
)

Kind = Literal["report", "page"]


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage: where it is from, what it is about, and what it says."""

    id: str
    kind: Kind
    subject: str
    title: str
    text: str


@cache
def documents() -> tuple[Passage, ...]:
    """Return all documents."""
    import tomllib

    with Path(__file__).with_name("documents.toml").open("rb") as file:
        return tuple(Passage(**one) for one in tomllib.load(file)["documents"])


def words(text: str) -> list[str]:
    """Return the words to look for, in order.

    >>> words("How long is the crossing in 2024?")
    ['long', 'crossing', '2024']
    """
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP]


def search(query: str, kind: Kind, k: int = 2) -> list[Passage]:
    """Return at most `k` documents of a kind, the best first: those that share the rarest words with the query.

    >>> [one.id for one in search("North Bridge load limit 2023", "report", 1)]
    ['bridge-report-2023-p4']
    >>> search("zebra", "page")
    []
    """
    pool = [one for one in documents() if one.kind == kind]
    held = [set(words(f"{one.title} {one.text}")) for one in pool]
    counts = Counter(word for each in held for word in each)
    wanted = set(words(query))
    scores = [sum(math.log(1 + len(pool) / counts[word]) for word in sorted(wanted & each)) for each in held]
    order = sorted(range(len(pool)), key=lambda index: (-scores[index], index))
    return [pool[index] for index in order[:k] if scores[index] > 0]


class Sentence(NamedTuple):
    """A sentence that may answer, the id of its document, and how many words it shares with the question."""

    text: str
    source: str
    score: int


def best_sentence(query: str, found: Sequence[Passage]) -> Sentence | None:
    """Return the sentence that answers best; None where no document was found.

    The subject and the years say which document it is; the other words say which of its sentences.

    >>> best_sentence("North Bridge load limit 2023", search("North Bridge 2023", "report"))[0]
    'Its load limit was set to 18 tonnes because two bearings had worn.'
    """
    wanted = {word for word in words(query) if not word.isdigit()}
    named = subjects(query)
    candidates: list[Sentence] = []
    for one in [one for one in found if one.subject in named] or found:
        # Words of the subject are in every sentence of its document: they choose none.
        chosen = wanted - set(words(one.subject))
        texts = re.split(r"(?<=\.)\s+", one.text)
        candidates += [Sentence(text, one.id, len(chosen & set(words(text)))) for text in texts]
    return max(candidates, key=lambda one: one.score, default=None)


def subjects(text: str) -> list[str]:
    """Return the subjects that a text names in full, or by their last word alone if that is of one subject only.

    >>> subjects("When does the ferry leave?"), subjects("the bridge"), subjects("the North Bridge")
    (['Island Ferry'], [], ['North Bridge'])
    """
    known = dict.fromkeys(one.subject for one in documents())
    named = set(words(text))
    full = [one for one in known if set(words(one)) <= named]
    lasts = Counter(one.split()[-1].lower() for one in known)
    alone = [one for one in known if one.split()[-1].lower() in named and lasts[one.split()[-1].lower()] == 1]
    return list(dict.fromkeys([*full, *alone]))


def ambiguous(text: str) -> Sequence[str]:
    """Return the subjects that a word of the text could mean, where there are several and the text names none.

    >>> ambiguous("What is the load limit of the bridge?")
    ['North Bridge', 'Harbour Bridge']
    >>> ambiguous("What is the load limit of the North Bridge?")
    []
    """
    named = set(words(text))
    known = list(dict.fromkeys(one.subject for one in documents()))
    for word in words(text):
        meant = [one for one in known if one.split()[-1].lower() == word]
        if len(meant) > 1 and not any(one.split()[0].lower() in named for one in meant):
            return meant
    return []
