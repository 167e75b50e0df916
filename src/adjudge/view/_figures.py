"""What the rows of a file amount to, from its index: the three counts, means with intervals, distributions, slices.

All sums are made by SQLite, so a million rows take the memory of one; they are made again only when there are new rows.
"""

import sqlite3
from dataclasses import dataclass, field
from math import isfinite

from adjudge.conversations import RATE_RANGES, RATES
from adjudge.runs import EarlyStop
from adjudge.statistics import Clusters, Mean, Moments, mean_of
from adjudge.view._queries import Query
from adjudge.view._sources import TURN, About, Spent

BINS = 20
MOST_TAGS = 200  # slices with figures
MOST_OFFERED = 5_000  # tags that the filter offers
IS_TAG = "name >= 'tag:' AND name < 'tag;'"  # of a mark
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
    """What the scores of one scorer amount to.

    `is_binary`: all are 0 or 1; `se` is that of independent rows; `marks` says how many rows are flaky or disagree,
    `verdicts` how many are right or wrong.
    """

    name: str
    counts: dict[str, int]
    mean: Mean | None
    bins: tuple[HistogramBar, ...] = ()
    reasons: dict[str, int] = field(default_factory=dict)
    is_binary: bool = False
    range: Range = None
    se: float | None = None
    marks: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows have an outcome."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class EarlyFinding:
    """What was decided of one threshold, with the only interval that holds after many looks."""

    verdict: str
    name: str
    reason: str
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class EarlyFigures:
    """How a run was decided before all its cases were needed, in words and threshold by threshold."""

    headline: str
    spared: int
    findings: tuple[EarlyFinding, ...]

    @classmethod
    def of(cls, early: EarlyStop) -> "EarlyFigures":
        """Return what a page shows of a decision."""
        words = {"pass": "pass", "fail": "FAIL", None: "open"}
        findings = []
        for one in early.findings:
            found = one.estimate
            low, high = (None, None) if found is None or found.low is None else (found.low, found.high)
            findings.append(EarlyFinding(words[one.verdict], one.name, one.reason, low, high))
        return cls(early.headline, early.spared, tuple(findings))

    def mean_of(self, name: str, mean: Mean | None) -> Mean | None:
        """Return a mean with the interval of the decision, or without one."""
        known = next(((one.low, one.high) for one in self.findings if one.name == name), (None, None))
        return None if mean is None else Mean(mean.value, *known, mean.n, "anytime")


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The figures of a file: those of every scorer, slices by tag of the first, times, tokens and cost.

    `tags` says how many slices there are and `offered` names the most frequent ones, `rates` are the numbers of a CRAG
    run, `early` how a run was decided early.
    """

    rows: int
    scorers: tuple[ScorerFigures, ...] = ()
    slices: tuple[Slice, ...] = ()
    tags: int = 0
    offered: tuple[str, ...] = ()
    rates: dict[str, Mean] = field(default_factory=dict)
    early: EarlyFigures | None = None
    seconds: tuple[float, float, float] | None = None  # the median, the 95th percentile, the longest
    tokens: int | None = None
    cost: float | None = None
    spent: Spent | None = None

    @property
    def headline(self) -> ScorerFigures | None:
        """The figures that stand for the run."""
        return self.scorers[0] if self.scorers else None


def figures_of(connection: sqlite3.Connection, about: About, early: EarlyStop | None = None) -> RunFigures:
    """Sum up an index."""
    rows, tokens, cost = connection.execute("SELECT count(*), sum(tokens), sum(cost) FROM rows").fetchone()
    decided = None if early is None else EarlyFigures.of(early)
    sums = _Sums(connection, about)
    scorers = tuple(_scorer(sums, at, decided) for at in range(len(about.scorers)))
    tags = _tags(connection)
    different = connection.execute(f"SELECT count(DISTINCT name) FROM marks WHERE {IS_TAG}").fetchone()[0]
    return RunFigures(
        rows=rows,
        scorers=scorers,
        slices=_slices(sums, tags[:MOST_TAGS], decided),
        tags=different,
        offered=tuple(name.removeprefix("tag:") for name, _ in tags),
        rates=_rates(connection, about.scorers.index(TURN)) if TURN in about.scorers else {},
        early=decided,
        seconds=_seconds(connection),
        tokens=tokens,
        cost=cost,
    )


def count_in(figures: RunFigures, query: Query) -> int | None:
    """Return how many rows a query finds where the figures say so: of all rows, or those of one filter."""
    if not query.is_filtered:
        return figures.rows
    # Of rows in another order those without a number are left out.
    if query.sort != "number" or len(query.filters) != 1 or query.wrong or not figures.scorers:
        return None
    scorer = figures.scorers[query.scorer]
    known = scorer.counts | scorer.verdicts | scorer.marks
    if query.reason:
        known = scorer.reasons
    elif query.tag:
        known = {one.name.removeprefix("tag:"): one.rows for one in figures.slices}
    return known.get(query.status or query.verdict or query.mark or query.reason or query.tag)


class _Sums:
    """An index that is summed up; `is_clustered` says that some of its rows belong together."""

    def __init__(self, connection: sqlite3.Connection, about: About) -> None:
        self.connection, self.about = connection, about
        self.is_clustered = (
            connection.execute(
                "SELECT 1 FROM rows WHERE cluster IS NOT NULL GROUP BY cluster HAVING count(*) > 1 LIMIT 1"
            ).fetchone()
            is not None
        )


def _scorer(sums: _Sums, at: int, early: EarlyFigures | None) -> ScorerFigures:
    connection, about = sums.connection, sums.about
    name, range_ = about.scorers[at], about.range_of(at)
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
    mean = _mean(sums, at)
    marks = connection.execute(
        "SELECT name, count(*) FROM marks WHERE name IN (?, ?) GROUP BY name", (f"disagree:{at}", f"flaky:{at}")
    )
    right, wrong = connection.execute(
        "SELECT sum(value >= 0.5), sum(value < 0.5) FROM scores WHERE scorer = ?", (at,)
    ).fetchone()
    return ScorerFigures(
        name,
        counts,
        mean if early is None else early.mean_of(name, mean),
        () if low is None else _bins(connection, at, range_ or (low, high)),
        dict(reasons),
        is_binary,
        range_,
        _standard_error(connection, at),
        {mark.partition(":")[0]: count for mark, count in marks},
        {"right": right or 0, "wrong": wrong or 0},
    )


def _mean(sums: _Sums, at: int, tag: str | None = None) -> Mean | None:
    """Return the mean of a scorer, over all rows or those with a tag, as the command that made the run has it."""
    connection, about = sums.connection, sums.about
    where, values = "scorer = ? AND value IS NOT NULL", list[object]([at])
    if tag is not None:
        # Without the plus, SQLite goes through all values of the scorer for every tag.
        where = "scorer = ? AND +value IS NOT NULL AND number IN (SELECT number FROM marks WHERE name = ?)"
        values.append(tag)
    is_turn = about.scorers[at] == TURN
    is_clustered = (
        sums.is_clustered
        and connection.execute(
            f"SELECT 1 FROM scores JOIN rows USING (number) WHERE {where} AND cluster IS NOT NULL"
            " GROUP BY cluster HAVING count(*) > 1 LIMIT 1",
            values,
        ).fetchone()
    )
    # `adjudge crag` gives conversations of one turn, too, the interval of clusters.
    if is_turn or is_clustered:
        return _clustered_mean(connection, where, values, about.range_of(at), is_turn=is_turn)
    return _plain_mean(connection, where, values, about.range_of(at))


def _plain_mean(connection: sqlite3.Connection, where: str, values: list[object], range_: Range) -> Mean | None:
    """Return the mean of independent rows, as a summary on the terminal has it."""
    n, total, others = connection.execute(
        f"SELECT count(*), sum(value), sum(value NOT IN (0.0, 1.0)) FROM scores WHERE {where}", values
    ).fetchone()
    if not n:
        return None
    mean = total / n
    # The sum is beyond a float, the mean is not.
    if not isfinite(mean):
        mean = connection.execute(f"SELECT sum(value / ?) FROM scores WHERE {where}", [n, *values]).fetchone()[0]
    squares = connection.execute(
        f"SELECT sum((value - ?) * (value - ?)) FROM scores WHERE {where}", [mean, mean, *values]
    ).fetchone()[0]
    # Nor may the squares be: then there is a mean and no interval.
    if squares is None or not isfinite(squares):
        return Mean(mean, None, None, n, "none")
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
    return None if squares is None or not isfinite(squares) else float((squares / (n - 1) / n) ** 0.5)


def _clustered_mean(
    connection: sqlite3.Connection, where: str, values: list[object], range_: Range, *, is_turn: bool
) -> Mean | None:
    """Return the mean of rows that belong together; a row without a cluster is one of its own."""
    clusters = Clusters(range_)
    totals = connection.execute(
        f"""SELECT count(*), sum(value) FROM scores JOIN rows USING (number) WHERE {where}
            GROUP BY coalesce('c' || cluster, number)""",
        values,
    )
    # Equal totals are counted together: there are few different ones.
    for size, total, count in _counted(totals):
        # A sum that is beyond a float has no interval.
        if not isfinite(total):
            return _plain_mean(connection, where, values, range_)
        clusters.add_total(size, total, count=count)
    # As in the summary of the run: Wilson's interval for shares, Student's t for the rest, and for turns of CRAG.
    others = connection.execute(
        f"SELECT 1 FROM scores WHERE {where} AND value NOT IN (0.0, 1.0) LIMIT 1", values
    ).fetchone()
    found = clusters.estimate(method="t" if is_turn or others or range_ is None else "wilson")
    return None if found is None else Mean(found.value, found.low, found.high, found.n, "clustered")


def _rates(connection: sqlite3.Connection, at: int) -> dict[str, Mean]:
    """Return the rates of turns that `adjudge crag` prints, but for those of exact matches and whole conversations."""
    totals = connection.execute(
        """SELECT count(*), sum(value = 1.0), sum(number IN (SELECT number FROM marks WHERE name = 'miss'))
           FROM scores JOIN rows USING (number) WHERE scorer = ? AND value IS NOT NULL
           GROUP BY coalesce('c' || cluster, number)""",
        (at,),
    ).fetchall()
    found = {}
    for rate in RATES[1:-1]:
        clusters = Clusters(RATE_RANGES[rate])
        for size, right, missing in totals:
            wrong = size - right - missing
            of_rate = {"accuracy": right, "missing": missing, "hallucination_rate": wrong}
            clusters.add_total(size, of_rate.get(rate, right - wrong))
        estimate = clusters.estimate()
        if estimate is not None:
            found[rate.replace("_", " ")] = Mean(estimate.value, estimate.low, estimate.high, estimate.n, "clustered")
    return found


def _counted(totals: sqlite3.Cursor) -> list[tuple[int, float, int]]:
    found: dict[tuple[int, float], int] = {}
    for size, total in totals:
        found[size, total] = found.get((size, total), 0) + 1
    return [(size, total, count) for (size, total), count in found.items()]


def _bins(connection: sqlite3.Connection, at: int, range_: tuple[float, float]) -> tuple[HistogramBar, ...]:
    """Return the distribution of the values of a scorer."""
    low, high = range_
    width = (high / BINS - low / BINS) or 1.0
    # A power of two changes no digit, and keeps differences of the largest numbers within a float.
    scale = 1.0 if isfinite(high - low) else 2.0**-10
    counts = dict(
        connection.execute(
            """SELECT max(0, min(?, CAST((value * ? - ?) / ? AS INTEGER))) AS bin, count(*) FROM scores
               WHERE scorer = ? AND value IS NOT NULL GROUP BY bin""",
            (BINS - 1, scale, low * scale, width * scale, at),
        )
    )
    # The distance of the ends may be beyond a float where they are not.
    edges = [low * (1 - n / BINS) + high * (n / BINS) for n in range(BINS + 1)]
    return tuple(HistogramBar(edges[n], edges[n + 1], counts.get(n, 0)) for n in range(BINS))


def _tags(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return the marks of the most frequent tags, each with how many rows have it."""
    return connection.execute(
        f"SELECT name, count(*) FROM marks WHERE {IS_TAG} GROUP BY name ORDER BY count(*) DESC, name LIMIT ?",
        (MOST_OFFERED,),
    ).fetchall()


def _slices(sums: _Sums, tags: list[tuple[str, int]], early: EarlyFigures | None) -> tuple[Slice, ...]:
    """Return the figures of the first scorer by tag."""
    if not sums.about.scorers:
        return ()
    found = []
    for name, rows in tags:
        mean = _mean(sums, 0, name)
        # The looks that decided the run were at all rows: no interval of a part of them holds.
        shown = mean if early is None else early.mean_of("", mean)
        found.append(Slice(name, rows, 0 if mean is None else mean.n, shown))
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
