"""The errors that a job in a worker process can end with.

    ProcessError
    ├── JobTimeout         the job used up its CPU time, or slept past the wall-clock backstop
    ├── JobCrashed         the worker died under the job: a signal, an exit, out of memory
    ├── JobFailed          the job raised; type and message arrive as text, never as an object
    ├── MessageTooLarge    a payload or a result is over the size bound
    ├── WorkerStartError   no worker could be started: a missing module, no such function, no process left
    └── WorkerClosed       the worker or the pool was closed, or has died since

After `JobFailed` and `MessageTooLarge` the worker is unharmed. After `JobTimeout` and `JobCrashed` it is gone: a
`WorkerPool` has already replaced it, a lone `Worker` has to be made again.
"""

from adjudge.errors import ProcessError

__all__ = [
    "JobCrashed",
    "JobFailed",
    "JobTimeout",
    "MessageTooLarge",
    "WorkerClosed",
    "WorkerDiedStarting",
    "WorkerStartError",
]


class JobTimeout(ProcessError):
    """The job used up its CPU time, or slept past the wall-clock backstop; its worker was killed."""

    default_code = "job-timeout"


class JobCrashed(ProcessError):
    """The worker died while it had the job. Out of memory has the code `out-of-memory`."""

    default_code = "job-crashed"


class JobFailed(ProcessError):
    """The job raised an exception.

    >>> error = JobFailed("ValueError: no such unit: 'furlong'")
    >>> error.type_name, error.text
    ('ValueError', "no such unit: 'furlong'")
    """

    default_code = "job-failed"

    @property
    def type_name(self) -> str:
        """The exception's class name."""
        return self.message.partition(": ")[0]

    @property
    def text(self) -> str:
        """The exception's message."""
        return self.message.partition(": ")[2]


class MessageTooLarge(ProcessError):
    """A payload or a result is over the size bound; no part of it was delivered."""

    default_code = "message-too-large"


class WorkerStartError(ProcessError):
    """No worker could be started."""

    default_code = "worker-start"


class WorkerDiedStarting(WorkerStartError):
    """The worker died before it was ready: the job was never with it, and another worker may do it."""


class WorkerClosed(ProcessError):
    """The worker or the pool was closed, or its process has died since the last job."""

    default_code = "worker-closed"
