"""The tables of an index, and how rows are written into them.

`marks` are tags (`tag:short`) and what was noticed, also by scorer (`miss`, `disagree:0`, `flaky:1`). `bodies` are rows
that are kept. `INDEXES` are made when the first rows are there.
"""

import sqlite3
from collections.abc import Sequence

from adjudge.model import Score, to_json
from adjudge.view._sources import TURN, ViewRow
from adjudge.view._text import searchable_text, tags_of

VERSION = 5
STATUSES = ("scored", "unscored", "error")
SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE rows (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, cluster TEXT, is_repeat INTEGER NOT NULL, seconds REAL,
    tokens INTEGER, cost REAL);
CREATE TABLE scores (
    scorer INTEGER, number INTEGER, status INTEGER NOT NULL, value REAL, reason TEXT, PRIMARY KEY (scorer, number)
) WITHOUT ROWID;
CREATE TABLE marks (name TEXT, number INTEGER, PRIMARY KEY (name, number)) WITHOUT ROWID;
CREATE TABLE bodies (number INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'unicode61 remove_diacritics 2');
"""
INDEXES = """
CREATE INDEX IF NOT EXISTS rows_by_id ON rows (id);
CREATE INDEX IF NOT EXISTS rows_by_seconds ON rows (seconds);
CREATE INDEX IF NOT EXISTS rows_by_cluster ON rows (cluster) WHERE cluster IS NOT NULL;
CREATE INDEX IF NOT EXISTS scores_by_status ON scores (scorer, status, number);
CREATE INDEX IF NOT EXISTS scores_by_value ON scores (scorer, value, number);
CREATE INDEX IF NOT EXISTS scores_by_reason ON scores (scorer, reason, number) WHERE reason IS NOT NULL;
"""
INSERTS = {
    "rows": "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)",
    "scores": "INSERT INTO scores VALUES (?, ?, ?, ?, ?)",
    "marks": "INSERT OR IGNORE INTO marks VALUES (?, ?)",
    "bodies": "INSERT INTO bodies VALUES (?, ?)",
    "words": "INSERT INTO words (rowid, text) VALUES (?, ?)",
}


def write_rows(connection: sqlite3.Connection, rows: Sequence[ViewRow], judged: int | None, *, is_kept: bool) -> None:
    """Write rows, one table after the other; `judged` is the scorer that is a judge."""
    values: dict[str, list[tuple[object, ...]]] = {table: [] for table in INSERTS}
    for row in rows:
        tokens = cost = None
        if (record := row.trajectory) is not None:
            tokens = (record.prompt_tokens or 0) + (record.completion_tokens or 0) or None
            cost = record.cost
        identity = (row.number, storable(row.id), storable(row.cluster))
        values["rows"].append((*identity, row.is_repeat, row.seconds, tokens, cost))

        scores = list((row.scores or {}).values())
        for at, score in enumerate(scores):
            reason = None if score.status == "scored" else storable((score.reason or "").partition(":")[0][:80])
            values["scores"].append((at, row.number, STATUSES.index(score.status), score.value, reason))

        marks = [f"tag:{tag}" for tag in tags_of(row)]
        marks += [f"disagree:{at}" for at in _disagreeing(scores, judged)]
        if any(name == TURN and score.parts.get("miss") for name, score in (row.scores or {}).items()):
            marks.append("miss")
        values["marks"] += [(storable(mark), row.number) for mark in marks]

        values["words"].append((row.number, storable(searchable_text(row))))
        if is_kept:
            values["bodies"].append((row.number, to_json(row)))
    for table, insert in INSERTS.items():
        connection.executemany(insert, values[table])


def mark_flaky(connection: sqlite3.Connection, scorers: int) -> None:
    """Mark the repeats of a case whose outcomes differ; turns of a conversation are different questions."""
    for at in range(scorers):
        connection.execute(
            """INSERT OR IGNORE INTO marks SELECT ?, number FROM rows WHERE cluster IN (
                 SELECT cluster FROM rows JOIN scores USING (number)
                 WHERE is_repeat AND scorer = ? AND value IS NOT NULL
                 GROUP BY cluster HAVING min(value) < max(value))""",
            (f"flaky:{at}", at),
        )


def _disagreeing(scores: list[Score], judged: int | None) -> list[int]:
    """Return the scorers that put a response on the other side of one half than the judge; with any, the judge too."""
    verdict = scores[judged].value if judged is not None and judged < len(scores) else None
    if verdict is None:
        return []
    is_right = verdict >= 0.5
    found = [at for at, one in enumerate(scores) if one.value is not None and (one.value >= 0.5) != is_right]
    return [*found, judged] if found and judged is not None else []


def storable(text: str | None) -> str | None:
    """Return text that SQLite can hold: half a character is replaced."""
    return None if text is None else text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
