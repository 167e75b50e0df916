r"""Questions that list options, and answers that are a letter: what an answer chooses by label, by text, or by both.

"Which is it? (A) Rome (B) Paris"     A is Rome, B is Paris, and `Which is it?` is asked
"B", "b)", "Option B", "B. Paris", "Paris", "The answer is Paris."     B
"B. Rome", "A: Paris"                 none: label and text are at odds
"type AB negative"                    the letter AB-, where no options are listed
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from adjudge.judges.local._limits import LONGEST, PART, REFERENCES, SHORT
from adjudge.judges.local._pair import Candidate, Decision, Question, read_question
from adjudge.judges.local._words import ARTICLES, DENIALS, evened, stem, words
from adjudge.text import fold

_LONGEST = 800  # characters of an answer that is read as a choice
_OPTION = 400  # characters of an option
_LABELS = 200  # what looks like one, in a question
_MOST = 26  # options

_SECOND = re.compile(r"[Bb2](?:[)\]]|[.:]\**\s|\s[-–—]\s)")  # what every list of options has: `B)`, `2. `, `b - `
_LABEL = re.compile(
    r"(?:^|(?<=[\s,;?/|]))([(\[]?)([A-Za-z]|\d{1,2})([)\]]|[.:](?=\s)|(?:(?<=^\w)|(?<=\n\w)) [-–—](?=\s))", re.MULTILINE
)
_TAIL = re.compile(
    r"[.?]\s+(?=(?:Answer|Choose|Select|Pick|Give|Reply|Respond|Explain|Think|Please|Only|Write|Which|What)\b)"
)
_MARKS = " ,;.?/|•-–\n\t\r"
_EMPHASIS = re.compile(r"\\(?:boxed|text|textbf|mathrm|mathbf)\b|[*_`${}]")
_FRAME = re.compile(
    r"[\s:\"']*(?:\b(?:the|correct|right|final|best|my|answers?|options?|choices?|letters?|numbers?|statements?|is|are"
    r"|was|were|its|it['’]s|it|they|that['’]s|both|i['’]d|i|would|will|should|choose|pick|select|go with|go for|say"
    r"|think|believe|must be|be|a|an|type|grade|solution)\b[\s:\"']*)+",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*(?:[,;&/\n]|\b(?:and|or)\b)\s*(?:(?:and|or)\b\s*)?", re.IGNORECASE)
_OR = re.compile(r"\bor\b|/", re.IGNORECASE)
_ONE = re.compile(r"[(\[]?([A-Za-z]|\d{1,2})[)\].:]*")
_BOTH = re.compile(r"([(\[]?)([A-Za-z]|\d{1,2})([)\].:]*)\s*([-–—=,:]?)\s+(\S.*)", re.DOTALL)
_DOUBTED = re.compile(
    r"\b(?:rul(?:e|es|ed|ing) out|wrong|incorrect|false|except|unlike|instead|rather than|doubt|reject)", re.IGNORECASE
)

_SIGNED = r"[A-Z](?:\+{1,2}|[#-])?|[A-Z]{2}[+-]"  # `B`, `C++`, `F#`, `AB-`
_ENDS = r"(?![\w+#'’])(?!(?<=\bA)\s(?!(?:or|and|is|was|because|since|but|as|not)\b)[a-z])"  # `A bird` is no letter
_LETTER = re.compile(rf"\W*?({_SIGNED}|[a-z])[\s).\]:]*")
_ANY = re.compile(rf"(?<![\w'’°])({_SIGNED}){_ENDS}")
_GIVEN = re.compile(
    r"\b(?i:answer|option|choice|letter|grade|type|solution|pick|choose|select)\b(?i:\s(?:is|was|would be))?"
    rf"\s?:?\s?[(\[\"']*({_SIGNED}){_ENDS}"
)
_SIGNS = re.compile(r"\b([A-Za-z]{1,2})[ -](positive|plus|negative|minus|sharp)\b", re.IGNORECASE)
_SIGN = {"positive": "+", "plus": "+", "negative": "-", "minus": "-", "sharp": "#"}

Choices = frozenset[str]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question, by their labels in capitals; and the question without them."""

    question: str
    texts: Mapping[str, str]
    labels: Mapping[str, str]  # by the stems of the text
    is_lettered: bool  # labels are letters, and no text has one of them as a word


@lru_cache(maxsize=256)
def options_of(question: str) -> Options | None:
    """Return the options that a question lists; the same question is read once.

    >>> found = options_of("Was it (a) a virus, (b) a fungus, or (c) both?")
    >>> dict(found.texts), found.question
    ({'A': 'a virus', 'B': 'a fungus', 'C': 'both'}, 'Was it')
    >>> options_of("Who is John B. Goode?") is None
    True
    """
    question = question[:LONGEST]
    if _SECOND.search(question) is None:
        return None
    question = question.replace("**", "")
    found = list(islice(_LABEL.finditer(question), _LABELS))
    chain = max((_chain(found[at:]) for at in range(len(found))), key=_rank, default=[])
    if len(chain) < 2 or _rank(chain)[0] < 0:
        return None

    # The last option ends with its line, or where an instruction begins.
    last = question[chain[-1].end() :]
    tail = _TAIL.search(last)
    end = min(at for at in (last.find("\n", 1), tail.start() if tail else -1, len(last)) if at >= 0)
    ends = [*(label.start() for label in chain[1:]), chain[-1].end() + end]
    texts = {}
    for label, at in zip(chain, ends, strict=True):
        text = question[label.end() : at].rstrip(_MARKS)
        texts[label[2].upper()] = text.removesuffix(" and").removesuffix(" or").rstrip(_MARKS).lstrip()

    labels = {_padded(text): label for label, text in texts.items()}
    if len(labels) < len(texts) or not all(0 < len(text) <= _OPTION for text in texts.values()):
        return None
    is_letter = chain[0][2].isalpha()
    # `1. 4  2. 3`: nothing shows whether 4 is a label or a text.
    if any(text.upper() in texts or (not is_letter and text[0].isdigit()) for text in texts.values()):
        return None
    is_lettered = is_letter and not any(word in texts for text in texts.values() for word in text.split())
    return Options(f"{question[: chain[0].start()].strip()}{last[end:]}", texts, labels, is_lettered)


def _chain(found: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Return labels that follow on from the first one, written as it is: A), B), C)."""
    chain = [found[0]]
    if found[0][2] not in ("A", "a", "1"):
        return []
    for one in found[1:]:
        last = chain[-1]
        following = str(int(last[2]) + 1) if last[2].isdigit() else chr(ord(last[2]) + 1)
        if (one[1], one[2], one[3]) == (last[1], following, last[3]) and len(chain) < _MOST:
            chain.append(one)
    return chain


def _rank(chain: Sequence[re.Match[str]]) -> tuple[int, int]:
    """Return how surely labels are those of options: letters more than numbers, a mark that ends sentences less."""
    if not chain:
        return -1, 0
    is_letter, is_weak = chain[0][2].isalpha(), not chain[0][1] and chain[0][3] in ".:"
    least = 2 if is_letter and chain[0][3] != ":" else 3 if is_weak else 2
    return (is_letter if len(chain) >= least else -1), len(chain)


def _padded(text: str) -> str:
    """Return the stems of a text in their order, without articles, if it has others."""
    plain = words(text)
    return f" {' '.join([stem(word) for word in plain if word not in ARTICLES] or plain)} "


def by_option(options: Options, references: Sequence[str], candidate: Candidate) -> Decision | None:
    """Judge by the options that references and candidate choose; None where one of them does not do so plainly."""
    accepted = _accepted(options, references)
    if not accepted:
        return None
    labels = frozenset[str]().union(*accepted)
    is_several, is_open = len(labels) > len(accepted), _OR.search(candidate.text) is not None
    given = chosen(options, candidate.text, is_several=any(len(one) > 1 for one in accepted))
    if given is not None:
        return _compared(given, accepted, is_open=is_open)

    # A candidate that says more settles on a letter, or has the text of one option.
    named = letters_in(candidate.text[:LONGEST]) if is_several and options.is_lettered else frozenset()
    letter = None
    if options.is_lettered and not is_several:
        letter = by_letter(read_question(options.question), labels, candidate)
    if letter is not None or not DENIALS.isdisjoint(candidate.plain) or _DOUBTED.search(candidate.text):
        return letter
    if is_several:
        return _compared(named, accepted, is_open=is_open) if named and named <= options.texts.keys() else None
    there = [one for one in options.labels if one in candidate.padded]
    # The text of an option may be part of a longer one.
    whole = {options.labels[one] for one in there if not any(one != other and one in other for other in there)}
    is_other = whole and whole.isdisjoint(labels) and len(candidate.plain) <= SHORT
    return (False, "other-option") if is_other else None


def _accepted(options: Options, references: Sequence[str]) -> frozenset[Choices]:
    """Return what references choose, each by itself; a reference that is not an option says nothing."""
    found = (chosen(options, text, is_several=True) for text in references[:REFERENCES])
    return frozenset(one for one in found if one)


def spoken(question: str, references: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return a question without its options, and references with the text of an option for its label.

    >>> spoken("Which is it? (A) Rome (B) Paris", ("B",))
    ('Which is it?', ('Paris',))
    """
    options = options_of(question)
    accepted = frozenset() if options is None else _accepted(options, references)
    if options is None or not accepted:
        return question, references
    texts = [", ".join(options.texts[label] for label in sorted(one)) for one in sorted(accepted, key=sorted)]
    others = [text for text in references[:REFERENCES] if not chosen(options, text, is_several=True)]
    return options.question, tuple(dict.fromkeys([*texts, *others, *references[REFERENCES:]]))


def _compared(given: Choices, accepted: frozenset[Choices], *, is_open: bool) -> Decision:
    every = frozenset[str]().union(*accepted)
    if is_open and len(given) > 1:
        return False, "hedged"
    if given in accepted or (given and given <= every and all(len(one) == 1 for one in accepted)):
        return True, "option"
    if given and any(given < one for one in accepted):
        return False, "list-incomplete"
    return False, "many-answers" if any(one < given for one in accepted) else "other-option"


def chosen(options: Options, text: str, *, is_several: bool = False) -> Choices | None:
    """Return the options that a text is made of: none where label and text are at odds, None where it says more.

    >>> found = options_of("Which? (A) Rome (B) Paris (C) Bern")
    >>> [sorted(chosen(found, text)) for text in ("b", "It is Paris.", "A, C", "B. Rome")], chosen(found, "Oslo")
    ([['B'], ['B'], ['A', 'C'], []], None)
    """
    if len(text) > _LONGEST:
        return None
    text = _EMPHASIS.sub("", fold(evened(text))).strip()
    whole = _choice(options, text)
    if whole is not None:
        return whole
    # For example `BD`, `B D`.
    letters = "".join(text.replace("+", "").split()).upper()
    if is_several and 1 < len(letters) == len(set(letters)) and options.texts.keys() >= set(letters):
        return frozenset(letters)
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
        plain = words(part)
        if len(plain) == 1 and plain[0] in options.texts:
            return frozenset(plain)
        found = _beside(options, part)
        if found is None and _padded(part) in options.labels:
            return frozenset((options.labels[_padded(part)],))
        if found is not None:
            return found
    return None


def _unframed(text: str) -> Iterator[str]:
    """Yield a text, and what is left of it without words such as `the answer is`."""
    text = text.strip(" .!\n\"'")
    yield text
    frame = _FRAME.match(text)
    if frame is not None and frame.end() < len(text):
        yield text[frame.end() :]


def _beside(options: Options, text: str) -> Choices | None:
    """Return the option of a text that has a label before it, `B. Paris`; none if label and text are at odds."""
    both = _BOTH.fullmatch(text)
    if both is None or both[2].upper() not in options.texts:
        return None
    label, is_marked, stems = both[2].upper(), bool(both[3] or both[4]), _padded(both[5])
    # The `A` of `A virus` is an article, not a label.
    if not is_marked and (both[2].islower() or label == "A"):
        return None
    other = options.labels.get(stems)
    if other is not None:
        return frozenset((label,) if other == label else ())
    begun = [one for one in options.labels if stems.startswith(one)] if is_marked else []
    return frozenset() if begun and options.labels[max(begun, key=len)] != label else None


def letter_of(references: Sequence[str]) -> frozenset[str]:
    """Return the letters that are accepted, if nothing else is; else none.

    >>> sorted(letter_of(["(B)"])), sorted(letter_of(["C++", "D"])), sorted(letter_of(["A", "Paris"]))
    (['B'], ['C++', 'D'], [])
    """
    found: set[str] = set()
    for text in references[:REFERENCES]:
        # A letter after a hyphen is the option of a command.
        is_short = len(text) <= SHORT and text[:1] != "-"
        match = _LETTER.fullmatch(_signed(text)) if is_short else None
        if match is None:
            return frozenset()
        found.add(match[1].upper())
    return frozenset(found)


def by_letter(asked: Question, accepted: frozenset[str], candidate: Candidate) -> Decision | None:
    """Judge a response by its letter where a letter is accepted; None where it gives none, or none is accepted.

    Where several things are asked for, other letters beside it are not a choice.
    """
    if not accepted:
        return None
    text = _signed(candidate.text[:PART])
    alone = [match[1].upper() for part in _unframed(text) if (match := _LETTER.fullmatch(part)) is not None]
    given = frozenset(alone[:1] or _GIVEN.findall(text))
    if not given:
        given = letters_in(text)
        if not given or (asked.wants_list and not given.isdisjoint(accepted)) or _DOUBTED.search(text):
            return None
        if not DENIALS.isdisjoint(candidate.plain):
            return (False, "negated") if given <= accepted else None
    if given.isdisjoint(accepted):
        return False, "other-letter"
    if given <= accepted:
        return True, "letter"
    return False, "many-answers" if len(given) > 2 or text.count(",") > 1 else "hedged"


def letters_in(text: str) -> frozenset[str]:
    """Return the capital letters that stand by themselves in a text, but for articles and the first person."""
    return frozenset(_ANY.findall(text)) - {"I"}


def _signed(text: str) -> str:
    """Return a text with signs in one spelling, and without marks of emphasis: `AB negative` is `AB-`."""
    text = fold(text).replace("\u2212", "-").replace("\u2013", "-").replace("*", "").strip()
    return _SIGNS.sub(lambda match: match[1].upper() + _SIGN[match[2].lower()], text)
