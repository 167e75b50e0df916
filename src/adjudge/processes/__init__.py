"""Killable worker processes: one kept for long (`Worker`), or several under a hard limit per job (`Pool`)."""

from adjudge.processes._errors import (
    JobCrashed,
    JobFailed,
    JobTimeout,
    MessageTooLarge,
    WorkerClosed,
    WorkerStartError,
)
from adjudge.processes._pool import Pool
from adjudge.processes._worker import Worker

__all__ = [
    "JobCrashed",
    "JobFailed",
    "JobTimeout",
    "MessageTooLarge",
    "Pool",
    "Worker",
    "WorkerClosed",
    "WorkerStartError",
]
