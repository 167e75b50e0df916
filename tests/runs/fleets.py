"""A fleet of processes on this machine, to be killed: what Ray's actors are elsewhere.

As a program it is one member: it reads pickled shards from standard input and answers with pickled segments.
"""

import asyncio
import pickle
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from adjudge.runs import MemberLost, Segment, Shard, forget_shard, recover_shard, work_shard

HEAD = struct.Struct("<Q")


class ProcessFleet:
    """Members are processes; `kill` kills one as it stands."""

    def __init__(self, size: int, *, keeps_disks: bool = True) -> None:
        self.size = size
        self.keeps_disks = keeps_disks
        self.members: dict[int, subprocess.Popen[bytes]] = {}
        self.shards: list[Shard] = []
        self.lost = 0

    async def work(self, member: int, shard: Shard) -> AsyncIterator[Segment]:
        """Run a shard in the member's process."""
        self.shards.append(shard)
        if member not in self.members:
            command = [sys.executable, str(Path(__file__))]
            self.members[member] = _start(command)
        process = self.members[member]
        question: Shard | None = shard
        while True:
            segment = await asyncio.to_thread(_exchange, process, question)
            if segment is None:
                raise MemberLost("the process died")
            yield segment
            if segment.is_last:
                return
            question = None

    async def recover(self, member: int, shard: Shard) -> Segment | None:
        """Read what it left, where its disk is still there."""
        self.lost += 1
        self._end(member)
        if not self.keeps_disks:
            forget_shard(shard)
        return await asyncio.to_thread(recover_shard, shard)

    async def forget(self, member: int, shard: Shard) -> None:
        """Remove what is left."""
        forget_shard(shard)

    def kill(self, number: int) -> bool:
        """Kill a member, if there is one."""
        alive = [process for process in list(self.members.values()) if process.poll() is None]
        if alive:
            alive[number % len(alive)].kill()
        return bool(alive)

    def close(self) -> None:
        """End all."""
        for member in list(self.members):
            self._end(member)

    def _end(self, member: int) -> None:
        process = self.members.pop(member, None)
        if process is not None:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
            with suppress(OSError):
                assert process.stdin is not None
                process.stdin.close()


def _start(command: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _exchange(process: "subprocess.Popen[bytes]", shard: Shard | None) -> Segment | None:
    """Send a shard, if there is one, and read the next segment; None where the process is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if shard is not None:
            data = pickle.dumps(shard)
            process.stdin.write(HEAD.pack(len(data)) + data)
            process.stdin.flush()
        head = process.stdout.read(HEAD.size)
        body = process.stdout.read(HEAD.unpack(head)[0]) if len(head) == HEAD.size else b""
        if not body or len(body) < HEAD.unpack(head)[0]:
            return None
    except (OSError, ValueError):
        return None
    found: Segment = pickle.loads(body)  # noqa: S301 (our own process)
    return found


def main() -> None:
    """Be a member."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(HEAD.size):
        shard: Any = pickle.loads(source.read(HEAD.unpack(head)[0]))  # noqa: S301 (our own parent)
        for segment in work_shard(shard):
            data = pickle.dumps(segment)
            sink.write(HEAD.pack(len(data)) + data)
            sink.flush()


if __name__ == "__main__":
    main()
