r"""A program as an agent: one JSON line in, one JSON line out, as many processes as there are calls in flight.

{"id": "q1", "message": "Capital of France?", "history": [], "session_id": "..."}\n
{"response": "Paris"}\n
"""

import asyncio
import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast

from adjudge.agents._answer import decode_answer, session_of, to_trajectory
from adjudge.agents._secret import check_command
from adjudge.calling import agent_variables
from adjudge.errors import DataError, ProcessError, UsageError, printable
from adjudge.model import Case, Message, Trajectory

LARGEST = 16 << 20  # bytes of one answer
MOST_LINES = 200  # of standard error that are passed on for one answer
MOST_BYTES = 64 << 10  # the same in bytes
_LONGEST_LINE = 4096
_GRACE_S = 1.0  # for what a program that has ended may have left in its pipes
_LINE_ENDS = re.compile(rb"\r\n|[\r\n]")
_PASSED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|TMP|TEMP|XDG_\w+|SYSTEMROOT"
    r"|PYTHON\w*|VIRTUAL_ENV|CONDA_PREFIX|CONDA_DEFAULT_ENV|NODE_PATH|JAVA_HOME|LD_\w+|DYLD_\w+|CUDA_VISIBLE_DEVICES"
    r"|SSL_CERT_FILE|SSL_CERT_DIR|OTEL_(?!\w*HEADERS)\w+"
)
"""What programs need to start, speak and be traced; none of it is a key."""


@dataclass(slots=True, eq=False)
class CommandAgent:
    """A program that answers JSON lines; it is started as often as needed and ended with the run.

    Of the environment it gets what every program needs (PATH, HOME, the language, Python's own, OpenTelemetry's without
    its headers), and the variables that are named: in `env`, or with `--agent-env`. Keys are not passed on by accident.
    """

    command: str
    name: str = ""
    env: tuple[str, ...] = ()
    _idle: list["_Program"] = field(default_factory=list)
    _all: set["_Program"] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.name = self.name or f"command:{self.command}"
        self.env = (*self.env, *agent_variables.get())
        if not shlex.split(self.command):
            raise UsageError("the command of the agent is empty")
        check_command(self.command)
        for name in self.env:
            if name not in os.environ:
                raise UsageError(f"{name[:80]} is not set, and the agent was to get it", code="unknown-variable")

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Send one case to an idle process, a new one if there is none, and read its answer."""
        # One that has ended since its last answer, or printed more than that, is of no use.
        self._idle = [program for program in self._idle if not program.is_spent]
        program = self._idle.pop() if self._idle else await self._start()
        try:
            answer = await self._exchange(program, case, history)
        except BaseException:
            # Its next line would be the answer to this case, and be taken for that to another.
            program.end()
            raise
        self._idle.append(program)
        return to_trajectory(case, answer)

    async def _start(self) -> "_Program":
        try:
            _, program = await asyncio.get_running_loop().subprocess_exec(
                _Program,
                *shlex.split(self.command),
                env=self._environment(),
                start_new_session=True,  # a group of its own: what it starts is ended with it
            )
        except OSError as error:
            message = f"{self.command}: {error.strerror or error}"
            raise ProcessError(message, code="agent-not-started") from None
        self._all = {each for each in self._all if not each.transport.is_closing()} | {program}
        return program

    def _environment(self) -> dict[str, str]:
        """Return the variables that the program gets; an empty one hides nothing, and may switch something off."""
        return {
            name: value
            for name, value in os.environ.items()
            if name in self.env or not value or _PASSED.fullmatch(name)
        }

    async def _exchange(self, program: "_Program", case: Case, history: Sequence[Message]) -> object:
        question = {
            "id": case.id,
            "message": case.question,
            "history": [{"role": message.role, "content": message.content} for message in history],
            "session_id": session_of(case),
        }
        line = await program.ask(json.dumps(question).encode() + b"\n")
        if line is None:
            await asyncio.wait([program.exited], timeout=_GRACE_S)
            hint = "of the environment it gets only PATH, HOME and the like: name others with --agent-env NAME"
            message = f"{self.command} {program.describe_end()} ({hint})"
            raise ProcessError(message, code="agent-died")
        return decode_answer(line)

    async def aclose(self) -> None:
        """End every process."""
        # All are killed before the first is waited for: they end side by side.
        programs, self._idle = list(self._all), []
        for program in programs:
            program.end()
        if programs:
            await asyncio.wait([program.exited for program in programs], timeout=_GRACE_S)
        for program in programs:
            program.transport.close()


class _Program(asyncio.SubprocessProtocol):
    """A process that is asked in lines and answers in lines.

    Nothing here waits for the end of a pipe: something that the program has started may hold it open for ever. Its
    standard error is passed on, made safe for a terminal and the log of a CI system, and so much of it for an answer.
    """

    def __init__(self) -> None:
        self.exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_spent = False
        self._answer: asyncio.Future[bytes | None] | None = None
        self._line = bytearray()
        self._error_line = b""
        self._lines_left, self._bytes_left = MOST_LINES, MOST_BYTES

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the means to reach the process."""
        self.transport = cast("asyncio.SubprocessTransport", transport)

    async def ask(self, question: bytes) -> bytes | None:
        """Return the line that answers a line; None where the program ends, or closes its output, before that."""
        self._pass_on(b"\n" if self._error_line else b"")
        self._lines_left, self._bytes_left = MOST_LINES, MOST_BYTES
        self._line.clear()
        self._answer = asyncio.get_running_loop().create_future()
        if self.is_spent:
            return None
        cast("asyncio.WriteTransport", self.transport.get_pipe_transport(0)).write(question)
        return await self._answer

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take a part of the answer, or of what is passed on."""
        if fd != 1:
            self._pass_on(data)
        elif self._answer is None or self._answer.done():
            self._refuse(data)
        else:
            # An empty line may be left over from the last answer; it is not one.
            part, end, rest = (data if self._line else data.lstrip()).partition(b"\n")
            self._line += part
            if len(self._line) > LARGEST:
                message = f"the agent's answer is longer than {LARGEST} bytes"
                self._answer.set_exception(DataError(message, code="bad-answer"))
            elif end:
                self._answer.set_result(bytes(self._line))
                self._refuse(rest)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Expect no answer where the program cannot give one any more, or did not read the question."""
        if fd == 1 or (fd == 0 and exc is not None):
            self.is_spent = True
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(None)
        elif fd == 2 and self._error_line:
            self._pass_on(b"\n")

    def process_exited(self) -> None:
        """End what it has left behind, and close the pipes once its last words have been read."""
        self.end()
        self.exited.set_result(None)
        asyncio.get_running_loop().call_later(_GRACE_S, self.transport.close)

    def end(self) -> None:
        """Kill the process and its group."""
        self.is_spent = True
        # The number of a process that is gone may be another's by now.
        if not self.exited.done():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.transport.get_pid(), signal.SIGKILL)

    def describe_end(self) -> str:
        """Say why there is not an answer, with the exit code or the signal that ended the process."""
        code = self.transport.get_returncode()
        if code is None:
            return "closed its input or its output without an answer"
        names = {one.value: one.name for one in signal.Signals}
        how = f"exit code {code}" if code >= 0 else names.get(-code, f"signal {-code}")
        return f"ended without an answer, with {how}"

    def _refuse(self, data: bytes) -> None:
        # What nobody asked for would be taken for the answer to the next question.
        if data.strip() and not self.is_spent:
            self.end()

    def _pass_on(self, data: bytes) -> None:
        """Print whole lines of standard error, until there were too many since the last question."""
        if self._lines_left < 0:
            return
        *lines, rest = _LINE_ENDS.split(self._error_line + data[: self._bytes_left])
        is_cut = len(data) > self._bytes_left or len(lines) > self._lines_left
        self._bytes_left -= min(len(data), self._bytes_left)
        # A line without an end is passed on in pieces, so that it takes no room.
        if len(rest) > _LONGEST_LINE or is_cut:
            lines, rest = [*lines, rest], b""
        self._error_line = rest

        shown = [printable(line.decode("utf-8", "replace"), _LONGEST_LINE) for line in lines[: self._lines_left]]
        self._lines_left -= len(shown)
        if is_cut:
            shown.append("... (more omitted)")
            self._lines_left = -1
        if shown:
            sys.stderr.write("".join(f"{line}\n" for line in shown))
            sys.stderr.flush()
