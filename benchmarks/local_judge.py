"""The local judge: CPU a pair of each tier, on validation rows, against containment in the same run; start and size.

Best of 8 rounds, in which references are prepared already; the first round of all, in which they are not, is shown
beside them (five candidates share a question here). Tier 1 is measured on every tenth row, one by
one and in batches, if its packages are there; rows that a rule decides, which it does not read, are among them as they
come. The start is the CPU time of a process to its first verdict, against a bare interpreter.
"""

import sys
from pathlib import Path

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's
sys.path.insert(0, str(Path(__file__).parent.parent / "training"))

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from resource import RUSAGE_CHILDREN, getrusage
from subprocess import DEVNULL, run
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import rows as labelled

from adjudge.judges.local import LocalJudge
from adjudge.judges.local._tier0 import assess
from adjudge.judges.local._tiers import best_tier
from adjudge.text import normalise_answer

ROUNDS = 8
BATCHES = (8, 64)
PAIR = {0: 0.3, 1: 10.0}  # the most milliseconds a pair
START = 1.5  # the most seconds to the first verdict
SIZE = {0: 1.0, 1: 50.0}  # the most megabytes
FILES = {
    0: dict.fromkeys(("tier0.json", "thresholds.json", "places.json"), "adjudge.judges.local"),
    1: {
        "tier1.json": "adjudge.judges.local",
        **dict.fromkeys(("judge.onnx", "spans.onnx", "sentences.onnx", "words.npz", "vocab.txt"), "adjudge_weights"),
    },
}
ROW = {"id": "a", "question": "Capital?", "reference": "Paris", "response": "The city of light"}
FIRST = "from adjudge.judges.local import LocalJudge; LocalJudge(tier=TIER).judge_many([ROW])"

Row = dict[str, Any]


def contains(row: Row) -> bool:
    """Return whether a reference stands in the candidate: the floor."""
    candidate = f" {normalise_answer(row['candidate'])} "
    return any(f" {normalise_answer(one)} " in candidate for one in row["reference"])


def in_batches(rows: Sequence[Row], size: int) -> Callable[[], object]:
    """Return the work of judging rows by tier 1, so many at a time."""
    judge = LocalJudge(tier=1)
    return lambda: [judge.judge_many(rows[start : start + size]) for start in range(0, len(rows), size)]


def times(ways: dict[str, tuple[int, Callable[[], object]]]) -> dict[str, float]:
    """Return the least CPU milliseconds a pair of each way, over some rounds."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for name, (count, way) in ways.items():
            before = process_time()
            way()
            best[name] = min(best[name], (process_time() - before) / count * 1e3)
    return best


def start(*arguments: str) -> float:
    """Return the least CPU seconds of a process, of three, each in a folder of its own with one row."""
    spent = []
    for _ in range(3):
        with TemporaryDirectory() as folder:
            Path(folder, "rows.jsonl").write_text(json.dumps(ROW), encoding="utf-8")
            before = getrusage(RUSAGE_CHILDREN)
            run([sys.executable, *arguments], check=True, cwd=folder, stdout=DEVNULL, stderr=DEVNULL)
            after = getrusage(RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def first_round(rows: Sequence[Row]) -> float:
    """Return the CPU milliseconds a pair of tier 0 where nothing but the model has been read before."""
    judge = LocalJudge(tier=0)
    judge.judge_many([ROW])
    before = process_time()
    judge.judge_many(rows)
    return (process_time() - before) / len(rows) * 1e3


def show_pairs(tiers: Sequence[int]) -> bool:
    """Print milliseconds a pair of each way; return whether all are within their bars."""
    rows = labelled.read("evouna-val")
    print(f"{'local:0, first round':24} {first_round(rows):8.3f} ms a pair")
    ways: dict[str, tuple[int, Callable[[], object]]] = {
        "containment": (len(rows), lambda: [contains(row) for row in rows]),
        "local:0": (len(rows), lambda: LocalJudge(tier=0).judge_many(rows)),
    }
    if 1 in tiers:
        some = rows[::7]  # five systems answer each question in turn: every tenth row would be of one of them
        read = sum(not assess(row["question"], tuple(row["reference"]), row["candidate"]).ruled for row in some)
        print(f"{len(rows):,} pairs, tier 1 on {len(some):,}, of which no rule decides {read / len(some):.0%}")
        ways["local:1, one by one"] = (len(some), in_batches(some, 1))
        ways |= {f"local:1, {size} at a time": (len(some), in_batches(some, size)) for size in BATCHES}
        ways["local:1, all at once"] = (len(some), in_batches(some, len(some)))
    found = times(ways)
    for name, time in found.items():
        print(f"{name:24} {time:8.3f} ms a pair {time / found['containment']:8.1f}x containment")
    return all(time <= PAIR[int(name[6])] for name, time in found.items() if name.startswith("local:"))


def show_starts(tiers: Sequence[int]) -> bool:
    """Print the CPU seconds to a first verdict; return whether all are within the bar."""
    bare, ok = start("-c", "pass"), True
    for tier in tiers:
        command = f"-m adjudge judge run rows.jsonl --judge local:{tier} --run a.run"
        found = {
            f"local:{tier}, in Python": start("-c", FIRST.replace("TIER", str(tier)).replace("ROW", repr(ROW))),
            f"local:{tier}, as a command": start(*command.split()),
        }
        for name, time in found.items():
            print(f"{name:24} {time:8.2f} s at first  {time / bare:7.1f}x a bare interpreter")
        ok = ok and max(found.values()) <= START
    return ok


def show_sizes() -> bool:
    """Print the megabytes of each tier's files; return whether all are within their bars."""
    ok = True
    for tier, names in FILES.items():
        size = sum(len(files(package).joinpath(name).read_bytes()) for name, package in names.items()) / 1e6
        print(f"{f'local:{tier}, files':24} {size:8.2f} MB of {SIZE[tier]:.0f} at most")
        ok = ok and size <= SIZE[tier]
    return ok


def main() -> int:
    """Print what each tier costs; fail if one is above its bar."""
    tiers = range(best_tier() + 1)
    return int(not all([show_pairs(tiers), show_starts(tiers), show_sizes()]))


if __name__ == "__main__":
    raise SystemExit(main())
