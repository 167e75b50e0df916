"""Ids that stand twice, found in bounded memory: the same answer as a dictionary of all ids."""

import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.datasets import Repeat, RepeatFinder, sort_ids
from adjudge.datasets import _repeats as finding


def oracle(ids: Iterable[tuple[str, int]]) -> tuple[int, list[Repeat]]:
    """Find the repeats with everything in memory."""
    rows: dict[str, list[int]] = {}
    for id_, number in ids:
        rows.setdefault(id_, []).append(number)
    repeated = {id_: numbers for id_, numbers in rows.items() if len(numbers) > 1}
    found = sorted((Repeat(id_, n[0], n[1]) for id_, n in repeated.items()), key=lambda repeat: repeat.first)
    return sum(len(numbers) - 1 for numbers in repeated.values()), found


def found_in(ids: list[tuple[str, int]], size: int, most: int) -> tuple[int, list[Repeat]]:
    """Find the repeats a few ids at a time."""
    with RepeatFinder() as finder:
        for start in range(0, len(ids), size):
            finder.add(sort_ids(ids[start : start + size]))
        return finder.repeats(most)


ODD = ["", "\n", "\r", "\r\n", "\\", "\\n", "\\\n", " ", "1 a", "\ud800", "\udfff", "\x00", "\x1c", "\x85", "\u2028"]
IDS = st.one_of(
    st.sampled_from(ODD),
    st.lists(st.sampled_from([*ODD, "a"]), max_size=4).map("".join),
    st.text(alphabet=st.characters(), max_size=3),
)


@settings(max_examples=60)
@given(ids=st.lists(IDS, max_size=40), size=st.integers(1, 10), largest=st.sampled_from([1, 7, 40, 1 << 24]))
def test_as_a_dictionary(ids: list[str], size: int, largest: int) -> None:
    """The count and the first repeats are those of a dictionary, for any ids, chunks and size of a pile."""
    numbered = [(id_, number) for number, id_ in enumerate(ids, 1)]
    count, repeats = oracle(numbered)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finding, "LARGEST", largest)
        assert found_in(numbered, size, len(ids)) == (count, repeats)
        assert found_in(numbered, size, 3) == (count, repeats[:3])


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_odd_ids(odd: str) -> None:
    """An id of any characters is found again and told from its neighbours."""
    ids = [(odd, 1), (f"{odd}x", 2), (f"y{odd}", 3), (odd, 4)]
    assert found_in(ids, 2, 3) == (1, [Repeat(odd, 1, 4)])


def test_no_ids() -> None:
    """Where no id was seen, none repeats."""
    with RepeatFinder() as finder:
        assert finder.repeats() == (0, [])


def test_asked_twice() -> None:
    """Asking does not change the answer, nor end the adding."""
    with RepeatFinder() as finder:
        finder.add(sort_ids([("a", 1), ("a", 2)]))
        assert finder.repeats() == finder.repeats() == (1, [Repeat("a", 1, 2)])
        finder.add(sort_ids([("a", 3)]))
        assert finder.repeats() == (2, [Repeat("a", 1, 2)])


def _peak(ids: int) -> int:
    tracemalloc.start()
    try:
        with RepeatFinder() as finder:
            for start in range(0, ids, 1000):
                finder.add(sort_ids((f"id-{number:012}", number) for number in range(start, start + 1000)))
            assert finder.repeats() == (0, [])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times the ids take about the same memory once a pile has its largest size."""
    monkeypatch.setattr(finding, "LARGEST", 1 << 11)
    few, many = _peak(5_000), _peak(50_000)
    assert many < 1.5 * few
