"""Answers in which every character counts: formulas, codes, addresses, versions, and words of scripts without blanks.

`H2O2` is not `H2O`, `joe@example.com` not `jo@example.com`, `3.1` not version `3.10`, `京都` not `東京`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

from adjudge.judges.local._codes.code_kinds import READERS, read_library
from adjudge.judges.local._codes.given import DOUBTS, LONGEST, bare, choices, given
from adjudge.judges.local._reading.candidate import Candidate, Decision, Question

_LOOKED_AT = 50  # references
_SHORT = 12  # words of an answer that gives a code and little else
_CODE = re.compile(r"(?=\S*\d)(?!\S*[^\W\d_]{5})[^\W\d_][\w-]{1,19}|[^\s@]+@[^\s@]+\.\w+|\w+://\S+")
_TOKEN = re.compile(r"[^\s,;!?()\"'“”`*]+")
_VERSION = frozenset(("version", "versions", "release", "releases"))
_PROGRAMMING = frozenset(
    """function method keyword command operator variable class module decorator clause statement expression value return
    returns python javascript java json sql code identifier library""".split()
)
_FUNCTIONS = frozenset(("function", "method", "variable", "keyword", "decorator", "hook", "attribute", "css"))
_NUMBERED = frozenset(
    """number code id reference plate tracking order booking ticket isbn iban serial account flight phone uuid
    confirmation invoice telephone postcode zip vin""".split()
)
_NAMES = re.compile(r"[A-Z][a-z.]+(?: [A-Z]?[a-z]+)+")  # most references are, and none of them is a code
_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u30fb]+")
_POINTS = 3  # in the address of a machine
_WRITTEN = re.compile(r"\(\)|[_`-]|[a-z][A-Z]")  # as in a program
_DOUBTED = DOUBTS - {"or", "either"}
_JOINING = frozenset(("or", "and", "either", "/", "|", "&"))
_WANTED = {"figures": _VERSION, "null": _PROGRAMMING, "word": _FUNCTIONS, "id": _NUMBERED}
_SUFFIX, _DIALLED = 7, 5  # figures of a telephone number, at least, and of what is dialled before it, at most


class Code(NamedTuple):
    """What all references are, if every character of them counts, and each in one writing."""

    kind: str
    accepted: frozenset[str] = frozenset()


def code_of(references: Sequence[str]) -> Code | None:
    """Return what references are in which every character counts.

    >>> [one and one.kind for one in map(code_of, (["2.10"], ["東京"], ["H2O", "HOH"], ["AB-1", "AB1"], ["Ctrl+C"]))]
    ['figures', 'script', None, 'code', 'keys']
    """
    # Most references are names: one look at the first spares the rest.
    if not references or _NAMES.fullmatch(references[0]):
        return None
    golds = [one.strip() for one in references[:_LOOKED_AT]]
    if not all(0 < len(one) <= LONGEST for one in golds):
        return None
    for kind, (is_one, read) in READERS.items():
        if all(map(is_one, golds)):
            return Code(kind, frozenset(filter(None, map(read, golds))))
    for kind, pattern in (("script", _SCRIPT), ("code", _CODE)):
        if all(map(pattern.fullmatch, golds)):
            return Code(kind)
    return None


def by_code(asked: Question, code: Code | None, references: Sequence[str], candidate: Candidate) -> Decision | None:
    """Judge a short candidate by its code where codes are accepted; None where it has none that is plain."""
    is_right = _is_right(asked, code, references, candidate) if len(candidate.text) <= LONGEST else None
    return None if is_right is None else (is_right, "code" if is_right else "other-code")


def _is_right(asked: Question, code: Code | None, references: Sequence[str], candidate: Candidate) -> bool | None:
    # For example `VueJS` for `Vue`.
    if code is None:
        library = read_library(bare(candidate.text)) if candidate.text[-2:].lower() == "js" else None
        return True if library is not None and library in map(str.lower, references) else None
    if code.kind in ("script", "code"):
        return False if _is_other(code, references[:_LOOKED_AT], candidate) else None
    wanted = _WANTED.get(code.kind, frozenset())
    if code.kind == "figures" and any(one.count(".") >= _POINTS for one in code.accepted):
        wanted = frozenset()
    elif code.kind == "id" and not any(" " in one and one[0].isalpha() for one in references[:_LOOKED_AT]):
        # `DE 1200` may be many things, `DE-1200` is a code.
        wanted = frozenset()
    # Figures with a point are a version only if the question is about one.
    is_asked = not wanted or not asked.plain.isdisjoint(wanted)
    return _by_kind(asked, code, candidate) if is_asked else None


def _by_kind(asked: Question, code: Code, candidate: Candidate) -> bool | None:
    """Judge a candidate by what it puts forward, else by the word of a sentence that is of the kind."""
    text, read = bare(candidate.text), READERS[code.kind][1]
    parts = [] if code.kind == "literal" or asked.wants_list else list(map(read, choices(text)))
    # Several different codes side by side are a guess, not an answer.
    if len(parts) > 1 and (all(parts) or code.kind == "command"):
        return False if all(parts) and len(set(parts)) > 1 else None
    readings = given(candidate.text)
    # A long or doubtful text may only mention the code.
    is_denied = len(candidate.plain) > _SHORT or not _DOUBTED.isdisjoint(candidate.plain)
    if not is_denied and any(read(one) in code.accepted and not _codes(code, text, one) for one in readings):
        return True
    whole = read(text)
    if whole is not None:
        is_code = code.kind != "word" or _WRITTEN.search(candidate.text) is not None
        return _is_accepted(code, whole) if is_code or whole in code.accepted else None
    return None if is_denied else _of_sentence(asked, code, text, readings)


def _of_sentence(asked: Question, code: Code, text: str, readings: Sequence[str]) -> bool | None:
    """Judge a sentence by the one code in it; several in a row do not answer a question for one."""
    if code.kind in ("name", "word"):
        readings = readings[:1]
    found = {one for one in map(READERS[code.kind][1], readings) if one is not None}
    if not found and code.kind != "word":
        named = _codes(code, text)
        found = set(filter(None, named))
        if not asked.wants_list and any(one and other and one != other for one, other in pairwise(named)):
            return False
    return _is_accepted(code, found.pop()) if len(found) == 1 else None


def _codes(code: Code, text: str, reading: str = "") -> list[str | None]:
    """Return the words of a text before a reading, but for `and` and `or`: each as a code, or None if it is none."""
    is_one, read = READERS[code.kind]
    tokens = [one.rstrip(".:") for one in _TOKEN.findall(text[: text.rfind(reading)] if reading else text)]
    found = [read(one) if one and is_one(one) else None for one in tokens if one not in _JOINING]
    return found if any(found) else []


def _is_accepted(code: Code, found: str) -> bool | None:
    """Whether one of the accepted is the one that was found; None where one is a part of the other that may do."""
    if found in code.accepted or any(_is_within(code.kind, one, found) for one in code.accepted):
        return True
    return None if any(_is_unclear(code.kind, one, found) for one in code.accepted) else False


def _is_within(kind: str, gold: str, found: str) -> bool:
    """Whether a file has its folder, a function its module, a version its program, a telephone number its country."""
    if kind == "file":
        return "/" not in gold and found.endswith(f"/{gold}")
    if kind == "figures":
        return found.endswith(f" {gold}") or gold.endswith(f" {found}")
    if kind == "id":
        return _is_suffix(gold, found)
    return kind in ("name", "word") and (found.endswith(f".{gold}") or found.lower() == gold)


def _is_unclear(kind: str, gold: str, found: str) -> bool:
    """Whether something is left out that need not be said, or added that need not be another thing."""
    if kind == "file":
        return gold.endswith(f"/{found}") and found[0] not in "/~."
    if kind in ("name", "word"):
        return gold.endswith(f".{found}") or gold.lower() == found.lower()
    if kind == "command":
        return found.startswith(f"{gold} ")
    return {gold, found} == {"JOIN", "INNER JOIN"}


def _is_suffix(one: str, other: str) -> bool:
    """Whether one of two telephone numbers is the other without what is dialled before it."""
    # Prefixes of country and area may be dialled or left out.
    short, long = sorted((one.lstrip("0"), other.lstrip("0")), key=len)
    is_line = short.isdigit() and long.isdigit() and len(short) >= _SUFFIX
    return is_line and len(long) - len(short) < _DIALLED and long.endswith(short)


def _is_other(code: Code, golds: Sequence[str], candidate: Candidate) -> bool:
    """Whether a short candidate has a code of another writing."""
    if len(candidate.plain) > _SHORT:
        return False
    if code.kind == "script":
        return not any(one in candidate.text for one in golds) and _SCRIPT.search(candidate.text) is not None
    tokens = map(_plain, _TOKEN.findall(candidate.text))
    found = [one for one in tokens if _CODE.fullmatch(one)]
    whole = _plain(candidate.text.strip())
    # For example `CO` of `CO2`.
    if any(_plain(one).startswith(whole) for one in golds):
        found.append(whole)
    return bool(found) and {_plain(one) for one in golds}.isdisjoint(found)


def _plain(code: str) -> str:
    return re.sub(r"[-_{}$]|\\\w+", "", normalize("NFKC", code)).lower().rstrip(".:")
