r"""Options that a question lists, and which of them an answer chooses: by label, by text, or by both.

"Which is it? (A) Rome (B) Paris"     A is Rome, B is Paris, and `Which is it?` is asked
"B", "b)", "Option B", "B. Paris", "Paris", "Paris (B)", "The answer is Paris."     B
"B. Rome", "A: Paris"                                                               none: label and text are at odds
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from adjudge.judges.local._candidate import Candidate, read_question
from adjudge.judges.local._letters import DOUBTED, by_letter
from adjudge.judges.local._words import ARTICLES, DENIALS, LONGEST, stem, words
from adjudge.text import fold

_KEPT = 4000  # characters of a question that is worth keeping
_LONGEST = 400  # characters of an option, and of an answer that is read as a choice
_LOOKED_AT = 50  # references
_MOST = 26  # options
_LABELS = 200  # what looks like one, in a question
_SENTENCE = 20  # words of an answer that names another option and says little else
_SECOND = re.compile(r"[Bb2][).:\]]\s")
_LABEL = re.compile(r"(?:^|(?<=[\s,;?]))([(\[]?)([A-Za-z]|\d{1,2})([).:\]])(?=\s)", re.MULTILINE)
_TAIL = re.compile(
    r"[.?]\s+(?=(?:Answer|Choose|Select|Pick|Give|Reply|Respond|Explain|Think|Please|Only|Write|Which|What)\b)"
)
_MARKS = " ,;.?\n\t\r"
_EMPHASIS = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)\b|[*_`${}]")
_FRAME = re.compile(
    r"[\s:\"']*(?:\b(?:the|correct|right|final|best|my|answers?|options?|choices?|letters?|numbers?|statements?|is|are"
    r"|was|were|its|it['’]s|it|they|that['’]s|both|i['’]d|i|would|will|should|choose|pick|select|go with|go for|say"
    r"|think|believe|must be|be)\b[\s:\"']*)+",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*(?:[,;&/\n]|\b(?:and|or)\b)\s*(?:(?:and|or)\b\s*)?", re.IGNORECASE)
_OR = re.compile(r"\bor\b|/", re.IGNORECASE)
_ONE = re.compile(r"[(\[]?([A-Za-z]|\d{1,2})[)\].:]*")
_BOTH = re.compile(r"([(\[]?)([A-Za-z]|\d{1,2})([)\].:]*)\s*([-–—=,:]?)\s+(\S.*)", re.DOTALL)
_AFTER = re.compile(r"(\S.*?)[\s,]*[(\[]([A-Za-z]|\d{1,2})[)\]]", re.DOTALL)
_NUMBERED = re.compile(
    r"\b(?:answer|option|choice|number)(?:\s+is)?(?:\s+(?:option|number))?\s*:?\s*\(?(\d{1,2})\b(?![.,]\d)",
    re.IGNORECASE,
)

Choices = frozenset[str]
Judged = tuple[bool, str]


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
    labels = {_padded(text): label for label, text in texts.items()}
    if len(labels) < len(texts) or not all(0 < len(text) <= _LONGEST for text in texts.values()):
        return None
    if any(text.upper() in texts for text in texts.values()):
        return None  # `1. 4  2. 3`: whether 4 is a label or a text cannot be told
    is_letter = chain[0][2].isalpha()
    if not is_letter and any(text[0].isdigit() for text in texts.values()):
        return None
    is_lettered = is_letter and not any(word in texts for text in texts.values() for word in text.split())
    return Options(f"{question[: chain[0].start()].strip()}{last[end:]}", texts, labels, is_lettered)


_cached = lru_cache(maxsize=1024)(_read)


def _without_joint(text: str) -> str:
    """Return an option without what joins it to the next one: `Rome, or`."""
    return text.rstrip(_MARKS).removesuffix(" and").removesuffix(" or").strip(_MARKS)


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


def by_option(options: Options, references: Sequence[str], candidate: Candidate) -> Judged | None:
    """Judge by the options that references and candidate choose; None where one of them does not do so plainly."""
    accepted = accepted_in(options, references)
    if not accepted:
        return None
    given = chosen(options, candidate.text, is_several=any(len(one) > 1 for one in accepted))
    if given is None:
        return _in_words(options, accepted, candidate)
    return _compared(given, accepted, is_open=_OR.search(candidate.text) is not None)


def accepted_in(options: Options, references: Sequence[str]) -> frozenset[Choices]:
    """Return what references choose, each by itself; a reference that is no option says nothing."""
    found = (chosen(options, text, is_several=True) for text in references[:_LOOKED_AT])
    return frozenset(one for one in found if one)


def spoken(question: str, references: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return a question without its options, and references with the text of an option for its label.

    >>> spoken("Which is it? (A) Rome (B) Paris", ("B",))
    ('Which is it?', ('Paris',))
    """
    options = options_of(question)
    accepted = frozenset() if options is None else accepted_in(options, references)
    if options is None or not accepted:
        return question, references
    texts = [", ".join(options.texts[label] for label in sorted(one)) for one in sorted(accepted, key=sorted)]
    others = [text for text in references if not chosen(options, text, is_several=True)]
    return options.question, tuple(dict.fromkeys([*texts, *others]))


def _compared(given: Choices, accepted: frozenset[Choices], *, is_open: bool) -> Judged:
    every = frozenset[str]().union(*accepted)
    if is_open and len(given) > 1:
        return False, "hedged"
    if given in accepted or (given and given <= every and all(len(one) == 1 for one in accepted)):
        return True, "option"
    if given and any(given < one for one in accepted):
        return False, "list-incomplete"
    return False, "many-answers" if any(one < given for one in accepted) else "other-option"


def _in_words(options: Options, accepted: frozenset[Choices], candidate: Candidate) -> Judged | None:
    """Judge a candidate that says more: by the letter that it settles on, or the one option that it has the text of."""
    labels = frozenset[str]().union(*accepted)
    if len(labels) > len(accepted):
        return None
    if options.is_lettered:
        letter = by_letter(read_question(options.question), labels, candidate)
        if letter is not None:
            return letter
    if not DENIALS.isdisjoint(candidate.plain) or DOUBTED.search(candidate.text) is not None:
        return None
    numbers = frozenset(_NUMBERED.findall(candidate.text[:LONGEST])) & options.texts.keys()
    if numbers:
        return _compared(numbers, accepted, is_open=False)
    named = _named(options, candidate.padded)
    if named and named.isdisjoint(labels) and len(candidate.plain) <= _SENTENCE:
        return False, "other-option"
    return None


def _named(options: Options, padded: str) -> Choices:
    """Return the options whose text stands in a text, and not in that of a longer one that does."""
    there = [one for one in options.labels if one in padded]
    return frozenset(options.labels[one] for one in there if not any(one != other and one in other for other in there))


def chosen(options: Options, text: str, *, is_several: bool = False) -> Choices | None:
    """Return the options that a text is made of: none where label and text are at odds, None where it says more.

    >>> found = options_of("Which? (A) Rome (B) Paris (C) Bern")
    >>> [sorted(chosen(found, text)) for text in ("b", "It is Paris.", "A, C", "B. Rome")], chosen(found, "Oslo")
    ([['B'], ['B'], ['A', 'C'], []], None)
    """
    if len(text) > 2 * _LONGEST:
        return None
    text = _EMPHASIS.sub("", fold(text)).strip()
    if is_several and text.isupper() and 1 < len(text) == len(set(text)) and options.texts.keys() >= set(text):
        return frozenset(text)
    whole = _choice(options, text)
    if whole is not None:
        return whole
    parts = [_choice(options, part) for part in _PARTS.split(text.strip("[](){} .")) if part.strip()]
    if len(parts) < 2 or None in parts:
        return None
    known = [one for one in parts if one is not None]
    return frozenset[str]().union(*known) if all(known) else frozenset()


def _choice(options: Options, text: str) -> Choices | None:
    """Return the option that a text is, as `chosen` does."""
    for part in _unframed(text):
        one = _ONE.fullmatch(part)
        if one is not None and one[1].upper() in options.texts:
            return frozenset((one[1].upper(),))
        found = _beside(options, part)
        label = options.labels.get(_padded(part)) if found is None else None
        if label is not None:
            return frozenset((label,))
        if found is not None:
            return found
    return None


def _beside(options: Options, text: str) -> Choices | None:
    """Return the option of a text that has a label as well, `B. Paris` or `Paris (B)`; none if they are at odds."""
    both = _BOTH.fullmatch(text)
    if both is not None:
        is_marked = bool(both[3] or both[4])  # `a virus` has an article
        return _agreed(options, both[2], both[5], is_marked=is_marked) if is_marked or both[2].isupper() else None
    after = _AFTER.fullmatch(text)
    return None if after is None else _agreed(options, after[2], after[1], is_marked=False)


def _agreed(options: Options, label: str, text: str, *, is_marked: bool) -> Choices | None:
    """Return the option of a label, if the text beside it is that option's; none if it is another's."""
    label, padded = label.upper(), _padded(text)
    if label not in options.texts:
        return None
    other = options.labels.get(padded)
    if other is not None:
        return frozenset((label,) if other == label else ())
    begun = [one for one in options.labels if padded.startswith(one)]
    if is_marked and begun:
        return None if options.labels[max(begun, key=len)] == label else frozenset()
    return None


def _unframed(text: str) -> Iterator[str]:
    """Yield a text, and what is left of it without words such as `the answer is`."""
    text = text.strip(" .!\n\"'")
    yield text
    frame = _FRAME.match(text)
    if frame is not None and frame.end() < len(text):
        yield text[frame.end() :]


def _padded(text: str) -> str:
    plain = words(text)
    return f" {' '.join([stem(word) for word in plain if word not in ARTICLES] or plain)} "
