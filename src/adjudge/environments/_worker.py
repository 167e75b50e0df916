"""A world in a process of its own: it can hang, crash or eat memory, and be killed for it."""

from pathlib import Path
from pickle import HIGHEST_PROTOCOL, dumps
from typing import Any, TypeVar

import msgspec

from adjudge.environments._backend import PoolLimits, error_of
from adjudge.environments._background import in_thread
from adjudge.environments._errors import EnvDied, EnvProtocolError, EnvStepTimeout
from adjudge.environments._world import EnvSpec
from adjudge.errors import AdjudgeError, Caught, ProcessError, UsageError
from adjudge.model import Outcome, Step
from adjudge.processes import JobFailed, JobTimeout, MessageTooLarge, Worker
from adjudge.processes._limits import Limits, own_timer
from adjudge.processes._request import pack
from adjudge.processes._wire import frame_request

__all__ = ["WorkerBackend"]

T = TypeVar("T")

_ENCODER = msgspec.json.Encoder()
_STEP = msgspec.json.Decoder(Step)
_OUTCOME = msgspec.json.Decoder(Outcome)
_NOTHING = msgspec.json.Decoder(dict[str, Any])
_HEALTH_S = 10.0
_GRACE_S = 1.0
_LONG = 1 << 20


class WorkerBackend:
    """Starts each world in a worker process with its own process group, which dies with this one.

    `memory_mb` bounds the address space of the process (default: what the spec says); `stderr` is where its output
    goes, "discard" or "inherit".
    """

    def __init__(self, *, memory_mb: int | str | None = "spec", stderr: str = "discard") -> None:
        if isinstance(memory_mb, str) and memory_mb != "spec":
            raise UsageError(f"memory_mb is a number, None or 'spec', not {memory_mb!r}", code="bad-limit")
        self._memory_mb = memory_mb
        self._stderr = stderr

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "WorkerInstance":
        """Start a process and build the world in it."""
        memory_mb = spec.memory_mb if isinstance(self._memory_mb, str) else self._memory_mb
        instance = None
        try:
            worker = await in_thread(
                lambda: Worker(
                    "adjudge.environments._inside:answer",
                    memory_mb=memory_mb,
                    stderr=self._stderr,  # type: ignore[arg-type]
                )
            )
            instance = WorkerInstance(worker, limits.step_s)
            await instance.build(spec, limits.start_s)
        except (ProcessError, AdjudgeError) as error:
            if instance is not None:
                await instance.close()
            if isinstance(error, EnvDied | EnvStepTimeout | ProcessError):
                raise EnvDied(f"no {spec.kind} worker could be started: {error.message}", code=error.code) from error
            raise
        return instance


class WorkerInstance:
    """One worker process with one world."""

    __slots__ = ("_broken", "_cpu_s", "_limits", "_timer_s", "_worker")

    def __init__(self, worker: Worker, step_s: float) -> None:
        self._worker = worker
        self._broken = False
        self._cpu_s = step_s
        self._limits = Limits(step_s, step_s)
        self._timer_s = own_timer(step_s)

    @property
    def pid(self) -> int:
        """The process id, which is also the process group's."""
        return self._worker.pid

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return not self._broken and self._worker.alive

    async def build(self, spec: EnvSpec, start_s: float) -> None:
        """Build the world."""
        await self._ask(pack(spec, cpu_s=start_s), Limits(start_s, start_s), _NOTHING)

    async def reset(self, task: Any) -> Step:
        """Start an episode."""
        return await self._ask(self._line("reset", task), self._limits, _STEP)

    async def step(self, action: str) -> Step:
        """Do one action."""
        return await self._ask(self._framed(_ENCODER.encode(("step", action))), self._limits, _STEP)

    async def outcome(self) -> Outcome:
        """Read the outcome."""
        return await self._ask(self._line("outcome"), self._limits, _OUTCOME)

    async def health(self) -> bool:
        """Ask the process for an answer."""
        seconds = min(_HEALTH_S, self._cpu_s)
        with Caught():
            await self._ask(self._line("health"), Limits(seconds, seconds), _NOTHING)
            return True
        return False

    def memory_mb(self) -> float | None:
        """Resident memory of the process and all of its children."""
        return _resident_mb(self._worker.pid)

    async def close(self) -> None:
        """Let the world clean up for a moment, then end the whole process group."""
        self._broken = True
        with Caught(fatal_too=True):
            if self._worker.alive:
                await self._worker.acall(b'["close"]', cpu_s=_GRACE_S, wall_s=_GRACE_S)
        await in_thread(self._worker.close)

    def _line(self, *words: Any) -> bytes:
        try:
            line = _ENCODER.encode(words)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise UsageError(f"a task must be made of JSON values: {error}", code="bad-task") from error
        return self._framed(line)

    def _framed(self, line: bytes) -> bytes:
        if len(line) >= _LONG:
            return pack(line, cpu_s=self._cpu_s)  # which refuses what is too long
        return frame_request(dumps(line, HIGHEST_PROTOCOL), self._timer_s)

    async def _ask(self, request: bytes, limits: Limits, decoder: "msgspec.json.Decoder[T]") -> T:
        try:
            reply = await self._worker.acall_packed(request, limits, brief=True)
        except ProcessError as error:
            raise self._fault(error) from error
        if type(reply) is bytes:
            try:
                return decoder.decode(reply)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise EnvProtocolError(f"worker {self.pid} answered something that is no answer: {error}") from error
        told = error_of(*reply)
        self._broken = isinstance(told, EnvDied | EnvStepTimeout)
        raise told

    def _fault(self, error: ProcessError) -> AdjudgeError:
        if isinstance(error, MessageTooLarge):
            return EnvProtocolError(error.message)
        self._broken = True
        if isinstance(error, JobTimeout):
            return EnvStepTimeout(error.message)
        if isinstance(error, JobFailed):
            return EnvDied(f"the world in worker {self.pid} broke: {error.message}")
        return EnvDied(error.message, code="out-of-memory" if error.code == "out-of-memory" else None)


def _resident_mb(pid: int) -> float | None:
    """Add up a process and its descendants; None where the system does not tell."""
    pages, waiting = 0, [pid]
    while waiting:
        folder = Path(f"/proc/{waiting.pop()}")
        try:
            pages += int((folder / "statm").read_text(encoding="ascii").split()[1])
            for children in folder.glob("task/*/children"):
                waiting += map(int, children.read_text(encoding="ascii").split())
        except (OSError, ValueError, IndexError):
            continue
    import resource

    return pages * resource.getpagesize() / (1 << 20) if pages else None
