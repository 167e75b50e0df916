"""Files that are shared with other processes: one holder at a time, SQLite files opened alike, and this user's seal.

    with FileLock(path, OutboxError, code="outbox-locked"):     the operating system's lock on `FILE.lock` beside it
    connection = connect(path)
    seal(content)                                               an HMAC that only this user on this machine can make

The lock ends with its process, however that ends, so a dead holder never has to be recognised; the number in the lock
file only tells a person which process to look for.
"""

import fcntl
import hmac
import os
import secrets
import sqlite3
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal, Self, TypeAlias

from adjudge.errors import AdjudgeError

__all__ = [
    "FileLock",
    "SqliteFault",
    "connect",
    "file_kind",
    "has_schema",
    "is_sealed",
    "roll_back",
    "seal",
    "sqlite_fault",
    "user_folder",
]

LARGEST_VALUE = 1 << 28  # bytes of one cell: more is refused, whatever a file says
KEY_BYTES = 32
# https://www.sqlite.org/fileformat2.html: where a file says whose it is, and the end of a journal of several files.
_APPLICATION = slice(68, 72)
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")

SqliteFault: TypeAlias = Literal["full", "io", "damaged", "locked", "other"]


class FileLock:
    """The right to use a file, from `acquire` to `release` or in a `with` statement.

    Where another process has it, `acquire` raises `error` with that `code` and the message `in_use`, in which
    `{holder}` becomes the process id of the holder.
    """

    def __init__(
        self,
        target: Path,
        error: type[AdjudgeError],
        *,
        code: str,
        in_use: str = "is in use by process {holder}: wait for it, or end it",
    ) -> None:
        # Through a link it is the same file, so the lock is the same too.
        self._target = target.resolve()
        self.path = Path(f"{self._target}.lock")
        self._error = error
        self._code = code
        self._in_use = in_use
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock at once, or raise."""
        while True:
            try:
                # A link in its place could name any file of ours, which would be emptied below.
                handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except OSError as error:
                raise self._error(f"{self.path}: {error.strerror or error}", code="cannot-write") from None
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
                os.close(handle)
                message = f"{self._target} {self._in_use.format(holder=holder)}"
                raise self._error(message, code=self._code) from None
            # Between our two steps the holder before us may have removed the file: then we locked a file that
            # nobody else will find, and must try again.
            try:
                if os.path.samestat(self.path.stat(), os.fstat(handle)):
                    break
            except FileNotFoundError:
                pass
            os.close(handle)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._handle = handle

    def release(self) -> None:
        """Give the lock back, and remove its file."""
        if self._handle is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def holder(self) -> int | None:
        """Return the id of the process that has the lock, or None; -1 where the lock file does not say."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            text = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
            return int(text) if text.isdigit() else -1
        finally:
            os.close(handle)
        return None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def connect(path: Path, *, timeout_s: float = 10.0, read_only: bool = False) -> sqlite3.Connection:
    """Open a file for any thread, with transactions begun by hand; wait for others that write for up to `timeout_s`.

    A new file can be read by its owner alone: prompts and replies are nobody else's business. What the file says is
    not trusted: its schema calls no functions, no cell can be larger than `LARGEST_VALUE`, and its journal names no
    other file.
    """
    with suppress(OSError), Path(f"{path.resolve()}-journal").open("rb") as journal:
        journal.seek(-len(_NAMES_ANOTHER), os.SEEK_END)
        if journal.read() == _NAMES_ANOTHER:  # SQLite would delete that file; ours never name one
            error = sqlite3.DatabaseError("the journal beside it names another file")
            error.sqlite_errorname = "SQLITE_CORRUPT"
            raise error
    if not read_only:
        with suppress(OSError):  # it exists; or SQLite says what is wrong
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    address = f"{path.resolve().as_uri()}?mode={'ro' if read_only else 'rw'}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=timeout_s)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
    connection.execute("PRAGMA trusted_schema = OFF")
    if read_only:
        connection.execute("PRAGMA query_only = ON")
    return connection


def roll_back(path: Path, application: int) -> bool:
    """Undo what a killed process left half-written, which a reader cannot; False where it left no file of ours."""
    if not Path(f"{path.resolve()}-journal").exists():
        return True
    with path.open("rb") as file:
        if int.from_bytes(file.read(_APPLICATION.stop)[_APPLICATION]) != application:
            return False
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA user_version")
    return True


def has_schema(connection: sqlite3.Connection, statements: str, *, partly: bool = False) -> bool:
    """Return whether a file holds exactly the tables and indexes that these statements make; `partly`: no others.

    Then a query does what it does on files of ours: there is no view that never ends, and no trigger.
    """
    # Statements are compared word by word; SQLite keeps them as they were written.
    made = statements.replace("IF NOT EXISTS ", "").split(";")
    wanted = {" ".join(one.split()) for one in made if "CREATE" in one}
    # The indexes that SQLite makes by itself have no statement. Names decide nothing: a prepared file may use any.
    found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    there = {" ".join(sql.split()) for (sql,) in found}
    return there <= wanted if partly else there == wanted


def file_kind(connection: sqlite3.Connection, application: int) -> int | None:
    """Return the version of a file of that application, 0 for an empty one; None where it is another's file."""
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    if found != application and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return None
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def sqlite_fault(error: sqlite3.DatabaseError | UnicodeDecodeError) -> SqliteFault:
    """Say what SQLite complains of: no room, a disk that fails, a damaged or another file, or a file in use."""
    # Names of tables, and messages that quote them, which are not text.
    if isinstance(error, UnicodeDecodeError):
        return "damaged"
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNC")):
        return "full"
    if name.startswith("SQLITE_IOERR"):
        return "io"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return "damaged"
    return "locked" if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) else "other"


def user_folder(kind: Literal["cache", "state"]) -> Path:
    """Return the user's folder of what can be made again (`cache`), or of runs and the key of the seals (`state`)."""
    base = os.environ.get(f"XDG_{kind.upper()}_HOME")
    usual = Path(".cache") if kind == "cache" else Path(".local", "state")
    return (Path(base) if base else Path.home() / usual) / "adjudge"


def seal(content: bytes, *, create: bool = True) -> str | None:
    """Return the HMAC of a content with this user's key; None where there is no key, and none can be made."""
    path = user_folder("state") / "key"
    key = b""
    with suppress(OSError):
        if create and not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Whole or not at all: a process that is killed here must not leave an empty key.
            new = path.with_name(f"key-{secrets.token_hex(8)}")
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(secrets.token_bytes(KEY_BYTES))
                os.link(new, path)
            finally:
                new.unlink()
    with suppress(OSError):  # another process may have made it at the same time
        key = path.read_bytes()
    return hmac.new(key, content, sha256).hexdigest() if len(key) >= KEY_BYTES else None


def is_sealed(content: bytes, stored: object) -> bool:
    """Return whether this user sealed the content, on this machine."""
    ours = seal(content, create=False)
    return (
        isinstance(stored, str)
        and ours is not None
        and hmac.compare_digest(stored.encode("utf-8", "replace"), ours.encode())
    )
