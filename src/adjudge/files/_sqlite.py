"""SQLite files: how they are opened, what kind they are, and what a complaint of SQLite means."""

import sqlite3
from pathlib import Path
from typing import Literal, TypeAlias

__all__ = ["SqliteFault", "connect", "file_kind", "sqlite_fault"]

SqliteFault: TypeAlias = Literal["full", "io", "damaged", "locked", "other"]


def connect(path: Path, *, timeout_s: float = 10.0) -> sqlite3.Connection:
    """Open a file for any thread, with transactions begun by hand; wait for others that write for up to `timeout_s`."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=timeout_s)


def file_kind(connection: sqlite3.Connection, application: int) -> int | None:
    """Return the version of a file of that application, 0 for an empty one; None where it is another's file."""
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    if found != application and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return None
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def sqlite_fault(error: sqlite3.DatabaseError) -> SqliteFault:
    """Say what SQLite complains of: no room, a disk that fails, a damaged or another file, or a file in use."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNC")):
        return "full"
    if name.startswith("SQLITE_IOERR"):
        return "io"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return "damaged"
    return "locked" if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) else "other"
