r"""Options that a question lists.

"Which is it? (A) Rome (B) Paris"     A is Rome, B is Paris, and `Which is it?` is asked
"Which is it?\n1. Rome\n2. Paris"     the same, with 1 and 2
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from adjudge.judges.local._reading.words import ARTICLES, LONGEST, stem, words

_KEPT = 4000  # characters of a question that is worth keeping
_LONGEST = 400  # characters of an option
_MOST = 26  # options
_LABELS = 200  # what looks like one, in a question
_SECOND = re.compile(r"[Bb2](?:[)\]]|[.:]\**\s|\s[-–—]\s)")  # what every list of options has: `B)`, `2. `, `b - `
_LABEL = re.compile(
    r"(?:^|(?<=[\s,;?/|]))([(\[]?)([A-Za-z]|\d{1,2})([)\]]|[.:](?=\s)|(?:(?<=^\w)|(?<=\n\w)) [-–—](?=\s))", re.MULTILINE
)
_TAIL = re.compile(
    r"[.?]\s+(?=(?:Answer|Choose|Select|Pick|Give|Reply|Respond|Explain|Think|Please|Only|Write|Which|What)\b)"
)
_MARKS = " ,;.?/|•-–\n\t\r"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question, by their labels in capitals; and the question without them."""

    question: str
    texts: Mapping[str, str]
    labels: Mapping[str, str]  # by the stems of the text
    is_lettered: bool  # labels are letters, and no text has one of them as a word


def options_of(question: str) -> Options | None:
    """Return the options that a question lists; the same question is read once.

    >>> found = options_of("Was it (a) a virus, (b) a fungus, or (c) both?")
    >>> dict(found.texts), found.question
    ({'A': 'a virus', 'B': 'a fungus', 'C': 'both'}, 'Was it')
    >>> options_of("Who is John B. Goode?") is None
    True
    """
    return _cached(question) if len(question) <= _KEPT else _read(question[:LONGEST])


def _read(question: str) -> Options | None:
    if _SECOND.search(question) is None:
        return None
    question = question.replace("**", "")
    found = list(islice(_LABEL.finditer(question), _LABELS))
    chain = max((_chain(found[at:]) for at in range(len(found))), key=_rank, default=[])
    if len(chain) < 2 or _rank(chain)[0] < 0:
        return None
    last = question[chain[-1].end() :]
    end = min(at for at in (last.find("\n", 1), _cut(last), len(last)) if at >= 0)
    ends = [*(label.start() for label in chain[1:]), chain[-1].end() + end]
    texts = {
        label[2].upper(): _without_joint(question[label.end() : at]) for label, at in zip(chain, ends, strict=True)
    }
    labels = {padded(text): label for label, text in texts.items()}
    if len(labels) < len(texts) or not all(0 < len(text) <= _LONGEST for text in texts.values()):
        return None
    if any(text.upper() in texts for text in texts.values()):
        # `1. 4  2. 3`: nothing shows whether 4 is a label or a text.
        return None
    is_letter = chain[0][2].isalpha()
    if not is_letter and any(text[0].isdigit() for text in texts.values()):
        return None
    is_lettered = is_letter and not any(word in texts for text in texts.values() for word in text.split())
    return Options(f"{question[: chain[0].start()].strip()}{last[end:]}", texts, labels, is_lettered)


_cached = lru_cache(maxsize=1024)(_read)


def _without_joint(text: str) -> str:
    """Return an option without what joins it to the next one: `Rome, or`."""
    return text.rstrip(_MARKS).removesuffix(" and").removesuffix(" or").rstrip(_MARKS).lstrip()


def _cut(last: str) -> int:
    """Return where the last option ends and an instruction begins, or -1."""
    found = _TAIL.search(last)
    return -1 if found is None else found.start()


def _chain(found: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Return labels that follow on from the first one, written as it is: A), B), C)."""
    chain = [found[0]]
    if found[0][2] not in ("A", "a", "1"):
        return []
    for one in found[1:]:
        last = chain[-1]
        if (one[1], one[3]) == (last[1], last[3]) and one[2] == _next(last[2]) and len(chain) < _MOST:
            chain.append(one)
    return chain


def _next(label: str) -> str:
    return str(int(label) + 1) if label.isdigit() else chr(ord(label) + 1)


def _rank(chain: Sequence[re.Match[str]]) -> tuple[int, int]:
    """Return how surely labels are those of options: letters more than numbers, a mark that ends sentences less."""
    if not chain:
        return -1, 0
    is_letter, is_weak = chain[0][2].isalpha(), not chain[0][1] and chain[0][3] in ".:"
    least = 2 if is_letter and chain[0][3] != ":" else 3 if is_weak else 2
    return (is_letter if len(chain) >= least else -1), len(chain)


def padded(text: str) -> str:
    """Return the stems of a text in their order, without articles, if it has others."""
    plain = words(text)
    return f" {' '.join([stem(word) for word in plain if word not in ARTICLES] or plain)} "
