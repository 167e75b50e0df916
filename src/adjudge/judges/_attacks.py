"""Attacks on judges: wrong answers made to be taken for right ones, each with the reason why it is wrong.

Whoever trains against a judge finds what it takes. `attacks.jsonl` holds rows of our own (CC0) in named categories;
`adjudge judge attack` asks a judge about all of them and says what share of each category it calls CORRECT.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

__all__ = ["Attack", "load_attacks"]

FILE = "attacks.jsonl"


@dataclass(frozen=True, slots=True)
class Attack:
    """One wrong answer; `why` says what is wrong with it, `pattern` what it has in common with at most four others."""

    id: str
    category: str
    pattern: str
    question: str
    reference: tuple[str, ...]
    response: str
    why: str

    def row(self) -> Mapping[str, Any]:
        """Return it as a row to judge."""
        return asdict(self)


@cache
def load_attacks() -> tuple[Attack, ...]:
    """Return every attack of the package."""
    lines = files("adjudge.judges").joinpath(FILE).read_bytes().splitlines()
    decode = msgspec.json.Decoder(Attack).decode
    return tuple(map(decode, lines))
