"""The index finds what a plain filter finds, and follows a run that goes on."""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.model import Score
from adjudge.statistics import Moments, mean_of
from adjudge.view import _index, _queries
from adjudge.view._index import RowIndex, forget_old
from adjudge.view._queries import SORTS, Query
from adjudge.view._sources import ViewRow
from view.looking import RowsSource

WORDS = ("paris", "lima", "capital", "oslo")
SCORES = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 1.0]).map(Score.scored),
    st.sampled_from(["refused: no", "unreadable: x"]).map(Score.unscored),
    st.just(Score.error("died: y")),
)
ROWS = st.lists(
    st.tuples(SCORES, SCORES, st.sets(st.sampled_from(["a", "b"])), st.lists(st.sampled_from(WORDS), max_size=3)),
    max_size=25,
)
QUERIES = st.builds(
    Query,
    scorer=st.integers(0, 1),
    status=st.sampled_from(["", "scored", "unscored", "error"]),
    verdict=st.sampled_from(["", "right", "wrong"]),
    reason=st.sampled_from(["", "refused", "died"]),
    low=st.sampled_from([None, 0.0, 0.25]),
    high=st.sampled_from([None, 0.5, 1.0]),
    tag=st.sampled_from(["", "a", "none"]),
    mark=st.sampled_from(["", "disagree"]),
    words=st.sampled_from(["", "paris", "pa", "lima oslo", '"capital lima"', "NOT", "*"]),
    sort=st.sampled_from(SORTS),
)


def rows_from(drawn: list[tuple[Score, Score, set[str], list[str]]]) -> list[ViewRow]:
    """Return rows as a run has them."""
    return [
        ViewRow(
            at,
            f"id{at}",
            {"question": " ".join(words), "tags": sorted(tags)},
            seconds=(at * 7 % 5) / 10,
            scores={"one": one, "judge": judge},
        )
        for at, (one, judge, tags, words) in enumerate(drawn)
    ]


def is_found(row: ViewRow, query: Query) -> bool:
    """Say whether a row is what a query asks for, in plain Python."""
    scores = list((row.scores or {}).values())
    score, words = scores[query.scorer], row.columns["question"].split()
    one, judge = scores[0].value, scores[1].value
    value = score.value
    is_matched = {
        "": True,
        "paris": "paris" in words,
        "pa": "paris" in words,
        "lima oslo": "lima" in words and "oslo" in words,
        '"capital lima"': ("capital", "lima") in pairwise(words),
        "NOT": False,
        "*": False,
    }[query.words]
    return all(
        (
            not query.status or score.status == query.status,
            not query.verdict or (value is not None and (value >= 0.5) == (query.verdict == "right")),
            not query.reason or (score.reason or "").partition(":")[0] == query.reason,
            query.low is None or (value is not None and value >= query.low),
            query.high is None or (value is not None and value <= query.high),
            not query.tag or query.tag in row.columns["tags"],
            not query.mark or (one is not None and judge is not None and (one >= 0.5) != (judge >= 0.5)),
            query.sort.lstrip("-") != "value" or value is not None,
            is_matched,
        )
    )


def place_of(row: ViewRow, query: Query) -> tuple[float, int]:
    """Return where a row stands in the order of a query."""
    sign = -1 if query.sort.startswith("-") else 1
    value = list((row.scores or {}).values())[query.scorer].value
    order = {"number": 0.0, "value": value or 0.0, "seconds": row.seconds or 0.0}[query.sort.lstrip("-")]
    return sign * order, sign * row.number


@settings(max_examples=120, deadline=None)
@given(ROWS, st.lists(QUERIES, min_size=1, max_size=6), st.sampled_from([1, 5, 10_000]))
def test_a_query_finds_what_a_filter_finds(
    drawn: list[tuple[Score, Score, set[str], list[str]]], queries: list[Query], most: int
) -> None:
    """Every filter, search and order finds the rows that plain Python finds; neighbours are those beside a row.

    So it is for few rows, which are sorted, and for many, which are found in order.
    """
    rows = rows_from(drawn)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(_queries, "MOST_COUNTED", most)
        patch.setattr(_index, "MOST_COUNTED", most)
        index = RowIndex(RowsSource(Path(folder) / "x.run", rows, ("one", "judge"), judged=1), Path(folder))
        index.refresh()
        for query in queries:
            expected = [
                row.number for row in sorted(rows, key=lambda row: place_of(row, query)) if is_found(row, query)
            ]
            assert index.page(query).numbers == expected, query
            count, is_more = index.count(query)
            assert count == (min(len(expected), most) if is_more else len(expected)) or not query.is_filtered, query
            assert not is_more or len(expected) > most
            for at, number in enumerate(expected):
                before = expected[at - 1] if at else None
                after = expected[at + 1] if at + 1 < len(expected) else None
                assert index.neighbours(query, number) == (before, after), query
        index.close()


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_figures_are_those_of_the_rows(drawn: list[tuple[Score, Score, set[str], list[str]]]) -> None:
    """The three counts add up to all rows, and means are those of the scored ones."""
    rows = rows_from(drawn)
    with tempfile.TemporaryDirectory() as folder:
        index = RowIndex(RowsSource(Path(folder) / "x.run", rows, ("one", "judge")), Path(folder))
        index.refresh()
        for at, found in enumerate(index.figures().scorers):
            scores = [list((row.scores or {}).values())[at] for row in rows]
            values = [score.value for score in scores if score.value is not None]
            assert sum(found.counts.values()) == len(rows)
            expected = mean_of(Moments.of(values)) if values else None
            assert (found.mean is None) == (expected is None)
            if found.mean is not None and expected is not None:
                assert abs(found.mean.value - expected.value) < 1e-12
                assert sum(one.count for one in found.bins) == len(values)
        again = RowIndex(index.source, Path(folder))
        assert again.figures() == index.figures()
        index.close()
        again.close()


@settings(max_examples=30, deadline=None)
@given(ROWS, st.lists(st.integers(0, 25), max_size=4))
def test_an_index_made_in_steps_is_that_made_at_once(
    drawn: list[tuple[Score, Score, set[str], list[str]]], steps: list[int]
) -> None:
    """A run that was followed has the same figures and finds the same rows as one that was read when it was done."""
    rows = rows_from(drawn)
    with tempfile.TemporaryDirectory() as folder:
        source = RowsSource(Path(folder) / "x.run", rows, ("one", "judge"), judged=1)
        followed = RowIndex(source, Path(folder) / "a")
        for done in (*sorted(min(step, len(rows)) for step in steps), len(rows)):
            source.done = done
            followed.refresh()
            assert followed.size == done
        whole = RowIndex(source, Path(folder) / "b")
        whole.refresh()
        assert followed.figures() == whole.figures()
        for query in (Query(words="paris"), Query(sort="-value"), Query(mark="disagree")):
            assert followed.page(query) == whole.page(query)
        followed.close()
        whole.close()


def test_repeats_that_differ_are_flaky_and_turns_are_not(tmp_path: Path) -> None:
    """The same case with other outcomes is flaky; the turns of a conversation are other questions."""
    columns = [{"group_id": "g"}, {"group_id": "g"}, {"conversation_id": "c"}, {"conversation_id": "c"}]
    values = [0.0, 1.0, 0.0, 1.0]
    rows = [
        ViewRow(at, f"id{at}", one, scores={"one": Score.scored(value)})
        for at, (one, value) in enumerate(zip(columns, values, strict=True))
    ]
    index = RowIndex(RowsSource(tmp_path / "x.run", rows, ("one",)), tmp_path)
    index.refresh()
    assert index.page(Query(mark="flaky")).numbers == [0, 1]
    assert index.cluster("c", 9) == [2, 3]
    index.close()


@pytest.mark.parametrize(
    "query",
    [
        Query(),
        Query(verdict="wrong"),
        Query(verdict="right"),
        Query(verdict="wrong", tag="a"),
        Query(low=0.1, high=0.3),
        Query(low=0.0),
        Query(status="error", sort="-seconds"),
        Query(sort="-value"),
        Query(words="rare", sort="seconds"),
        Query(words="paris", tag="a"),
    ],
    ids=lambda query: query.address() or "all",
)
def test_a_page_of_many_rows_costs_what_one_of_few_rows_does(
    query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page, its counts and the rows beside one take as many steps of SQLite with twenty times the rows."""
    monkeypatch.setattr(_queries, "MOST_COUNTED", 100)
    monkeypatch.setattr(_index, "MOST_COUNTED", 100)
    steps = []
    for size in (400, 8_000):
        rows = []
        for at in range(size):
            # The few rows with a low value are at the end, where a search in order comes last.
            score = Score.error("died: y") if at > size - 20 else Score.scored(0.2 if at > size - 60 else 1.0)
            words = "rare" if at > size - 20 else "paris"
            rows.append(
                ViewRow(at, f"id{at}", {"question": words, "tags": ["a"]}, seconds=at / 9, scores={"one": score})
            )
        index = RowIndex(RowsSource(tmp_path / f"{size}.run", rows, ("one",)), tmp_path)
        index.refresh()
        index.figures()
        taken: list[int] = []
        index._connection.set_progress_handler(partial(taken.append, 10), 10)
        index.figures()
        index.count(query)
        index.page(query)
        index.neighbours(query, size - 30)
        assert index.size == size
        steps.append(sum(taken))
        index.close()
    assert steps[1] <= 1.5 * steps[0]


def test_an_index_that_nobody_uses_goes(tmp_path: Path) -> None:
    """Indexes of files that are long gone do not stay in the cache for ever; those in use do."""
    source = RowsSource(tmp_path / "x.run", [], ("one",))
    RowIndex(source, tmp_path).close()
    old = tmp_path / "old.sqlite"
    old.write_bytes(b"")
    os.utime(old, (0, 0))
    forget_old(tmp_path)
    assert [one.suffix for one in tmp_path.iterdir()] == [".sqlite"]
    assert not old.exists()


def test_two_viewers_may_read_one_file(tmp_path: Path) -> None:
    """Two that read the same file into the same index at once have every row once."""
    rows = rows_from([(Score.scored(1.0), Score.scored(0.0), {"a"}, ["paris"])] * 3_000)
    source = RowsSource(tmp_path / "x.run", rows, ("one", "judge"))
    indexes = [RowIndex(source, tmp_path) for _ in range(3)]
    with ThreadPoolExecutor() as threads:
        list(threads.map(RowIndex.refresh, indexes))
    for index in indexes:
        assert index.figures().scorers[0].counts == {"scored": 3_000, "unscored": 0, "error": 0}
        assert index.count(Query(words="paris")) == (3_000, False)
        index.close()


def test_rows_that_were_retried_are_read_again(tmp_path: Path) -> None:
    """A row with another outcome than the index knows is noticed, and the index made again."""
    rows = rows_from([(Score.error("died: y"), Score.scored(1.0), set(), [])])
    source = RowsSource(tmp_path / "x.run", rows, ("one", "judge"))
    index = RowIndex(source, tmp_path)
    index.refresh()
    source.all[0] = rows_from([(Score.scored(1.0), Score.scored(1.0), set(), [])])[0]
    source.changes += 1
    index.refresh()
    assert index.figures().scorers[0].counts == {"scored": 1, "unscored": 0, "error": 0}
    assert not index.is_stale(source.row(0))
    index.close()


def test_an_index_of_another_release_or_a_damaged_one_is_made_again(tmp_path: Path) -> None:
    """What is not an index of this release is thrown away, whatever it is."""
    source = RowsSource(
        tmp_path / "x.run", rows_from([(Score.scored(1.0), Score.scored(1.0), set(), [])]), ("one", "judge")
    )
    for damage in (b"", b"not a database", b"SQLite format 3\0" + b"x" * 5000):
        for old in tmp_path.glob("*.sqlite*"):
            old.write_bytes(damage)
        index = RowIndex(source, tmp_path)
        index.refresh()
        assert index.size == 1
        index.close()
