"""The tables of a run file, their version, and how an older file becomes a current one.

    meta           what the run is: plan, limits, when the cases were complete
    cases          what was wanted, one row a case, in order of input; cases of one unit are scored together; the canary
                   of case n, which is for the judge alone, is case -(n + 1)
    requests       what was about to be asked, before it was
    replies        what came back, raw, before anybody interpreted it; or the fault that came instead
    attempts       attempts of a call that failed and were made again, or not
    trajectories   what the agent did, or why it did nothing
    scores         one row a case and scorer

Nothing is updated in place: a row is written once, with a checksum over its keys and body that is checked on every
read.
"""

import sqlite3
from hashlib import sha256

from adjudge.errors import RunError

APPLICATION = 0x41444A47  # "ADJG": what `file` and we tell a run file by

MIGRATIONS = (
    """
    CREATE TABLE meta (name TEXT PRIMARY KEY, body BLOB NOT NULL, sum BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE cases (seq INTEGER PRIMARY KEY, unit INTEGER NOT NULL, body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE TABLE requests (
        number INTEGER PRIMARY KEY, seq INTEGER NOT NULL, key BLOB NOT NULL, at REAL NOT NULL,
        body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE INDEX requests_by_case ON requests (seq);
    CREATE TABLE replies (
        number INTEGER PRIMARY KEY, source TEXT NOT NULL, seconds REAL NOT NULL, attempts INTEGER NOT NULL,
        prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, fault TEXT,
        body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE TABLE attempts (
        number INTEGER NOT NULL, attempt INTEGER NOT NULL, seconds REAL NOT NULL, fault TEXT NOT NULL,
        PRIMARY KEY (number, attempt)) WITHOUT ROWID;
    CREATE TABLE trajectories (
        seq INTEGER PRIMARY KEY, seconds REAL NOT NULL, fault TEXT, body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE TABLE scores (
        seq INTEGER NOT NULL, scorer INTEGER NOT NULL, status TEXT NOT NULL, value REAL, reason TEXT,
        body BLOB NOT NULL, sum BLOB NOT NULL, PRIMARY KEY (seq, scorer)) WITHOUT ROWID;
    """,
)
VERSION = len(MIGRATIONS)


def checksum(table: str, body: bytes, *keys: object) -> bytes:
    """Return the checksum of one record: its table, its keys and its body.

    >>> checksum("cases", b"a", 1) == checksum("cases", b"a", 1) != checksum("cases", b"a", 2)
    True
    """
    head = f"{table}{keys!r}".encode("utf-8", "surrogatepass")  # a tuple's text says itself where it ends
    return sha256(head + body).digest()[:8]  # the fastest where processors have it built in


def check_kind(connection: sqlite3.Connection, path: object) -> int:
    """Return the file's version; a file that is no run, or of a newer release, raises `RunError`."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION and tables:
        raise RunError(f"{path} is an SQLite file, but no run", code="not-a-run")
    if version > VERSION:
        message = f"{path} was written by a newer adjudge (its schema is {version}, this one reads up to {VERSION})"
        raise RunError(f"{message}: update adjudge", code="run-newer")
    return version


def migrate(connection: sqlite3.Connection, path: object) -> None:
    """Bring a new or older file to the current version, all of it or nothing."""
    version = check_kind(connection, path)
    if version == VERSION:
        return
    steps = "".join(MIGRATIONS[version:])
    connection.executescript(
        f"BEGIN IMMEDIATE; {steps} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
    )
