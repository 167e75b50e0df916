"""Worlds on this machine: in this process, or in a worker process that can hang, crash, eat memory and be killed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from adjudge.environments._errors import EnvDied, EnvProtocolError, EnvStepTimeout
from adjudge.environments._loops import in_thread
from adjudge.environments._protocol import ANYTHING, AskedInstance, restore_error
from adjudge.environments._world import Backend, EnvSpec, PoolLimits, World, start_episode
from adjudge.errors import AdjudgeError, Caught, ProcessError, UsageError
from adjudge.model import Outcome, Step
from adjudge.processes import JobFailed, JobTimeout, MessageTooLarge, Worker

__all__ = ["InProcess", "WorkerBackend", "backend_of"]

T = TypeVar("T")

_ENCODER = msgspec.json.Encoder()
_HEALTH_S = 10.0
_GRACE_S = 1.0


class InProcess:
    """Builds worlds in this process. They are called on the rollout's own event loop, so they must not block.

    Nothing can interrupt a call: a world that may hang belongs in a worker.
    """

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "LocalInstance":  # noqa: ARG002 (a backend's signature)
        """Build a world, off the loop."""
        with Caught() as caught:
            return LocalInstance(await in_thread(spec.build))
        if isinstance(caught.error, AdjudgeError):
            raise caught.error
        raise EnvDied(f"the {spec.kind} world could not be built: {caught.reason}") from caught.error


class LocalInstance:
    """One world in this process."""

    __slots__ = ("_world", "alive")

    def __init__(self, world: World) -> None:
        self._world = world
        self.alive = True

    async def reset(self, task: Any) -> Step:
        """Start an episode."""
        return self._call(Step, start_episode, self._world, task)

    async def step(self, action: str) -> Step:
        """Do one action."""
        return self._call(Step, self._world.step, action)

    async def outcome(self) -> Outcome:
        """Read the outcome."""
        return self._call(Outcome, self._world.outcome)

    async def health(self) -> bool:
        """Return whether no call has broken it."""
        return self.alive

    def memory_mb(self) -> float | None:
        """Return None: the memory belongs to this process."""
        return None

    async def close(self) -> None:
        """Close the world."""
        self.alive = False
        with Caught(fatal_too=True):
            self._world.close()

    def _call(self, kind: type[T], function: Callable[..., object], *arguments: object) -> T:
        """Call the world: its own errors are answers, any other exception is its end."""
        with Caught() as caught:
            found = function(*arguments)
            if isinstance(found, kind):
                return found
            raise EnvProtocolError(f"the world answered {type(found).__name__} instead of {kind.__name__}")
        error = caught.error
        if not isinstance(error, AdjudgeError):
            error = EnvDied(f"the world broke: {caught.reason}")
        self.alive = not isinstance(error, EnvDied | EnvStepTimeout)
        raise error


class WorkerBackend:
    """Starts each world in a worker process with its own process group, which dies with this one.

    `memory_mb` bounds the address space of the process (default: what the spec says); `stderr` is where its output
    goes, "discard" or "inherit".
    """

    def __init__(
        self, *, memory_mb: int | str | None = "spec", stderr: Literal["discard", "inherit"] = "discard"
    ) -> None:
        if isinstance(memory_mb, str) and memory_mb != "spec":
            raise UsageError(f"memory_mb must be a number, None or 'spec', not {memory_mb!r}", code="bad-limit")
        self._memory_mb = memory_mb
        self._stderr: Literal["discard", "inherit"] = stderr

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "WorkerInstance":
        """Start a process and build the world in it."""
        memory_mb = spec.memory_mb if isinstance(self._memory_mb, str) else self._memory_mb
        instance = None
        try:
            worker = await in_thread(
                lambda: Worker("adjudge.environments._protocol:answer", memory_mb=memory_mb, stderr=self._stderr)
            )
            instance = WorkerInstance(worker, limits.step_s)
            await instance.exchange(spec, limits.start_s, ANYTHING)
        except AdjudgeError as error:
            if instance is not None:
                await instance.close()
            # A start that was too slow is not a step that was: whoever waits must see that nothing was started.
            if isinstance(error, EnvDied | EnvStepTimeout | ProcessError):
                raise EnvDied(f"no {spec.kind} worker could be started: {error.message}", code=error.code) from error
            raise
        return instance


class WorkerInstance(AskedInstance):
    """One worker process with one world."""

    def __init__(self, worker: Worker, step_s: float) -> None:
        self._worker = worker
        self._broken = False
        self._step_s = step_s

    @property
    def pid(self) -> int:
        """The process id, which is also the process group's."""
        return self._worker.pid

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return not self._broken and self._worker.alive

    def memory_mb(self) -> float | None:
        """Return the resident memory of the process and all of its children, if the system reports it."""
        import resource

        # A world may have processes of its own, such as a JVM, which is most of its memory.
        pages, waiting = 0, [self._worker.pid]
        while waiting:
            folder = Path(f"/proc/{waiting.pop()}")
            try:
                pages += int((folder / "statm").read_text(encoding="ascii").split()[1])
                for children in folder.glob("task/*/children"):
                    waiting += map(int, children.read_text(encoding="ascii").split())
            except (OSError, ValueError, IndexError):
                continue
        return pages * resource.getpagesize() / (1 << 20) if pages else None

    async def close(self) -> None:
        """Let the world clean up for a moment, then end the whole process group."""
        self._broken = True
        with Caught(fatal_too=True):
            # Some worlds have files or processes to clean up. One that hangs loses that chance.
            if self._worker.alive:
                await self._worker.acall(b'["close", {}]', cpu_s=_GRACE_S, wall_s=_GRACE_S)
        await in_thread(self._worker.close)

    async def _ask(self, what: str, decoder: "msgspec.json.Decoder[T]", **arguments: Any) -> T:
        try:
            # As JSON, because a task is data of a row: the worker gets texts and numbers, whatever class the row's
            # values have.
            question = _ENCODER.encode((what, arguments))
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise UsageError(f"a task must be made of JSON values: {error}", code="bad-task") from error
        return await self.exchange(
            question, min(_HEALTH_S, self._step_s) if what == "health" else self._step_s, decoder
        )

    async def exchange(self, payload: object, seconds: float, decoder: "msgspec.json.Decoder[T]") -> T:
        """Send the worker a question, or the spec to build, and decode its answer."""
        try:
            reply = await self._worker.acall(payload, cpu_s=seconds, wall_s=seconds, brief=True)
        except ProcessError as error:
            raise self._fault(error) from error
        if type(reply) is bytes:
            try:
                return decoder.decode(reply)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise EnvProtocolError(f"worker {self.pid} sent an invalid answer: {error}") from error
        # The world's own errors arrive as three texts. Most leave it usable, such as a task that there is not.
        restored = restore_error(*reply)
        self._broken = isinstance(restored, EnvDied | EnvStepTimeout)
        raise restored

    def _fault(self, error: ProcessError) -> AdjudgeError:
        # Too long a message was not delivered, so the worker is unharmed. After every other fault it is not used again.
        if isinstance(error, MessageTooLarge):
            return EnvProtocolError(error.message)
        self._broken = True
        if isinstance(error, JobTimeout):
            return EnvStepTimeout(error.message)
        if isinstance(error, JobFailed):
            return EnvDied(f"the world in worker {self.pid} broke: {error.message}")
        return EnvDied(error.message, code="out-of-memory" if error.code == "out-of-memory" else None)


def backend_of(backend: str | Backend) -> Backend:
    """Return the backend that a word means, or the object itself."""
    if backend == "process":
        return InProcess()
    if backend == "worker":
        return WorkerBackend()
    if isinstance(backend, str):
        raise UsageError(f"a backend must be 'process', 'worker' or an object, not {backend!r}", code="bad-backend")
    return backend
