"""Which ids have come already, in 32 to 64 bytes each, and where each came first."""

from array import array

_LEAST = 1 << 10


class Seen:
    """Remembers ids by their hash, with where each came from.

    Two different ids are taken for one about once in 10 ** 7 data sets of a million ids.

    >>> seen = Seen()
    >>> seen.add("a", 1), seen.add("b", 2), seen.add("a", 3)
    (None, None, 1)
    """

    __slots__ = ("_count", "_keys", "_places")

    def __init__(self) -> None:
        self._count = 0
        self._keys = array("Q", [0]) * _LEAST  # 0 is a free place
        self._places = array("Q", [0]) * _LEAST

    def add(self, id_: str, place: int) -> int | None:
        """Remember an id; return the place of the first one of that name, if there is one."""
        key = hash(id_) & 0xFFFFFFFFFFFFFFFF or 1
        at = self._find(key)
        if self._keys[at]:
            return self._places[at]
        self._keys[at], self._places[at] = key, place
        self._count += 1
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
