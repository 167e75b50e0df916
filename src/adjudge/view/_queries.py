"""Which rows: filters, search, order and pages, as SQL over the index.

    Query(scorer=0, status="error", words="Paris")      rows with an error whose texts have a word that begins so

Every page is found from the end of the one before it, never by counting rows, so the last page costs what the first
does. Counts stop at a limit for the same reason. A filter that leaves fewer rows than that leads: its rows are found
and sorted. Where every filter leaves more, a page is soon full when the index is gone through in order.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import urlencode

from adjudge.view._text import folded

PAGE = 50
MOST_COUNTED = 10_000
MOST_COLUMNS = 40  # of the table of rows
COLUMNS = {"number": "", "value": "s.value", "seconds": "r.seconds"}
LEADERS = {"words": ("words", "words.rowid"), "tag": ("marks m", "m.number"), "mark": ("marks m", "m.number")}
STATUSES = {"scored": 0, "unscored": 1, "error": 2}

Sort: TypeAlias = Literal["number", "value", "-value", "seconds", "-seconds"]
MARKS = ("disagree", "flaky")
SORTS: tuple[Sort, ...] = ("number", "value", "-value", "seconds", "-seconds")


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody asked for: rows of one scorer with a status, verdict, reason, range of values, tag, mark, words.

    `after` is the place behind which a page begins, as `RowPage.next` gives it. `wrong` are bounds that are not
    numbers, by name: then no row is found. `columns` are those of the table that were chosen.
    """

    scorer: int = 0
    status: str = ""
    verdict: str = ""
    reason: str = ""
    low: float | None = None
    high: float | None = None
    tag: str = ""
    mark: str = ""
    words: str = ""
    sort: Sort = "number"
    after: str = ""
    wrong: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, str], scorers: int, columns: Sequence[str] = ()) -> Query:
        """Read the query of an address; what makes no sense is left out."""
        sort = given.get("sort", "number")
        bounds = {name: given.get(name, "").strip()[:80] for name in ("low", "high")}
        return cls(
            scorer=min(whole_number(given.get("scorer", "")) or 0, max(scorers - 1, 0)),
            status=given.get("status", "") if given.get("status", "") in STATUSES else "",
            verdict=given.get("verdict", "") if given.get("verdict", "") in ("right", "wrong") else "",
            reason=given.get("reason", "")[:80],
            low=_number(bounds["low"]),
            high=_number(bounds["high"]),
            tag=given.get("tag", "")[:500],
            mark=given.get("mark", "") if given.get("mark", "") in MARKS else "",
            words=given.get("words", "")[:500],
            sort=next((one for one in SORTS if one == sort), "number"),
            after=given.get("after", "")[:80],
            wrong=tuple((name, text) for name, text in bounds.items() if text and _number(text) is None),
            columns=tuple(dict.fromkeys(one[:200] for one in columns[:MOST_COLUMNS])),
        )

    def address(self, **changes: Any) -> str:
        """Return the query as the end of an address, with some of it changed; an empty one is empty."""
        one = replace(self, **{"after": "", **changes})
        given = {name: getattr(one, name) for name in self.__dataclass_fields__ if name != "wrong"} | dict(one.wrong)
        kept = {name: value for name, value in given.items() if value not in ("", None, 0, ()) and value != "number"}
        # 0 as a bound means something, as a scorer it is the first.
        kept |= {name: value for name in ("low", "high") if (value := given[name]) not in ("", None)}
        return f"?{urlencode(kept, doseq=True, errors='replace')}" if kept else ""

    def behind(self, after: str) -> Query:
        """Return the query of the page that begins behind a place."""
        return replace(self, after=after)

    @property
    def filters(self) -> dict[str, Query]:
        """The queries with only one filter of this one each, by its name; both bounds of the value are one filter."""
        found = {
            name: Query(self.scorer, **{name: value})
            for name in ("status", "verdict", "reason", "tag", "mark")
            if (value := getattr(self, name))
        }
        if self.words.strip():
            found["words"] = Query(self.scorer, words=self.words)
        if not (self.low is None and self.high is None):
            found["value"] = Query(self.scorer, low=self.low, high=self.high)
        return found

    @property
    def is_filtered(self) -> bool:
        """Whether some rows may be left out."""
        return bool(self.filters or self.wrong)

    @property
    def faults(self) -> list[str]:
        """What of it cannot be looked for, in words."""
        found = [f"The value {text!r} is not a number: write it like 0.5." for _, text in self.wrong]
        if self.words.strip() and not match_of(self.words):
            found.append(f"{self.words.strip()!r:.80} has no letters or digits, and only those can be searched for.")
        return found


class RowPage(NamedTuple):
    """The numbers of the rows of a page, and where the next one begins; None for the last."""

    numbers: list[int]
    next: str | None


def find_page(connection: sqlite3.Connection, query: Query, lead: str | None) -> RowPage:
    """Return one page of what a query finds; `lead` is the filter that leaves few rows, if there is one."""
    plan = _plan_of(query, lead)
    where, values = list(plan.where), list(plan.values)
    if query.after:
        begin, number = _place(query.after)
        if number is None:
            return RowPage([], None)
        where.append(plan.beyond(forwards=True))
        values += [begin, number] if plan.column else [number]
    sql = (
        f"SELECT {plan.number}, {plan.column or 0} FROM {plan.tables} WHERE {' AND '.join(where)}"
        f" {plan.by(forwards=True)} LIMIT ?"
    )
    found = connection.execute(sql, [*values, PAGE + 1]).fetchall()
    end = found[PAGE - 1] if len(found) > PAGE else None
    return RowPage([row[0] for row in found[:PAGE]], None if end is None else f"{end[1]!r}_{end[0]}")


def count_of(connection: sqlite3.Connection, query: Query, lead: str | None) -> tuple[int, bool]:
    """Return how many rows a query finds, up to a limit, and whether there are more."""
    plan = _plan_of(query, lead)
    inner = f"SELECT 1 FROM {plan.tables} WHERE {' AND '.join(plan.where)} LIMIT {MOST_COUNTED + 1}"
    found = connection.execute(f"SELECT count(*) FROM ({inner})", plan.values).fetchone()[0]
    return min(found, MOST_COUNTED), found > MOST_COUNTED


def neighbours(
    connection: sqlite3.Connection, query: Query, number: int, lead: str | None
) -> tuple[int | None, int | None]:
    """Return the numbers of the rows before and after one, in the order of a query."""
    plan = _plan_of(query, lead)
    at: list[Any] = [number]
    if plan.column:
        sql = f"SELECT {plan.column} FROM scores s JOIN rows r USING (number) WHERE s.scorer = ? AND s.number = ?"
        here = connection.execute(sql, [query.scorer, number]).fetchone()
        if here is None:
            return None, None
        at = [here[0], number]
    found: list[int | None] = []
    for forwards in (False, True):
        conditions = " AND ".join([*plan.where, plan.beyond(forwards=forwards)])
        sql = f"SELECT {plan.number} FROM {plan.tables} WHERE {conditions} {plan.by(forwards=forwards)} LIMIT 1"
        row = connection.execute(sql, [*plan.values, *at]).fetchone()
        found.append(None if row is None else row[0])
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A query as parts of SQL: the tables, the conditions with their values, and the order by a column and number."""

    tables: str
    where: list[str]
    values: list[Any]
    column: str
    number: str
    is_down: bool

    def by(self, *, forwards: bool) -> str:
        """Return the order as SQL, or the other way round."""
        way = "ASC" if forwards != self.is_down else "DESC"
        return f"ORDER BY {self.column} {way}, {self.number} {way}" if self.column else f"ORDER BY {self.number} {way}"

    def beyond(self, *, forwards: bool) -> str:
        """Return the condition that a row comes behind a place, or before it."""
        sign = ">" if forwards != self.is_down else "<"
        return f"({self.column}, {self.number}) {sign} (?, ?)" if self.column else f"{self.number} {sign} ?"


def _plan_of(query: Query, lead: str | None) -> _Plan:
    """Return how rows are found: by a filter that leads, to be sorted, or in their order until a page is full."""
    column = COLUMNS[query.sort.lstrip("-")]
    # Words and marks have their rows in the order of the run, too.
    if lead is None and not column:
        lead = next((name for name in LEADERS if name in query.filters), None)
    by_seconds = lead is None and column == "r.seconds"
    first, number = ("rows r", "r.number") if by_seconds else LEADERS.get(lead or "", ("scores s", "s.number"))
    # A CROSS JOIN keeps the order of the tables.
    tables = first if first == "scores s" else f"{first} CROSS JOIN scores s ON s.number = {number}"
    if column == "r.seconds" and not by_seconds:
        tables += " CROSS JOIN rows r ON r.number = s.number"

    conditions = list(_conditions(query, lead))
    # Rows without a number have no place in an order by numbers.
    if column:
        conditions.append((f"{column} IS NOT NULL", None))
    if query.faults:
        conditions.append(("0", None))

    # Rows of a filter that leads are sorted: a plus keeps SQLite from going through the index of that order instead.
    if lead is not None and column:
        column = f"+{column}"
    elif lead in ("verdict", "value"):
        number = f"+{number}"
    where = [condition for condition, _ in conditions]
    values = [value for _, value in conditions if value is not None]
    return _Plan(tables, where, values, column, number, query.sort.startswith("-"))


def _conditions(query: Query, lead: str | None) -> Iterator[tuple[str, Any]]:
    """Give the condition of every filter, with its value."""
    yield "s.scorer = ?", query.scorer
    if query.status:
        yield "s.status = ?", STATUSES[query.status]
    if query.reason:
        yield "s.reason = ?", query.reason

    value = "s.value" if lead in ("verdict", "value") or query.sort.endswith("value") else "+s.value"
    if query.verdict:
        yield f"{value} {'>=' if query.verdict == 'right' else '<'} ?", 0.5
    if query.low is not None:
        yield f"{value} >= ?", query.low
    if query.high is not None:
        yield f"{value} <= ?", query.high

    is_marked = "EXISTS (SELECT 1 FROM marks WHERE name = ? AND number = s.number)"
    if query.tag:
        yield "m.name = ?" if lead == "tag" else is_marked, f"tag:{query.tag}"
    if query.mark:
        yield "m.name = ?" if lead == "mark" else is_marked, f"{query.mark}:{query.scorer}"
    if match := match_of(query.words):
        has_words = "EXISTS (SELECT 1 FROM words WHERE words MATCH ? AND rowid = s.number)"
        yield "words MATCH ?" if lead == "words" else has_words, match


def match_of(words: str) -> str:
    r"""Return words as SQLite's search takes them: all have to be there, each as the beginning of a word.

    What is in double quotes is one phrase. Nothing that somebody types is an operator.

    >>> match_of('Paris "capital of" NOT(')
    '"Paris"* "capital of" "NOT"*'
    """
    found = []
    for phrase, word in re.findall(r'"([^"]*)"|([^\s"]+)', words):
        text = " ".join(re.findall(r"[^\W_]+", folded(phrase or word)))
        if text:
            found.append(f'"{text}"' if phrase else f'"{text}"*')
    return " ".join(found)


def _place(text: str) -> tuple[float | None, int | None]:
    """Read where a page begins."""
    value, _, number = text.rpartition("_")
    return _number(value), whole_number(number)


def _number(text: str) -> float | None:
    """Read a number as people write it: what Python takes besides, such as 1_0, is none."""
    if not re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", text, re.ASCII):
        return None
    found = float(text)
    return found if found - found == 0 else None


def whole_number(text: str) -> int | None:
    """Read a number of an address; one that is too long for any file is none."""
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text, re.ASCII) else None
