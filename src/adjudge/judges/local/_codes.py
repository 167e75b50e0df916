"""Answers in which every character counts: formulas, codes, addresses, versions, and words of scripts without blanks.

`H2O2` is not `H2O`, `joe@example.com` not `jo@example.com`, `3.1` not version `3.10`, `京都` not `東京`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from adjudge.judges.local._candidate import Candidate, Question

_LOOKED_AT = 50  # references
_SHORT = 12  # words of an answer that gives a code and little else
_CODE = re.compile(r"(?=\S*\d)(?!\S*[^\W\d_]{5})[^\W\d_][\w-]{1,19}|[^\s@]+@[^\s@]+\.\w+|\w+://\S+")
_TOKEN = re.compile(r"[^\s,;!?()\"'“”]+")
_VERSION = frozenset(("version", "versions", "release", "releases"))
_FIGURE = re.compile(r"\d+(?:\.\d+)+")
_FIGURES = re.compile(r"(?:[^\W\d_]+ )?v?\d+(?:\.\d+)+")
_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u30fb]+")


def code_of(references: Sequence[str]) -> str | None:
    """Return what references are in which every character counts: figures with points, words of a script, codes.

    >>> code_of(["2.10"]), code_of(["東京"]), code_of(["H2O", "HOH"]), code_of(["AB-12", "AB12"])
    ('figures', 'script', None, 'code')
    """
    for name, pattern in (("figures", _FIGURES), ("script", _SCRIPT), ("code", _CODE)):
        if references and all(map(pattern.fullmatch, references[:_LOOKED_AT])):
            return name
    return None


def is_other_code(asked: Question, code: str | None, references: Sequence[str], candidate: Candidate) -> bool:
    """Whether a short candidate has a code where one is asked for, and it is another one."""
    if code is None or len(candidate.plain) > _SHORT:
        return False
    golds = references[:_LOOKED_AT]
    if code == "figures":
        is_version = not _VERSION.isdisjoint(asked.plain)
        return is_version and _differ([_FIGURE.findall(one) for one in golds], _FIGURE.findall(candidate.text))
    if code == "script":
        return not any(one in candidate.text for one in golds) and _SCRIPT.search(candidate.text) is not None
    given = [one for one in map(_plain, _TOKEN.findall(candidate.text)) if _CODE.fullmatch(one)]
    whole = _plain(candidate.text.strip())
    if any(_plain(one).startswith(whole) for one in golds):  # `CO` of `CO2`
        given.append(whole)
    return _differ([[_plain(one)] for one in golds], given)


def _differ(golds: Sequence[Sequence[str]], given: Sequence[str]) -> bool:
    """Whether something is given, and none of it is accepted."""
    return bool(given) and not any(set(gold) <= set(given) for gold in golds)


def _plain(code: str) -> str:
    return normalize("NFKC", code).lower().rstrip(".:").replace("-", "")
