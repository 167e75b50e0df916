r"""Answers in which every character counts: addresses, files, versions, keys, commands, ids, names in programs.

`H2O2` is not `H2O`, `joe@example.com` not `jo@example.com`, `3.1` not version `3.10`, `京都` not `東京`.
Each kind has one writing: "http://www.Example.org/a/" is "example.org/a", "ls -la" "ls -a -l", "AB 12-3" "ab123".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple
from unicodedata import normalize

from adjudge.judges.local._answer import DOUBTS, LONGEST_CODE, bare, choices, given
from adjudge.judges.local._limits import REFERENCES, STATEMENT
from adjudge.judges.local._pair import Candidate, Decision, Question
from adjudge.judges.local._words import word_set

_POINTS = 3  # in the address of a machine
_DIALLED = 5  # figures before a telephone number that may be left out, fewer than these
_DOUBTED = DOUBTS - {"or", "either"}
_JOINTS = {"file": "/", "name": ".", "word": ".", "figures": " "}  # before the part that may stand alone
_NAMES = re.compile(r"[A-Z][a-z.]+(?: [A-Z]?[a-z]+)+")  # most references are, and none of them is a code
_TOKEN = re.compile(r"[^\s,;!?()\"'“”`*]+")
_IN_PROGRAM = re.compile(r"\(\)|[_`-]|[a-z][A-Z]")

_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"]+", re.IGNORECASE)
_HOST = re.compile(r"(?:https?://)?(?:www\.)?([\w-]+(?:\.[\w-]+)*\.[a-z]{2,})(/[^\s<>\"]*)?", re.IGNORECASE)
_MAIL = re.compile(r"<?(?:mailto:)?([^\s@<>]+@[^\s@<>]+\.\w+)>?", re.IGNORECASE)
_FIGURES = re.compile(r"(?:(?:version|release)[: ]+|([^\W\d_]+) )?v?(\d+(?:\.\d+){1,4}(?:-\w+)?)", re.IGNORECASE)
_PATH = re.compile(r"(?:(?:~|\.{1,2})?/|[A-Za-z]:[/\\])[\w.+-]+(?:[/\\][\w.+-]+)*[/\\]?")
_BEFORE_PROGRAM = re.compile(r"(?:sudo |python3? -m )(?=\w)")
_OPTIONS = re.compile(r"-[A-Za-z]{2,}")
_IDENTIFIER = re.compile(r"@[a-z]\w+|[\w.]+\(\)|[a-z\d]+(?:_[a-z\d]+)+|[A-Z\d]+(?:_[A-Z\d]+)+")
_WORD = re.compile(r"[a-z]{2,}(?:-[a-z]+)*(?:[A-Z][a-z]+)*")
_NAME = re.compile(r"@?[A-Za-z_]\w*(?:[.-]\w+)*(?:\(\))?")

_PARTS = re.compile(r"[\s.()/+#-]+|(?<=[\da-fA-F]{2}):(?=[\da-fA-F]{2})")
_ID = re.compile(r"#?(?:[A-Z\d]{1,6}[ -])*[A-Z\d]{2,}")
_PHONE = re.compile(r"(?:\+|\(|\d+[ .()/-]+\d)[\d ().X/-]{5,}")
_THOUSANDS = re.compile(r"\d{1,3}(?:[ .]\d{3})+|\d{4}[ -]+\d{4}|\d{1,4}[-./]\d\d?[-./]\d{1,4}")
_ERA = re.compile(r"(?:A\.?D|B?CE?|USD?|EUR|GBP|CHF|INR|AM|PM|FY|NO|KM|KG|II+|IV|VI+) |\d+ ?[A-Z]{1,3}$")

_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u30fb]+")


class Code(NamedTuple):
    """What all references are, if every character of them counts: a kind of code, and each in one writing."""

    kind: str
    accepted: frozenset[str]
    asked: frozenset[str]  # the question must have one of these words, if there are any


def code_of(references: Sequence[str]) -> Code | None:
    """Return what references are in which every character counts.

    >>> [one and one.kind for one in map(code_of, (["2.10"], ["東京"], ["Who"], ["AB-12", "AB12"], ["ls -a"]))]
    ['figures', 'script', None, 'id', 'command']
    """
    # Most references are names: one look at the first spares the rest.
    if not references or _NAMES.fullmatch(references[0]):
        return None
    golds = [one.strip() for one in references[:REFERENCES]]
    if not all(0 < len(one) <= LONGEST_CODE for one in golds):
        return None
    for kind, (is_one, read) in READERS.items():
        if all(map(is_one, golds)):
            accepted = frozenset(filter(None, map(read, golds)))
            return Code(kind, accepted, word_set("codes", kind) if _is_unclear(kind, golds) else frozenset())
    return None


def _is_unclear(kind: str, golds: Sequence[str]) -> bool:
    """Whether references may be something else than codes, unless the question is about such codes."""
    if kind == "figures":
        # `3.10` may be a number, `192.168.1.1` is an address.
        return not any(one.count(".") >= _POINTS for one in golds)
    # `DE 1200` may be many things, `DE-1200` is a code.
    return kind == "word" or (kind == "id" and any(" " in one and one[0].isalpha() for one in golds))


def by_code(asked: Question, code: Code | None, candidate: Candidate) -> Decision | None:
    """Judge a short candidate by its code where codes are accepted; None where it has none that is plain."""
    if code is None or len(candidate.text) > LONGEST_CODE or (code.asked and asked.plain.isdisjoint(code.asked)):
        return None
    is_right = _is_right(asked, code, candidate)
    if code.kind == "script":
        # A script without blanks: the name may stand in a sentence.
        is_there = any(one in candidate.text for one in code.accepted)
        is_right = None if is_there or _SCRIPT.search(candidate.text) is None else False
    return None if is_right is None else (is_right, "code" if is_right else "other-code")


def _is_right(asked: Question, code: Code, candidate: Candidate) -> bool | None:
    """Judge a candidate by what it puts forward, else by the word of a sentence that is of the kind."""
    text, read = bare(candidate.text), READERS[code.kind][1]
    # Several different codes side by side are a guess, not an answer.
    parts = [] if asked.wants_list else [read(one) for one in choices(text)]
    if len(parts) > 1 and (all(parts) or code.kind == "command"):
        return False if all(parts) and len(set(parts)) > 1 else None

    # A long or doubtful text may only mention the code.
    is_denied = len(candidate.plain) > STATEMENT or not _DOUBTED.isdisjoint(candidate.plain)
    readings = () if is_denied else given(candidate.text)
    if any(read(one) in code.accepted for one in readings):
        return True
    whole = read(text)
    if whole is None:
        named = _named(code, text, readings)
        return _is_accepted(code, named.pop()) if len(named) == 1 and not is_denied else None
    # Any word may be a name: it is one of a program if it is written so.
    is_code = code.kind != "word" or _IN_PROGRAM.search(candidate.text) is not None
    return _is_accepted(code, whole) if is_code or whole in code.accepted else None


def _named(code: Code, text: str, readings: Sequence[str]) -> set[str]:
    """Return the codes that a sentence puts forward, or else all that are in it."""
    is_one, read = READERS[code.kind]
    # Any word may be a name, so only the first reading counts.
    found = set(map(read, readings[:1] if code.kind in ("name", "word") else readings)) - {None}
    if not found and code.kind != "word":
        tokens = [one.rstrip(".:") for one in _TOKEN.findall(text)]
        found = {read(one) for one in tokens if one and is_one(one)}
    return {one for one in found if one is not None}


def _is_accepted(code: Code, found: str) -> bool | None:
    """Whether one of the accepted is the one that was found; None where one is a part of the other that may do."""
    verdicts = {_is_same(code.kind, one, found) for one in code.accepted}
    return True if True in verdicts else None if None in verdicts else False


def _is_same(kind: str, gold: str, found: str) -> bool | None:
    """Compare two codes of a kind; None where something is left out that need not be said, or is added.

    A file may have its folder, a function its module, a version its program, a telephone number its country.
    """
    joint = _JOINTS.get(kind)
    if gold == found or (joint and found.endswith(f"{joint}{gold}")):
        return True
    if joint and gold.endswith(f"{joint}{found}"):
        return True if kind == "figures" else None
    if kind == "id":
        short, long = sorted((gold.lstrip("0"), found.lstrip("0")), key=len)
        is_line = short.isdigit() and long.isdigit() and len(short) >= 7
        return is_line and len(long) - len(short) < _DIALLED and long.endswith(short)
    is_longer = kind == "command" and found.startswith(f"{gold} ")
    return None if is_longer or (kind in ("name", "word") and gold.lower() == found.lower()) else False


def _read_address(text: str) -> str | None:
    """Read an address of the web; the scheme, `www.` and a slash at the end do not count."""
    match = _HOST.fullmatch(text.rstrip(".,;"))
    return None if match is None else match[1].lower() + (match[2] or "").rstrip("/")


def _read_mail(text: str) -> str | None:
    match = _MAIL.fullmatch(text.rstrip(".,;"))
    return None if match is None else match[1].lower()


def _read_figures(text: str) -> str | None:
    """Read figures with points between them: a version, an address of a machine."""
    match = _FIGURES.fullmatch(text)
    return None if match is None else " ".join(filter(None, match.groups())).lower()


@cache
def _file() -> re.Pattern[str]:
    return re.compile(rf"(?:[\w+-]+/)*[\w.+-]*\.(?:{'|'.join(word_set('codes', 'file_endings'))})")


def _read_file(text: str) -> str | None:
    """Read the name or the path of a file."""
    if not (_PATH.fullmatch(text) or _file().fullmatch(text)):
        return None
    text = text.replace("\\", "/").removeprefix("./")
    return (text.rstrip("/") or text).lower()


def _read_command(text: str) -> str | None:
    """Read a command of a shell: its words, with short options one by one and in order."""
    found: list[str] = []
    for word in _BEFORE_PROGRAM.sub("", text.strip().rstrip(";"), count=1).split():
        found += [f"-{one}" for one in word[1:]] if _OPTIONS.fullmatch(word) else [word]
    if not found or found[0].lower() not in word_set("codes", "programs"):
        return None
    start = next((at for at, word in enumerate(found) if word[0] == "-"), len(found))
    end = next((at for at in range(start, len(found)) if found[at][0] != "-"), len(found))
    return " ".join((found[0].lower(), *found[1:start], *sorted(found[start:end]), *found[end:]))


def _is_id(text: str) -> bool:
    figures = sum(map(str.isdigit, text))
    if _PHONE.fullmatch(text):
        return figures >= 9 and _THOUSANDS.fullmatch(text) is None
    is_mixed = any(map(str.isupper, text)) or text.startswith("#")
    is_long = figures >= 2 and re.search(r"[A-Z]{5}", text) is None
    return is_mixed and is_long and _ID.fullmatch(text) is not None and _ERA.match(text) is None


def _read_id(text: str) -> str | None:
    """Read letters and figures without what separates them."""
    plain = _PARTS.sub("", normalize("NFKC", text).replace("(0)", "")).lower()
    is_id = plain.isalnum() and plain.isascii() and sum(map(str.isdigit, plain)) >= 2
    return plain if is_id and not re.search(r"[a-z]{5}", plain) else None


def _read_name(text: str) -> str | None:
    """Read a name in a program: `print()` is `print`."""
    text = text.rstrip(";")
    return text.removesuffix("()").lstrip("@") if _NAME.fullmatch(text) else None


READERS: dict[str, tuple[Callable[[str], object], Callable[[str], str | None]]] = {
    "address": (_URL.fullmatch, _read_address),
    "mail": (_read_mail, _read_mail),
    "figures": (_read_figures, _read_figures),
    "file": (_read_file, _read_file),
    "command": (_read_command, _read_command),
    "id": (_is_id, _read_id),
    "name": (_IDENTIFIER.fullmatch, _read_name),
    "word": (_WORD.fullmatch, _read_name),
    "script": (_SCRIPT.fullmatch, str),
}
"""By kind: whether a reference is plainly of it, and how it is read."""
