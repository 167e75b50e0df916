"""Which ids occur twice: in memory, or in a data set too large to remember.

`IdTable` takes 32 to 64 bytes an id. `RepeatFinder` keeps its ids on disk: it sorts them into piles by checksum,
in the process that read them, and in the end one pile at a time is searched, split again if it is too large. Equal ids
are always in the same pile, and memory holds one pile only.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Self
from zlib import crc32

PILES = 64
LARGEST = 1 << 24  # bytes of a pile that is looked through at once
_LEAST = 1 << 10  # places of an empty table


class IdTable:
    """Remembers ids by their hash, with where each came from.

    Two different ids are taken for one about once in 10 ** 7 data sets of a million ids.

    >>> seen = IdTable()
    >>> seen.add("a", 1), seen.add("b", 2), seen.add("a", 3)
    (None, None, 1)
    """

    __slots__ = ("_count", "_keys", "_places")

    def __init__(self) -> None:
        self._count = 0
        # A key of 0 marks a free place.
        self._keys = array("Q", [0]) * _LEAST
        self._places = array("Q", [0]) * _LEAST

    def add(self, id_: str, place: int) -> int | None:
        """Remember an id; return the place of the first one of that name, if there is one."""
        # 0 marks a free place, so no key may be 0.
        key = hash(id_) & 0xFFFFFFFFFFFFFFFF or 1
        at = self._find(key)
        if self._keys[at]:
            return self._places[at]
        self._keys[at], self._places[at] = key, place
        self._count += 1
        # Half full is where looking for a place begins to take long.
        if 2 * self._count > len(self._keys):
            self._grow()
        return None

    def _find(self, key: int) -> int:
        keys = self._keys
        mask = len(keys) - 1
        at = key & mask
        while keys[at] and keys[at] != key:
            at = (at + 1) & mask
        return at

    def _grow(self) -> None:
        old = zip(self._keys, self._places, strict=True)
        self._keys = array("Q", [0]) * (2 * len(self._keys))
        self._places = array("Q", [0]) * (2 * len(self._places))
        for key, place in old:
            if key:
                at = self._find(key)
                self._keys[at], self._places[at] = key, place


@dataclass(frozen=True, slots=True)
class Repeat:
    """An id that several rows have, with the first two of them."""

    id: str
    first: int
    second: int


def sort_ids(ids: Iterable[tuple[str, int]]) -> list[bytes]:
    """Sort ids with the numbers of their rows into piles."""
    piles: list[list[bytes]] = [[] for _ in range(PILES)]
    for id_, number in ids:
        key = id_.encode("utf-8", "surrogatepass")
        # An id may hold line ends; in a pile a line is one id.
        if b"\n" in key or b"\\" in key:
            key = key.replace(b"\\", b"\\\\").replace(b"\n", b"\\n")
        piles[crc32(key) % PILES].append(b"%d %b\n" % (number, key))
    return [b"".join(pile) for pile in piles]


class RepeatFinder:
    """Takes piles of ids as they come and says in the end which ids came more than once.

    >>> with RepeatFinder() as finder:
    ...     finder.add(sort_ids([("a", 1), ("b", 2), ("a", 3)]))
    ...     finder.repeats()
    (1, [Repeat(id='a', first=1, second=3)])
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def add(self, piles: Sequence[bytes]) -> None:
        """Lay sorted ids on the piles."""
        if not self._files:
            self._files = [self._stack.enter_context(TemporaryFile()) for _ in range(PILES)]  # noqa: SIM115 (the stack closes)
        for file, pile in zip(self._files, piles, strict=True):
            if pile:
                file.write(pile)

    def repeats(self, most: int = 3) -> tuple[int, list[Repeat]]:
        """Return how many rows repeat an id, and the first few such ids in order of their rows."""
        count = 0
        found: list[Repeat] = []
        for pile in self._small_piles():
            more, some = _look_through(pile)
            count += more
            found = sorted([*found, *some], key=lambda repeat: repeat.first)[:most]
        return count, found

    def _small_piles(self) -> Iterator[Callable[[], Iterator[bytes]]]:
        """Give each pile as a way to read it, from its beginning, as often as it takes."""
        for file in self._files:
            size = file.tell()
            parts = 1 + size // LARGEST
            for part in range(parts):
                yield partial(_lines_of, file, part, parts)
            file.seek(size)


def _lines_of(file: IO[bytes], part: int, parts: int) -> Iterator[bytes]:
    file.seek(0)
    return (line for line in file if parts == 1 or crc32(line[line.index(b" ") :]) // PILES % parts == part)


def _look_through(pile: Callable[[], Iterable[bytes]]) -> tuple[int, list[Repeat]]:
    keys: set[bytes] = set()
    count = 0
    for line in pile():
        keys.add(line[line.index(b" ") :])
        count += 1
    count -= len(keys)
    if not count:
        # Nearly always no id occurs twice.
        return 0, []
    first: dict[bytes, int] = {}
    second: dict[bytes, int] = {}
    for line in pile():
        number, _, key = line.partition(b" ")
        if key in first:
            second.setdefault(key, int(number))
        else:
            first[key] = int(number)
    return count, [Repeat(_text(key), first[key], number) for key, number in second.items()]


def _text(key: bytes) -> str:
    plain = re.sub(rb"\\(.)", lambda escaped: b"\n" if escaped[1] == b"n" else escaped[1], key.removesuffix(b"\n"))
    return plain.decode("utf-8", "surrogatepass")
