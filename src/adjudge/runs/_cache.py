"""Replies kept across runs, found by their requests: equal requests are paid once.

Processes may share a cache, and it may be lost or damaged at any time: an entry that cannot be read is a miss, and a
file that cannot be used is left aside with a warning. It is one SQLite file, in the user's cache folder unless another
is named.
"""

import os
import secrets
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Self, TypeAlias

from adjudge.errors import RunError
from adjudge.files import connect, has_schema, user_folder
from adjudge.model import ChatModel, ChatReply
from adjudge.runs._records import checksum, decode_as, join_inserts

Entry: TypeAlias = tuple[bytes, bytes]
"""A request's key and its reply as JSON."""

SCHEMA = """
    CREATE TABLE IF NOT EXISTS replies (
        number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, body BLOB NOT NULL, sum BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS secret (one INTEGER PRIMARY KEY CHECK (one = 1), body BLOB NOT NULL);
"""
VERSION = 1  # before it the cache kept replies that nobody could read
KEEP = "INSERT OR REPLACE INTO replies (key, body, sum) VALUES (?, ?, ?)"
EVERY = 1.0  # seconds between two writes: what a killed process loses here is in its run file
MANY = 512  # entries that are written at once, however soon
PATIENCE = 0.5  # seconds to wait for another process that writes
UNFIT = ("length", "content_filter")  # finish reasons of replies that ended early


def request_key(chat: ChatModel, body: bytes) -> bytes:
    """Return the key that equal requests to the same endpoint share, and no others.

    `body` is everything that the answer may depend on; the same model at another address counts as another model.
    """
    # Lengths before the parts: no two pairs of parts give the same bytes.
    address = getattr(chat, "base_url", None)
    endpoint = f"{chat.name} at {address}" if address else chat.name
    parts = (endpoint.encode("utf-8", "surrogatepass"), body)
    return sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).digest()[:16]


def is_worth_keeping(reply: ChatReply) -> bool:
    """Return whether a reply has a text, and all of it: then asking again would hardly help."""
    return bool(reply.text) and reply.refusal is None and reply.finish_reason not in UNFIT


def cache_path(place: str) -> Path:
    """Return the path of the cache that `RunConfig.cache` names."""
    if place != "user":
        return Path(place)
    return Path(os.environ.get("ADJUDGE_CACHE") or user_folder("cache") / "replies.sqlite")


@dataclass(slots=True, eq=False)
class Cache:
    """Replies by the keys of their requests; `find` and `keep` may be called from two different threads."""

    path: Path
    secret: bytes
    _reading: sqlite3.Connection
    _writing: sqlite3.Connection
    fault: str | None = None
    _kept: dict[bytes, bytes] = field(default_factory=dict)  # not written yet
    _written: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, place: str) -> Self:
        """Open the cache that `RunConfig.cache` names, a new one if there is none.

        `user` is `ADJUDGE_CACHE`, else a file in the user's cache folder. `RunError` says why it cannot be used.
        """
        path = cache_path(place)
        opened: list[sqlite3.Connection] = []
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Two connections: the event loop reads while the journal's thread writes.
            opened.extend(connect(path, timeout_s=PATIENCE) for _ in "rw")
            reading, writing = opened
            # Before anything is changed: it may be another program's file.
            if not has_schema(reading, SCHEMA, partly=True):
                raise RunError(f"{path} holds other tables than the cache has", code="no-cache")
            writing.execute("PRAGMA journal_mode = WAL")
            writing.execute("PRAGMA synchronous = NORMAL")
            writing.executescript(SCHEMA)
            if writing.execute("PRAGMA user_version").fetchone()[0] < VERSION:
                writing.execute("DELETE FROM replies")
                writing.execute(f"PRAGMA user_version = {VERSION}")
            # The key of nonces: with the same one an equal question is an equal request in every run.
            writing.execute("INSERT OR IGNORE INTO secret VALUES (1, ?)", (secrets.token_bytes(32),))
            secret = writing.execute("SELECT body FROM secret").fetchone()[0]
            if not isinstance(secret, bytes) or not secret:
                raise RunError(f"the cache {path} is damaged: remove it", code="no-cache")
        except (sqlite3.Error, OSError, UnicodeDecodeError, RunError) as error:
            for connection in opened:
                connection.close()
            if isinstance(error, RunError):
                raise
            raise RunError(f"the cache {path} cannot be used: {error}", code="no-cache") from None
        return cls(path, secret, reading, writing)

    def find(self, key: bytes) -> ChatReply | None:
        """Return the reply to an equal request; None where there is none, or where its record is damaged."""
        kept = self._kept.get(key)
        if kept is not None:
            return decode_as(ChatReply, kept)
        try:
            found = self._reading.execute("SELECT body, sum FROM replies WHERE key = ?", (key,)).fetchone()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self.fault = str(error)
            return None
        if found is None or not isinstance(found[0], bytes) or checksum("cache", found[0], key) != found[1]:
            return None
        try:
            return decode_as(ChatReply, found[0])
        except RunError:
            return None

    def hold(self, entries: Sequence[Entry]) -> None:
        """Let replies be found from now on; whoever holds them has them kept, too."""
        self._kept.update(entries)

    def keep(self, entries: Sequence[Entry]) -> None:
        """Keep replies; they are written now and then, and dropped where that fails."""
        self._kept.update(entries)
        if self._kept and (len(self._kept) >= MANY or time.monotonic() - self._written > EVERY):
            self.write()

    def write(self) -> None:
        """Write the replies that are kept."""
        entries, self._written = list(self._kept.items()), time.monotonic()
        writes = [(KEEP, (key, body, checksum("cache", body, key))) for key, body in entries]
        try:
            self._writing.execute("BEGIN IMMEDIATE")
            for statement, values in join_inserts(writes):
                self._writing.execute(statement, values)
            self._writing.execute("COMMIT")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self.fault = str(error)
            if self._writing.in_transaction:
                self._writing.execute("ROLLBACK")
        self._kept = {}

    def close(self) -> None:
        """Write what is left and close the files."""
        if self._kept:
            self.write()
        self._reading.close()
        self._writing.close()
