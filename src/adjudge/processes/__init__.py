"""Work in other processes: chunks in order, or jobs under a hard limit in workers that can be killed.

    map_chunks(function, chunks, workers=4)      ordered results of trusted work
    WorkerPool("module:function").run(payload)   a job that may hang, under a limit of CPU time
    Worker("module:function")                    one process, kept for as long as it is needed
    search_patterns([PatternSearch(pattern, text)])   regular expressions, which may take for ever
    tethered(command)                            a program that ends with us, though another library starts it

No process of ours outlives its parent.
"""

from adjudge.processes._chunks import map_chunks
from adjudge.processes._errors import (
    JobCrashed,
    JobFailed,
    JobTimeout,
    MessageTooLarge,
    WorkerClosed,
    WorkerStartError,
)
from adjudge.processes._fork import ForkAware, register_after_fork
from adjudge.processes._patterns import LONGEST_TEXT, PatternSearch, check_pattern, search_patterns
from adjudge.processes._pool import WorkerPool
from adjudge.processes._tether import tethered
from adjudge.processes._worker import Worker

__all__ = [
    "LONGEST_TEXT",
    "ForkAware",
    "JobCrashed",
    "JobFailed",
    "JobTimeout",
    "MessageTooLarge",
    "PatternSearch",
    "Worker",
    "WorkerClosed",
    "WorkerPool",
    "WorkerStartError",
    "check_pattern",
    "map_chunks",
    "register_after_fork",
    "search_patterns",
    "tethered",
]
