"""A name in another form, and names that are almost the reference: another person, place or title.

"John Ronald Reuel Tolkien" for "J. R. R. Tolkien", "elefant", "WHO"                           the same
"Alfred Einstein" for "Albert Einstein", "Elizabeth I" for "Elizabeth II", "Virginia" for "West Virginia"     another
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.judges.local._guesses import are_alike
from adjudge.judges.local._limits import NAME, PART, REFERENCES, SHORT
from adjudge.judges.local._model import load_model
from adjudge.judges.local._name_forms import Name, is_form, read_name, sound
from adjudge.judges.local._pair import Candidate, Prepared, Question
from adjudge.judges.local._words import DENIALS, STOP, stem, stemmed

_LONGEST = 60  # characters of a name
_LONG = 3  # parts of a name whose first two are not all of it
_APART = frozenset("new north south east west".split())
_PARTICLES = frozenset("van von de da di del der du la le al el bin ibn den ter dos".split())
_ABBREVIATION = frozenset(("stand", "stands", "acronym", "abbreviation", "short", "initials", "mean", "means"))
_ROOT = 4  # letters that forms of one word share
_WORDY = 6  # words of a candidate that could have named something
_BODIES = frozenset(
    "university college school league party church club united bank union society institute museum hospital council"
    " committee court association team company airport station street road war act".split()
)  # with a word before these it is another one: `Indiana State University`
_PROPER = re.compile(r"\d|[^\W\d_a-z]")
_BY = re.compile(r".*\bby\s+(?=\S)", re.DOTALL)  # `painted by Monet`


_RUNS = 20  # names that are looked at
_RUN = re.compile(
    r"\b[^\W\d_a-z][\w'’.-]*(?:\s(?:(?:of|the|de|van|von|da|di|del|la|le|bin)\s)?[^\W\d_a-z][\w'’.-]*){1,5}"
)


def almost(asked: Question, prepared: Prepared, candidate: Candidate, *, is_complete: bool) -> str | None:
    """Return the name of the rule by which a candidate without any reference in it names something else."""
    if prepared.explains and _is_recounted(prepared, candidate):
        return "other-number"
    if _is_other_expansion(asked, prepared, candidate):
        return "near-name"
    if not prepared.explains and _is_other_name(asked, prepared, candidate, is_complete=is_complete):
        return "near-name"
    if not is_complete and not prepared.explains and _names_nothing(asked, prepared, candidate):
        return "names-nothing"
    return None


def is_elsewhere(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a reference with a word before it that makes it another place: `South Sudan`."""
    plain = candidate.plain
    if not 1 < len(plain) < 4 or plain[0] not in _APART:
        return False
    rest = f" {' '.join(candidate.stems[1:])} "
    return any(one.padded == rest for one in prepared.references)


def _names_nothing(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a name or a number is asked for, and a candidate of some length has none that the question lacks."""
    size, is_open = len(candidate.plain), asked.kind in (None, "where")
    if asked.kind == "why" or size < (SHORT if asked.kind is None else _WORDY):
        return False
    if not prepared.union.isdisjoint(candidate.unique) or (is_open and not _goes_round(asked, candidate)):
        return False
    # A new capitalised word may be the name that is asked for.
    if any(one not in asked.content and one not in STOP for one in candidate.capitals()):
        return False
    if any(figure not in asked.plain and figure != "1" for figure in candidate.numbers.values()):
        return False
    return all(_PROPER.search(text[:_LONGEST]) for text in prepared.texts[:REFERENCES])


def _goes_round(asked: Question, candidate: Candidate) -> bool:
    """Whether every third word is the question's, which has so few."""
    return 3 * sum(one in asked.content for one in candidate.content) > len(candidate.content)


def _is_other_expansion(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate spells out the question's initials with other words: `Computer Power Unit` for CPU."""
    mine = candidate.content
    if _ABBREVIATION.isdisjoint(asked.plain) or not 1 < len(mine) <= NAME:
        return False
    if "".join(one[0] for one in mine) not in asked.plain:
        return False
    for reference in prepared.references[:REFERENCES]:
        theirs = reference.bare.split()
        pairs = list(zip(theirs, mine, strict=False))
        if len(theirs) != len(mine) or any(one[0] != other[0] for one, other in pairs):
            return False
        if all(one[:_ROOT] == other[:_ROOT] for one, other in pairs):
            return False
    return True


def _is_recounted(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a statement of the references with another number in it."""
    for reference in prepared.references[:REFERENCES]:
        if reference.numbers and len(reference.stems) == len(candidate.stems):
            pairs = zip(reference.stems, candidate.stems, strict=True)
            others = [(one, other) for one, other in pairs if one != other]
            if len(others) == 1 and all(word[0].isdigit() for word in others[0]):
                return True
    return False


def _is_other_name(asked: Question, prepared: Prepared, candidate: Candidate, *, is_complete: bool) -> bool:
    """Whether a candidate has a part of a name with another one in the place of the rest, and no whole name."""
    # Words of several references together may be a fuller name of one of them.
    if prepared.union.issuperset(candidate.content) and len(prepared.references) > 1:
        return False
    is_short = 0 < len(candidate.plain) <= NAME and len(candidate.text) <= 2 * _LONGEST
    given = read_name(_BY.sub("", candidate.text)) if is_short else None
    runs: list[Name] = []
    is_who = asked.kind == "who" or (asked.kind is None and not prepared.union.isdisjoint(asked.content))
    if is_who and not is_complete and not prepared.union.isdisjoint(candidate.unique):
        runs = [read_name(run) for run in _RUN.findall(candidate.text, 0, PART)[:_RUNS]]
    found = False
    for text in prepared.texts[:REFERENCES] if is_short or runs else ():
        if len(text) > _LONGEST:
            return False
        name = read_name(text)
        # Names with figures are left to the rules about numbers.
        if any(part[0].isdigit() for part in name.parts) and name.ordinal is None:
            return False
        clashes = False if given is None else _clashes(name, given, asked)
        # If it may be the same as one reference, it is not another name.
        if clashes is None:
            return False
        found = found or clashes or any(_is_namesake(name, run, asked, is_who=asked.kind == "who") for run in runs)
    return found


def _is_namesake(name: Name, given: Name, asked: Question, *, is_who: bool) -> bool:
    """Whether a name in a text has all words but one of a person's, and another one in its place.

    Where it is not sure that a person is meant, or which parts are left out, only a first name can be another one.
    """
    mine, yours = ([part for part in one.parts if part not in one.initials] for one in (name, given))
    if not 1 < len(mine) == len(yours) < 5 or not given.initials <= name.initials:
        return False
    others = [pair for pair in zip(mine, yours, strict=True) if pair[0] != pair[1]]
    if len(others) != 1 or not set(others[0]) <= name.capitals | given.capitals:
        return False
    one, other = others[0]
    if (name.initials or not is_who) and one != mine[0]:
        return False
    return stem(other) not in asked.content and not is_form(other, one, name, given)


def is_same_name(asked: Question, references: Sequence[str], candidate: Candidate) -> bool:
    """Whether a short candidate is a name in another form: `John Ronald Reuel Tolkien`, `William Jefferson Clinton`."""
    if len(candidate.plain) > NAME or len(candidate.text) > 2 * _LONGEST:
        return False
    given = read_name(candidate.text)
    for text in references[:REFERENCES]:
        name = read_name(text[:_LONGEST])
        if len(name.parts) > 1 and len(given.parts) > 1 and _is_name(text, name) and _is_in_order(text, name, given):
            foreign, missing = _differences(name, given, asked, is_strict=True)
            if foreign and not name.initials and len(name.parts) == len(given.parts):
                # It may take the place of a word that the question has.
                continue
            # A further word makes another university or another king, not a fuller name.
            if foreign and (name.parts[-1] in _BODIES or " of " in text):
                continue
            if not missing and (not foreign if name.initials else set(foreign) <= set(given.parts[1:-1])):
                return True
    return False


def _is_name(text: str, name: Name) -> bool:
    """Whether a text is written as names are: `He moved to Paris` has a word that says more than small ones do."""
    if not name.capitals:
        return False
    return not any(word.islower() and len(word) > _LONG and word not in STOP for word in text[:_LONGEST].split())


def _is_in_order(text: str, name: Name, given: Name) -> bool:
    """Whether the parts that two names share come in one order; of a person, the last name may come first."""
    shared = [part for part in name.parts if part in given.parts]
    return (len(name.parts) == 2 and " and " not in text) or shared == [
        part for part in given.parts if part in name.parts
    ]


def _differences(name: Name, given: Name, asked: Question, *, is_strict: bool = False) -> tuple[list[str], list[str]]:
    """Return the given parts that match no part of the name, and the parts of the name that none of them matches."""
    mine, yours = _without(name.parts, asked), _without(given.parts, asked)
    both = set(mine).intersection(yours)
    pairs = {
        (part, one)
        for part in yours
        for one in mine
        if part == one
        or (not (part in both and one in name.initials) and is_form(part, one, name, given, is_strict=is_strict))
    }
    taken = {part for part, _ in pairs} | (_PARTICLES - given.capitals)
    met = {one for _, one in pairs} | (_PARTICLES - name.capitals)
    return [part for part in yours if part not in taken], [one for one in mine if one not in met]


def _clashes(name: Name, given: Name, asked: Question) -> bool | None:
    """Whether a name is near and another one; None if it may be the same."""
    # `Henry IV` and `Henry VIII`: the numbers alone decide.
    if name.ordinal and given.ordinal and name.ordinal[0] == given.ordinal[0]:
        return True if name.ordinal[1] != given.ordinal[1] else None
    if len(given.parts) > 1 and set(name.parts).isdisjoint(given.parts):
        # No part is near the name.
        return False
    others = (_is_beginning, _is_of_another, _is_one_of_its_words)
    if any(is_other(name, given) for is_other in others) or are_alike(
        *([stem(part) for part in one.parts] for one in (name, given))
    ):
        return True
    foreign, missing = _differences(name, given, asked)
    # The father is called so only where there is a son of the same name.
    if "sr" in foreign and "jr" not in name.parts:
        foreign.remove("sr")
    if len(missing) > 1 and given.capitals:
        missing = [part for part in missing if part not in name.initials]
    if not foreign:
        return _is_apart(name.parts, given.parts) or None
    if not missing:
        is_initial = bool(name.initials) and not given.initials.isdisjoint(foreign)
        return is_initial or (len(foreign) == 1 and _is_apart(given.parts, name.parts)) or None
    return len(foreign) == len(missing) == 1 and _is_replaced(missing[0], foreign[0], name, given)


def _is_beginning(name: Name, given: Name) -> bool:
    """Whether a name of several words lacks the last name of a junior: `Martin Luther` for `King Jr.`."""
    mine = name.parts[:-1] if name.parts[-1:] in (("jr",), ("sr",)) else ()
    return len(given.parts) > 1 and mine[:-1] == given.parts


def _is_of_another(name: Name, given: Name) -> bool:
    """Whether two long names begin alike and end with other names: `Supreme Court of Kansas`."""
    if len(name.parts) < _LONG or len(given.parts) < _LONG or name.parts[:2] != given.parts[:2]:
        return False
    mine, yours = name.parts[2:], given.parts[2:]
    return name.capitals.issuperset(mine) and not any(
        part not in given.capitals or is_form(part, one, name, given) for part in yours for one in mine
    )


def _is_one_of_its_words(name: Name, given: Name) -> bool:
    """Whether a name of several words is given with another word in the place of one, even if the question has it."""
    if not 1 < len(name.parts) == len(given.parts):
        return False
    pairs = zip(name.parts, given.parts, strict=True)
    others = [(one, other) for one, other in pairs if not is_form(other, one, name, given)]
    if len(others) != 1 or others[0][0] in given.parts or others[0][1] in name.parts:
        return False
    is_last = len(name.parts) > 2 and others[0][0] == name.parts[-1]
    return is_last or (others[0][0] in name.capitals and _is_replaced(*others[0], name, given))


def _is_replaced(missing: str, foreign: str, name: Name, given: Name) -> bool:
    """Whether a word takes the place of a word of a name: beside the rest of it, or as one that is easily mistaken."""
    is_beside = not set(name.parts).isdisjoint(given.parts)
    if missing in name.capitals and (foreign in given.capitals or not given.capitals):
        return is_beside or _is_alike(missing, foreign)
    if missing in name.capitals:
        return False
    # `nitrous oxide`, `nitric oxide`: of two common words the first is another one.
    return len(name.parts) == len(given.parts) == 2 and missing == name.parts[0] and foreign == given.parts[0]


def _without(parts: Sequence[str], asked: Question) -> list[str]:
    """Return the parts that the question lacks; all of them, if it has all."""
    return [part for part in parts if stem(part) not in asked.content] or list(parts)


def _is_apart(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    """Whether one name is the other without the word that makes it another place: `West Virginia`, `Virginia`."""
    if not longer or longer[0] not in _APART or longer[0] in shorter or len(longer) < 2:
        return False
    return shorter[:1] == longer[1:2]


def _is_alike(one: str, other: str) -> bool:
    """Whether two words begin and end alike, as names that people confuse do, without being forms of one word."""
    least = min(len(one), len(other))
    return least > 4 and one[0] == other[0] and one[-1] == other[-1] and one[: least - 1] != other[: least - 1]


_AROUND = " `\n"
_LONG_NAME = 9  # letters of a name that is known without one of its vowels
_VOWELS = re.compile("[aeiouy]+")
_SOUNDED = 5  # letters of a stem that is long enough to be known by its sound
_TWINS = frozenset(("desert", "dessert", "discret", "discreet", "canvas", "canvass", "finish", "finnish"))
_H = re.compile("([cst])h")  # no silent one: `through` is not `trough`
_ORGANISATIONS = stemmed("organization company agency union firm party body corporation institution")
_OTHERS = DENIALS | {"or", "but", "except", "excluding", "unlike", "besides", "rather", "instead", "wrong", "false"}


def same(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    """Return the name of the form in which a short candidate is a reference and nothing else, if it is one."""
    size = len(candidate.plain)
    # For example `&&`, which has no words.
    if (bare := candidate.text.strip(_AROUND)) and bare in prepared.texts:
        return "contained"
    if not 0 < size <= NAME or prepared.explains:
        return None
    if any(one.padded == candidate.padded for one in prepared.references):
        return "contained"
    return _same_in_words(asked, prepared, candidate)


def _same_in_words(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    if not candidate.numbers and _is_misspelt(prepared, candidate):
        return "spelling"
    if len(candidate.stems) == 1:
        if asked.kind == "who" and _is_last_name(prepared, candidate.plain[-1]):
            return "spelling"
        is_acronym = candidate.unique.isdisjoint(asked.plain) and _is_acronym(asked, prepared, candidate)
        return "acronym" if is_acronym else None
    return _same_of_several(asked, prepared, candidate)


def _is_last_name(prepared: Prepared, word: str) -> bool:
    """Whether a long word is the last name of a reference with a vowel more or less: `Shakspeare`."""
    if len(word) < _LONG_NAME:
        return False
    lasts = {one.name[-1] for one in prepared.references[:REFERENCES] if one.name}
    return any(
        abs(len(last) - len(word)) == 1 and last[0] == word[0] and _VOWELS.sub("", last) == _VOWELS.sub("", word)
        for last in lasts
    )


def _same_of_several(asked: Question, prepared: Prepared, candidate: Candidate) -> str | None:
    # A denial or an alternative among the words means that it is not a reference and nothing else.
    if not _OTHERS.isdisjoint(candidate.plain):
        return None
    if candidate.numbers:
        return "number" if "range" not in asked.plain and _is_in_range(prepared, candidate) else None
    if prepared.union.isdisjoint(candidate.unique) and not _may_be_name(prepared, candidate):
        return None
    return "same-name" if is_same_name(asked, prepared.texts, candidate) else None


def _may_be_name(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether first and last words of a name begin as a reference's do, though none is written as there."""
    first, last = candidate.plain[0][0], candidate.plain[-1][0]
    return any(one.name and one.name[0][0] == first and one.name[-1][0] == last for one in prepared.references)


def _is_misspelt(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is a reference whose words are misspelt by their sound: `elefant`."""
    stems, size = candidate.stems, len(candidate.stems)
    for reference in prepared.references[:REFERENCES]:
        if len(reference.stems) != size or reference.padded[1] != candidate.padded[1]:
            continue
        # Words in the same places: only those that differ must sound alike.
        others = [pair for pair in zip(reference.stems, stems, strict=True) if pair[0] != pair[1]]
        if others and all(_is_sound(*pair) for pair in others):
            # A word that exists is another word, not a misspelling.
            return not any(one in load_model().learnt[0] for _, one in others)
    return False


def _is_sound(one: str, other: str) -> bool:
    """Whether two long words begin with one letter and sound alike."""
    if one[0] != other[0] or min(len(one), len(other)) <= _SOUNDED or other in _TWINS:
        return False
    return sound(_H.sub(r"\1x", one)) == sound(_H.sub(r"\1x", other))


def _is_acronym(asked: Question, prepared: Prepared, candidate: Candidate) -> bool:
    """Whether a candidate is the initials of a reference, in capitals; two letters only where an organisation is."""
    word = candidate.plain[-1]
    is_long = len(word) > 2 or (len(word) == 2 and not _ORGANISATIONS.isdisjoint(asked.content))
    is_written = is_long and sum(map(str.isupper, candidate.text)) == len(word)
    return is_written and any(one.initials == word for one in prepared.references)


def _is_in_range(prepared: Prepared, candidate: Candidate) -> bool:
    """Whether the one number of a candidate lies in the range that a reference states, in its words."""
    if len(candidate.numbers) != 1:
        return False
    value = next(iter(candidate.numbers))
    rest = {one for one in candidate.unique if not one[0].isdigit() and one not in STOP}
    return any(
        one.range is not None and one.range[0] <= value <= one.range[1] and rest <= one.content
        for one in prepared.references[:REFERENCES]
    )
