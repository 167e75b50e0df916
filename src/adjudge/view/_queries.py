"""Which rows: filters, search, order and pages, as SQL over the index.

    Query(scorer=0, status="error", words="Paris")      rows with an error whose texts have a word that begins so

Every page is found from the end of the one before it, never by counting rows, so the last page costs what the first
does. Counts stop at a limit for the same reason.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import urlencode

from adjudge.view._text import folded

PAGE = 50
MOST_COUNTED = 10_000
STATUSES = {"scored": 0, "unscored": 1, "error": 2}

Sort: TypeAlias = Literal["number", "value", "-value", "seconds", "-seconds"]
MARKS = ("disagree", "flaky")
SORTS: tuple[Sort, ...] = ("number", "value", "-value", "seconds", "-seconds")


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody asked for: rows of one scorer with a status, verdict, reason, range of values, tag, mark, words.

    `after` is the place behind which a page begins, as `RowPage.next` gives it. `wrong` are bounds that are not
    numbers, by name: then no row is found.
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

    @classmethod
    def of(cls, given: Mapping[str, str], scorers: int) -> Query:
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
        )

    def address(self, **changes: Any) -> str:
        """Return the query as the end of an address, with some of it changed; an empty one is empty."""
        one = replace(self, **{"after": "", **changes})
        given = {name: getattr(one, name) for name in self.__dataclass_fields__ if name != "wrong"} | dict(one.wrong)
        kept = {name: value for name, value in given.items() if value not in ("", None, 0) and value != "number"}
        # 0 as a bound means something, as a scorer it is the first.
        kept |= {name: value for name in ("low", "high") if (value := given[name]) not in ("", None)}
        return f"?{urlencode(kept, errors='replace')}" if kept else ""

    def behind(self, after: str) -> Query:
        """Return the query of the page that begins behind a place."""
        return replace(self, after=after)

    @property
    def is_filtered(self) -> bool:
        """Whether some rows may be left out."""
        is_set = self.status or self.verdict or self.reason or self.tag or self.mark or self.words.strip() or self.wrong
        return bool(is_set) or not (self.low is None and self.high is None)

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


def find_page(connection: sqlite3.Connection, query: Query, size: int = PAGE) -> RowPage:
    """Return one page of what a query finds."""
    where, values = _where(query)
    order = _order(query)
    if query.after:
        begin, number = _place(query.after)
        if number is None:
            return RowPage([], None)
        where.append(order.beyond(forwards=True))
        values += [begin, number] if order.column else [number]
    conditions = " AND ".join(where)
    sql = (
        f"SELECT {order.number}, {order.column or 0} FROM {_tables(query)} WHERE {conditions} {order.by(forwards=True)}"
    )
    found = connection.execute(f"{sql} LIMIT ?", [*values, size + 1]).fetchall()
    end = found[size - 1] if len(found) > size else None
    return RowPage([row[0] for row in found[:size]], None if end is None else f"{end[1]!r}_{end[0]}")


def count_of(connection: sqlite3.Connection, query: Query, total: int) -> tuple[int, bool]:
    """Return how many rows a query finds, up to a limit, and whether there are more."""
    if not query.is_filtered and query.sort == "number":
        return total, False
    where, values = _where(query)
    inner = f"SELECT 1 FROM {_tables(query)} WHERE {' AND '.join(where)} LIMIT {MOST_COUNTED + 1}"
    found = connection.execute(f"SELECT count(*) FROM ({inner})", values).fetchone()[0]
    return min(found, MOST_COUNTED), found > MOST_COUNTED


def neighbours(connection: sqlite3.Connection, query: Query, number: int) -> tuple[int | None, int | None]:
    """Return the numbers of the rows before and after one, in the order of a query."""
    where, values = _where(query)
    order = _order(query)
    at: list[Any] = [number]
    if order.column:
        sql = f"SELECT {order.column} FROM {_tables(query)} WHERE s.scorer = ? AND {order.number} = ?"
        here = connection.execute(sql, [query.scorer, number]).fetchone()
        if here is None:
            return None, None
        at = [here[0], number]
    found: list[int | None] = []
    for forwards in (False, True):
        conditions = " AND ".join([*where, order.beyond(forwards=forwards)])
        sql = f"SELECT {order.number} FROM {_tables(query)} WHERE {conditions} {order.by(forwards=forwards)} LIMIT 1"
        row = connection.execute(sql, [*values, *at]).fetchone()
        found.append(None if row is None else row[0])
    return found[0], found[1]


class Order(NamedTuple):
    """An order of rows: by a column, if any, then by their number."""

    column: str
    number: str
    is_down: bool

    def by(self, *, forwards: bool) -> str:
        """Return it as SQL, or the other way round."""
        way = "ASC" if forwards != self.is_down else "DESC"
        return f"ORDER BY {self.column} {way}, {self.number} {way}" if self.column else f"ORDER BY {self.number} {way}"

    def beyond(self, *, forwards: bool) -> str:
        """Return the condition that a row comes behind a place, or before it."""
        sign = ">" if forwards != self.is_down else "<"
        return f"({self.column}, {self.number}) {sign} (?, ?)" if self.column else f"{self.number} {sign} ?"


def _order(query: Query) -> Order:
    column = {"number": "", "value": "s.value", "seconds": "r.seconds"}[query.sort.lstrip("-")]
    # The table that is gone through in order is the one that has the number.
    if column:
        return Order(column, "r.number" if column == "r.seconds" else "s.number", query.sort.startswith("-"))
    return Order("", {"words": "words.rowid", "marks": "m.number"}.get(_leader(query), "s.number"), is_down=False)


def _leader(query: Query) -> Literal["rows", "words", "marks", "scores"]:
    """Return the table that is gone through in its own order, so that the search stops where a page is full."""
    if query.sort.endswith("seconds"):
        return "rows"
    if query.sort != "number":
        return "scores"
    return "words" if match_of(query.words) else "marks" if query.tag or query.mark else "scores"


def _tables(query: Query) -> str:
    """Return the tables; a CROSS JOIN keeps their order."""
    return {
        "rows": "rows r CROSS JOIN scores s ON s.number = r.number",
        "words": "words CROSS JOIN scores s ON s.number = words.rowid",
        "marks": "marks m CROSS JOIN scores s ON s.number = m.number",
        "scores": "scores s",
    }[_leader(query)]


def _where(query: Query) -> tuple[list[str], list[Any]]:
    """Return the conditions of a query and their values."""
    where, values = ["s.scorer = ?"], list[Any]([query.scorer])
    if query.status:
        where.append("s.status = ?")
        values.append(STATUSES[query.status])
    if query.verdict:
        where.append("s.value >= 0.5" if query.verdict == "right" else "s.value < 0.5")
    if query.reason:
        where.append("s.reason = ?")
        values.append(query.reason)
    for bound, sign in ((query.low, ">="), (query.high, "<=")):
        if bound is not None:
            where.append(f"s.value {sign} ?")
            values.append(bound)
    for mark in (f"tag:{query.tag}" if query.tag else "", f"{query.mark}:{query.scorer}" if query.mark else ""):
        if mark:
            leads = _leader(query) == "marks" and "m.name = ?" not in where
            where.append("m.name = ?" if leads else "s.number IN (SELECT number FROM marks WHERE name = ?)")
            values.append(mark)
    # Rows without a number have no place in an order by numbers.
    if query.sort != "number":
        where.append(f"{_order(query).column} IS NOT NULL")
    if query.faults:
        where.append("0")
    match = match_of(query.words)
    if match:
        leads = _leader(query) == "words"
        where.append("words MATCH ?" if leads else "s.number IN (SELECT rowid FROM words WHERE words MATCH ?)")
        values.append(match)
    return where, values


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
