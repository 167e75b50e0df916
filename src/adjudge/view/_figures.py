"""What the rows of a file amount to, from its index: the three counts, means with intervals, distributions, slices.

All sums are made by SQLite, so a million rows take the memory of one; they are made again only when there are new rows.
"""

import sqlite3
from dataclasses import dataclass, field

from adjudge.statistics import Clusters, Mean, Moments, mean_of
from adjudge.view._sources import About, Spent

BINS = 20
MOST_TAGS = 30
MOST_REASONS = 12
Range = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """One bar of a distribution."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows with one tag: how many there are, how many have a score, and their mean."""

    name: str
    rows: int
    scored: int
    mean: Mean | None


@dataclass(frozen=True, slots=True)
class ScorerFigures:
    """What the scores of one scorer amount to; `is_binary`: all are 0 or 1; `se` is that of independent rows."""

    name: str
    counts: dict[str, int]
    mean: Mean | None
    bins: tuple[HistogramBar, ...] = ()
    reasons: dict[str, int] = field(default_factory=dict)
    is_binary: bool = False
    range: Range = None
    se: float | None = None

    @property
    def rows(self) -> int:
        """How many rows have an outcome."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The figures of a file: those of every scorer, slices by tag of the first, times, tokens and cost."""

    rows: int
    scorers: tuple[ScorerFigures, ...] = ()
    slices: tuple[Slice, ...] = ()
    marks: dict[str, int] = field(default_factory=dict)
    seconds: tuple[float, float, float] | None = None  # the median, the 95th percentile, the longest
    tokens: int | None = None
    cost: float | None = None
    spent: Spent | None = None

    @property
    def headline(self) -> ScorerFigures | None:
        """The figures that stand for the run."""
        return self.scorers[0] if self.scorers else None


def figures_of(connection: sqlite3.Connection, about: About) -> RunFigures:
    """Sum up an index."""
    rows, tokens, cost = connection.execute("SELECT count(*), sum(tokens), sum(cost) FROM rows").fetchone()
    is_clustered = connection.execute(
        "SELECT 1 FROM rows WHERE cluster IS NOT NULL GROUP BY cluster HAVING count(*) > 1 LIMIT 1"
    ).fetchone()
    ranges = (*about.ranges, *[None] * len(about.scorers))
    scorers = tuple(
        _scorer(connection, at, name, ranges[at], clustered=is_clustered is not None)
        for at, name in enumerate(about.scorers)
    )
    first = ranges[0] if about.scorers else None
    return RunFigures(
        rows=rows,
        scorers=scorers,
        slices=_slices(connection, first),
        marks=dict(
            connection.execute("SELECT name, count(*) FROM marks WHERE name IN ('disagree', 'flaky') GROUP BY name")
        ),
        seconds=_seconds(connection),
        tokens=tokens,
        cost=cost,
    )


def _scorer(connection: sqlite3.Connection, at: int, name: str, range_: Range, *, clustered: bool) -> ScorerFigures:
    counts = dict.fromkeys(("scored", "unscored", "error"), 0)
    by_status = connection.execute("SELECT status, count(*) FROM scores WHERE scorer = ? GROUP BY status", (at,))
    for status, count in by_status:
        counts[("scored", "unscored", "error")[status]] = count
    low, high, different = connection.execute(
        """SELECT min(value), max(value), sum(value NOT IN (0.0, 1.0)) FROM scores
           WHERE scorer = ? AND value IS NOT NULL""",
        (at,),
    ).fetchone()
    is_binary = low is not None and not different
    reasons = connection.execute(
        """SELECT reason, count(*) FROM scores WHERE scorer = ? AND reason IS NOT NULL
           GROUP BY reason ORDER BY count(*) DESC, reason LIMIT ?""",
        (at, MOST_REASONS),
    ).fetchall()
    return ScorerFigures(
        name,
        counts,
        _clustered_mean(connection, at, range_) if clustered else _plain_mean(connection, at, range_),
        () if low is None else _bins(connection, at, range_ or (low, high)),
        dict(reasons),
        is_binary,
        range_,
        _standard_error(connection, at),
    )


def _plain_mean(connection: sqlite3.Connection, at: int, range_: Range, marked: str | None = None) -> Mean | None:
    """Return the mean of independent rows, as a summary on the terminal has it."""
    where, values = "scorer = ? AND value IS NOT NULL", [at]
    if marked is not None:
        where += " AND number IN (SELECT number FROM marks WHERE name = ?)"
        values.append(marked)  # type: ignore[arg-type]
    n, total, others = connection.execute(
        f"SELECT count(*), sum(value), sum(value NOT IN (0.0, 1.0)) FROM scores WHERE {where}", values
    ).fetchone()
    if not n:
        return None
    mean = total / n
    squares = connection.execute(
        f"SELECT sum((value - ?) * (value - ?)) FROM scores WHERE {where}", [mean, mean, *values]
    ).fetchone()[0]
    found = mean_of(Moments(n, mean, squares, not others))
    if found is None or found.low is None or found.high is None or range_ is None:
        return found
    return Mean(found.value, max(found.low, range_[0]), min(found.high, range_[1]), found.n, found.method)


def _standard_error(connection: sqlite3.Connection, at: int) -> float | None:
    n, mean = connection.execute(
        "SELECT count(*), avg(value) FROM scores WHERE scorer = ? AND value IS NOT NULL", (at,)
    ).fetchone()
    if n < 2:
        return None
    squares = connection.execute(
        "SELECT sum((value - ?) * (value - ?)) FROM scores WHERE scorer = ? AND value IS NOT NULL", (mean, mean, at)
    ).fetchone()[0]
    return float((squares / (n - 1) / n) ** 0.5)


def _clustered_mean(connection: sqlite3.Connection, at: int, range_: Range) -> Mean | None:
    """Return the mean of rows that belong together; a row without a cluster is one of its own."""
    clusters = Clusters(range_)
    totals = connection.execute(
        """SELECT count(*), sum(value) FROM scores JOIN rows USING (number) WHERE scorer = ? AND value IS NOT NULL
           GROUP BY coalesce('c' || cluster, number)""",
        (at,),
    )
    # Equal totals are counted together: there are few different ones.
    for size, total, count in _counted(totals):
        clusters.add_total(size, total, count=count)
    # As in the summary of the run: Wilson's interval for shares, Student's t for the rest.
    others = connection.execute(
        "SELECT 1 FROM scores WHERE scorer = ? AND value IS NOT NULL AND value NOT IN (0.0, 1.0) LIMIT 1", (at,)
    ).fetchone()
    found = clusters.estimate(method="t" if others or range_ is None else "wilson")
    return None if found is None else Mean(found.value, found.low, found.high, found.n, "clustered")


def _counted(totals: sqlite3.Cursor) -> list[tuple[int, float, int]]:
    found: dict[tuple[int, float], int] = {}
    for size, total in totals:
        found[size, total] = found.get((size, total), 0) + 1
    return [(size, total, count) for (size, total), count in found.items()]


def _bins(connection: sqlite3.Connection, at: int, range_: tuple[float, float]) -> tuple[HistogramBar, ...]:
    """Return the distribution of the values of a scorer."""
    low, high = range_
    width = (high - low) / BINS or 1.0
    counts = dict(
        connection.execute(
            """SELECT max(0, min(?, CAST((value - ?) / ? AS INTEGER))) AS bin, count(*) FROM scores
               WHERE scorer = ? AND value IS NOT NULL GROUP BY bin""",
            (BINS - 1, low, width, at),
        )
    )
    return tuple(HistogramBar(low + n * width, low + (n + 1) * width, counts.get(n, 0)) for n in range(BINS))


def _slices(connection: sqlite3.Connection, range_: Range) -> tuple[Slice, ...]:
    """Return the figures of the first scorer by tag, the most frequent tags first."""
    names = connection.execute(
        """SELECT name, count(*) FROM marks WHERE name LIKE 'tag:%' GROUP BY name
           ORDER BY count(*) DESC, name LIMIT ?""",
        (MOST_TAGS,),
    ).fetchall()
    found = []
    for name, rows in names:
        mean = _plain_mean(connection, 0, range_, name)
        found.append(Slice(name, rows, 0 if mean is None else mean.n, mean))
    return tuple(found)


def _seconds(connection: sqlite3.Connection) -> tuple[float, float, float] | None:
    """Return the median time of a row, the 95th percentile and the longest."""
    count = connection.execute("SELECT count(seconds) FROM rows").fetchone()[0]
    if not count:
        return None
    query = "SELECT seconds FROM rows WHERE seconds IS NOT NULL ORDER BY seconds LIMIT 1 OFFSET ?"
    at = [min(int(share * count), count - 1) for share in (0.5, 0.95, 1.0)]
    median, late, longest = (connection.execute(query, (place,)).fetchone()[0] for place in at)
    return median, late, longest
