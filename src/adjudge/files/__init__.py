"""Files that are shared with other processes: one holder at a time, and SQLite files opened alike.

with FileLock(path, OutboxError, code="outbox-locked"):
connection = connect(path)
"""

from adjudge.files._lock import FileLock
from adjudge.files._sqlite import SqliteFault, connect, file_kind, sqlite_fault

__all__ = ["FileLock", "SqliteFault", "connect", "file_kind", "sqlite_fault"]
