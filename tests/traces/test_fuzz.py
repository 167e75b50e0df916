"""Hostile records, made from real ones by a grammar of damage: each is read, or is a TrajectoryError, in few steps.

Steps are calls of functions, Python's own and those in C, as `sys.setprofile` counts them: the same on any machine.
"""

import json
import sys
from functools import partial
from random import Random
from typing import Any

import pytest

from adjudge.errors import TrajectoryError
from adjudge.model import Trajectory
from adjudge.receivers import ReceiverError
from adjudge.receivers._requests import read_logs, read_request
from adjudge.traces import load, missing
from support import GOLDEN, soak

RECORDS = {
    path.name: json.loads(path.read_bytes())
    for path in [*sorted((GOLDEN / "traces").glob("*.json")), *sorted((GOLDEN / "atif").glob("*.json"))]
    if path.stat().st_size < 20_000
}
LISTS = (GOLDEN / "frameworks" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
RECORDS |= {row["name"]: row["messages"] for row in map(json.loads, LISTS)}
PROTOBUF = (GOLDEN / "traces" / "sdk-openinference.pb").read_bytes()
# The dearest of 20,000 took 6 steps a byte, for 200 messages of two bytes each; nearly all take fewer than 1.4.
BASE, PER_BYTE = 6_000, 5


class Damage:
    """Damages a record in several places, by a number that says which way."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 (not a secret)
        self.values: list[Any] = []

    def record(self, value: Any) -> Any:
        """Return a record with one to six faults."""
        whole = [json.loads(json.dumps(value))]
        for _ in range(self.random.randint(1, 6)):
            places = list(self.places(whole))
            holder, key = self.random.choice(places)
            self.values = [inner[name] for inner, name in self.random.sample(places, min(20, len(places)))]
            self.change(holder, key)
        return whole[0]

    def places(self, value: Any) -> Any:
        """Give every place below a value."""
        waiting = [value]
        while waiting:
            here = waiting.pop()
            for key in here if isinstance(here, dict) else range(len(here)):
                yield here, key
                if isinstance(here[key], dict | list):
                    waiting.append(here[key])

    def change(self, holder: Any, key: Any) -> None:
        """Do one damage to one place."""
        random, value = self.random, holder[key]
        match random.randrange(8):
            case 0 | 1:
                holder[key] = self.fragment()
            case 2:  # an id, a parent, a time or a part of somebody else
                other = json.dumps(random.choice(self.values))
                holder[key] = json.loads(other) if len(other) < 3000 else None
            case 3 if isinstance(value, list) and len(json.dumps(value)) < 3000:  # many siblings, all alike
                holder[key] = value * random.randint(2, 40)
            case 4:
                for _ in range(random.choice([1, 2, 70, 300])):
                    value = [value] if random.random() < 0.5 else {random.choice(["messages", "a", "output"]): value}
                holder[key] = value
            case 5 if isinstance(holder, dict):
                holder["k" * random.choice([1, 100, 20_000])] = holder.pop(key)
            case 6 if isinstance(value, str):
                holder[key] = value[: random.randint(0, len(value))]
            case 7 if isinstance(holder, dict):
                del holder[key]

    def fragment(self) -> Any:
        """Return a value that a reader may not expect."""
        random = self.random
        texts = ['{"a":', "[" * 500, '{"messages":[{}', "\ud800", "\x00\x1b[2J", "attachment://a", "0" * 5000, "\u202e"]
        texts += ["[" + ",".join(["{}"] * 200) + "]", '{"a": NaN}', "1e999", '"' * 99, "\\" * 99, "a.0." * 50]
        others: list[Any] = [
            None,
            True,
            -1,
            1 << 70,
            1.5,
            float("nan"),
            float("inf"),
            [],
            {},
            [[]],
            {"": {}},
            [None] * 9,
        ]
        return random.choice([random.choice(texts), random.choice(others)])


def count_steps(work: Any) -> int:
    """Return how many functions a piece of work calls."""
    steps = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return steps


def read(content: bytes, kind: str | None) -> None:
    """Read a record; it is a trajectory, or a typed error."""
    try:
        assert isinstance(load(content, kind), Trajectory)
        missing(content, kind)
    except TrajectoryError:
        return


@pytest.mark.parametrize("part", range(4))
def test_damaged_records(part: int) -> None:
    """Of thousands of damaged records none raises anything else, and none takes more steps than its size allows."""
    names = sorted(RECORDS)
    for seed in range(part, soak(20_000), 4):
        try:
            damaged = Damage(seed).record(RECORDS[names[seed // 4 % len(names)]])
            content = json.dumps(damaged, ensure_ascii=seed % 3 > 0)
        except RecursionError:
            continue  # it is nested too deeply to be written down
        data = content.encode("utf-8", "surrogatepass")
        steps = count_steps(partial(read, data, None))
        assert steps <= BASE + PER_BYTE * len(data), f"seed {seed}: {steps:,} steps for {len(data):,} bytes"


def test_damaged_protobuf() -> None:
    """The same for protobuf: cut off, with numbers that never end, lengths that lie and fields of no known type."""
    for seed in range(soak(20_000)):
        random = Random(seed)  # noqa: S311 (not a secret)
        data = bytearray(PROTOBUF)
        for _ in range(random.randint(1, 8)):
            here = random.randrange(len(data) + 1)
            piece = random.choice([b"\xff" * random.randint(1, 30), b"\x0a\x7f", b"\x32\x00" * 50, random.randbytes(4)])
            data[here : here + random.choice([0, len(piece)])] = piece
        content = bytes(data[: random.choice([len(data), random.randrange(len(data) + 1)])])
        steps = count_steps(partial(read, content, "otlp-protobuf"))
        assert steps <= BASE + PER_BYTE * len(content), f"seed {seed}: {steps:,} steps for {len(content):,} bytes"


def test_damaged_requests() -> None:
    """The endpoint's reading of the same raises errors of ours only, and within the same steps."""

    def receive(content: bytes, encoding: Any) -> None:
        for reader in (read_request, read_logs):
            try:
                reader(content, encoding)
            except (TrajectoryError, ReceiverError):
                continue

    names = [name for name in sorted(RECORDS) if "otlp" in name]
    for seed in range(soak(20_000)):
        content = json.dumps(Damage(seed).record(RECORDS[names[seed % len(names)]])).encode()
        steps = count_steps(partial(receive, content, "json"))
        assert steps <= BASE + 2 * PER_BYTE * len(content), f"seed {seed}: {steps:,} steps for {len(content):,} bytes"
