"""Words that rules look for, as data: one file of `lexicon` for each module with words, read when it is first used."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def lexicon(name: str) -> dict[str, Any]:
    """Return the tables of a module by their names: words between blanks, or a form with its other forms.

    >>> lexicon("formulas")["orders"]["linear"]
    'O(n)'
    """
    text = files("adjudge.judges.local").joinpath("lexicon", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def word_set(name: str, table: str) -> frozenset[str]:
    """Return the words of a table."""
    return frozenset(lexicon(name)[table].split())


@cache
def phrases(name: str, table: str) -> re.Pattern[str]:
    """Return what matches any pattern of a table, in small and capital letters."""
    return re.compile("|".join(lexicon(name)[table]), re.IGNORECASE)
