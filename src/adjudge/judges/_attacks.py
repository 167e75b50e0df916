"""Attacks on judges: wrong answers made to look right, each with the reason why it is wrong.

Training against a judge finds whatever it accepts. `attacks.jsonl` holds rows of our own (CC0) in named categories;
`adjudge judge attack` asks a judge about all of them and shows the share of each category that it calls CORRECT.
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
    """One wrong answer; `why` says what is wrong with it, `pattern` is what it shares with at most four others."""

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
