"""Which of a question's options an answer chooses: by label, by text, or by both.

Where B is Paris: "B", "b)", "Option B", "B. Paris", "Paris", "Paris (B)", "The answer is Paris."     B
"B. Rome", "A: Paris"     none: label and text are at odds
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from adjudge.judges.local._codes.letters import DOUBTED, by_letter, letters_in
from adjudge.judges.local._lists.options import Options, options_of, padded
from adjudge.judges.local._reading.candidate import Candidate, Decision, read_question
from adjudge.judges.local._reading.words import DENIALS, LONGEST, evened, words
from adjudge.text import fold

_LONGEST = 800  # characters of an answer that is read as a choice
_LOOKED_AT = 50  # references
_SENTENCE = 20  # words of an answer that names another option and says little else
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_ORDINAL = re.compile(rf"({'|'.join(_ORDINALS)}|last)\s(?:option|choice|one|answer|statement)", re.IGNORECASE)
_SQUEEZED = re.compile(r"[\s+]")
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
    r"\b(?:answer|option|choice|number)(?:\sis)?(?:\s(?:option|number))?:?\s?\(?(\d{1,2})\b(?![.,]\d)",
    re.IGNORECASE,
)

Choices = frozenset[str]


def by_option(options: Options, references: Sequence[str], candidate: Candidate) -> Decision | None:
    """Judge by the options that references and candidate choose; None where one of them does not do so plainly."""
    accepted = accepted_in(options, references)
    if not accepted:
        return None
    given = chosen(options, candidate.text, is_several=any(len(one) > 1 for one in accepted))
    if given is None:
        return _in_words(options, accepted, candidate)
    return _compared(given, accepted, is_open=_OR.search(candidate.text) is not None)


def accepted_in(options: Options, references: Sequence[str]) -> frozenset[Choices]:
    """Return what references choose, each by itself; a reference that is not an option says nothing."""
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
    others = [text for text in references[:_LOOKED_AT] if not chosen(options, text, is_several=True)]
    return options.question, tuple(dict.fromkeys([*texts, *others, *references[_LOOKED_AT:]]))


def _compared(given: Choices, accepted: frozenset[Choices], *, is_open: bool) -> Decision:
    every = frozenset[str]().union(*accepted)
    if is_open and len(given) > 1:
        return False, "hedged"
    if given in accepted or (given and given <= every and all(len(one) == 1 for one in accepted)):
        return True, "option"
    if given and any(given < one for one in accepted):
        return False, "list-incomplete"
    return False, "many-answers" if any(one < given for one in accepted) else "other-option"


def _in_words(options: Options, accepted: frozenset[Choices], candidate: Candidate) -> Decision | None:
    """Judge a candidate that says more: by the letter that it settles on, or the one option that it has the text of."""
    labels = frozenset[str]().union(*accepted)
    if len(labels) > len(accepted):
        return _several_in_words(options, accepted, candidate)
    if options.is_lettered:
        letter = by_letter(read_question(options.question), labels, candidate)
        if letter is not None:
            return letter
    if _is_doubted(candidate):
        return None
    numbers = frozenset(_NUMBERED.findall(candidate.text[:LONGEST])) & options.texts.keys()
    if numbers:
        return _compared(numbers, accepted, is_open=False)
    named = _named(options, candidate.padded)
    if named and named.isdisjoint(labels) and len(candidate.plain) <= _SENTENCE:
        return False, "other-option"
    return None


def _several_in_words(options: Options, accepted: frozenset[Choices], candidate: Candidate) -> Decision | None:
    """Judge a candidate by all the letters that it names, where several are accepted together."""
    named = letters_in(candidate.text[:LONGEST]) if options.is_lettered else frozenset()
    if not named or not named <= options.texts.keys() or _is_doubted(candidate):
        return None
    return _compared(named, accepted, is_open=_OR.search(candidate.text) is not None)


def _is_doubted(candidate: Candidate) -> bool:
    return not DENIALS.isdisjoint(candidate.plain) or DOUBTED.search(candidate.text) is not None


def _named(options: Options, stems: str) -> Choices:
    """Return the options whose text occurs in a text, except inside that of a longer option."""
    there = [one for one in options.labels if one in stems]
    return frozenset(options.labels[one] for one in there if not any(one != other and one in other for other in there))


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
    letters = _SQUEEZED.sub("", text).upper()
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
        alone = _alone(options, part)
        if alone is not None:
            return frozenset((alone,))
        found = _beside(options, part)
        label = options.labels.get(padded(part)) if found is None else None
        if label is not None:
            return frozenset((label,))
        if found is not None:
            return found
    return None


def _alone(options: Options, text: str) -> str | None:
    """Return the label that a text is: `b`, `(B)`, `three`, `second option`."""
    one = _ONE.fullmatch(text)
    if one is not None:
        return one[1].upper() if one[1].upper() in options.texts else None
    ordinal = _ORDINAL.fullmatch(text)
    if ordinal is not None:
        labels, word = list(options.texts), ordinal[1].lower()
        at = len(labels) - 1 if word == "last" else _ORDINALS.index(word)
        return labels[at] if at < len(labels) else None
    plain = words(text)
    return plain[0] if len(plain) == 1 and plain[0] in options.texts else None


def _beside(options: Options, text: str) -> Choices | None:
    """Return the option of a text that has a label as well, `B. Paris` or `Paris (B)`; none if they are at odds."""
    both = _BOTH.fullmatch(text)
    if both is not None:
        is_marked = bool(both[3] or both[4])
        # The `A` of `A virus` is an article, not a label.
        is_label = is_marked or (both[2].isupper() and both[2] != "A")
        return _agreed(options, both[2], both[5], is_marked=is_marked) if is_label else None
    after = _AFTER.fullmatch(text)
    return None if after is None else _agreed(options, after[2], after[1], is_marked=False)


def _agreed(options: Options, label: str, text: str, *, is_marked: bool) -> Choices | None:
    """Return the option of a label, if the text beside it is that option's; none if it is another's."""
    label, stems = label.upper(), padded(text)
    if label not in options.texts:
        return None
    other = options.labels.get(stems)
    if other is not None:
        return frozenset((label,) if other == label else ())
    begun = [one for one in options.labels if stems.startswith(one)]
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
