"""Labelled turns into every file and every score: CPU and peak memory of one process, at two sizes.

    python benchmarks/crag.py            1,000,000 turns of 200,000 conversations, and a tenth of it
    python benchmarks/crag.py 100000     another size

The public implementation needs 27 s for 20,000 turns, on pandas; the bar here is 60 s for fifty times as many. The
floor is `json.loads` and `json.dumps` of every row, once.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's

import json
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SIZES = (100_000, 1_000_000)
CPU_BAR = 60.0  # seconds
MEMORY_BAR = 400.0  # MB
WORDS = ("the", "a", "car", "red", "what", "is", "of", "in", "year", "model", "price", "how", "many", "which", "river")


def turns(count: int) -> Iterator[dict[str, Any]]:
    """Give turn data in a mixed order, as many workers would leave it: 1 to 9 turns a conversation, 5 on average."""
    chance = random.Random(5)
    waiting: list[list[dict[str, Any]]] = []
    made = session = 0
    while made < count or waiting:
        while made < count and len(waiting) < 64:
            length = min(chance.randint(1, 9), count - made)
            waiting.append(conversation(chance, session, length))
            made += length
            session += 1
        place = chance.randrange(len(waiting))
        yield waiting[place].pop(0)
        if not waiting[place]:
            waiting.pop(place)


def conversation(chance: random.Random, session: int, length: int) -> list[dict[str, Any]]:
    """Return the turns of one conversation."""
    name = f"{chance.getrandbits(128):032x}"
    ids = [f"{name[:8]}-{session}-{index}" for index in range(length)]
    ego, domain, quality = chance.random() < 0.5, chance.randrange(14), chance.randrange(5)
    return [
        {
            "session_id": name,
            "interaction_id": ids[index],
            "turn_idx": index,
            "is_ego": ego,
            "image_quality": quality,
            "query_category": chance.randrange(6),
            "domain": domain,
            "dynamism": chance.randrange(4),
            "query": " ".join(chance.choices(WORDS, k=10)),
            "ground_truth": " ".join(chance.choices(WORDS, k=8)),
            "agent_response": " ".join(chance.choices(WORDS, k=14)),
            "total_turn_count": length,
            "interaction_id_history": ids[:index],
        }
        for index in range(length)
    ]


def labelled(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Label turns by chance, with a judge's reply where a judge would have been asked."""
    from adjudge.conversations import settle, unscored, verdict_labels
    from adjudge.crag._turns import result_row

    chance = random.Random(6)
    missed = settle("I don't know", "")
    exact = settle("", "")
    for row in rows:
        fate = chance.random()
        if fate < 0.1 and missed is not None and exact is not None:
            yield result_row(row, missed if fate < 0.05 else exact)
        elif fate < 0.11:
            yield result_row(row, unscored(), {"reason": "unreadable: no verdict in the reply"})
        else:
            right = fate < 0.6
            reply = {"verdict": "CORRECT" if right else "WRONG", "explanation": "It says the same in other words."}
            yield result_row(row, verdict_labels(right), reply)


def work(folder: Path) -> dict[str, float]:
    """Take labelled turns and write everything, then read turn data back; return what each part took."""
    from adjudge.crag._results import TurnResults, save_results
    from adjudge.crag._scores import score_results
    from adjudge.crag._turns import TURN_FIELDS, read_turns, write_turns
    from adjudge.datasets import read_rows

    took: dict[str, float] = {}
    start = time.process_time()

    def lap(name: str) -> None:
        nonlocal start
        now = time.process_time()
        took[name] = now - start
        start = now

    results = TurnResults.of(row.columns or {} for row in read_rows(str(folder / "labelled.jsonl")))
    lap("read labelled turns, sort")
    scores = score_results(results)
    lap("score")
    save_results(results, scores, folder / "out")
    lap("write results and scores")
    answers = (dict(zip(TURN_FIELDS, row.values(), strict=False)) for row in results)  # the first 13 of 19 columns
    write_turns(folder / "turns.jsonl", answers)
    lap("write turn data")
    sum(1 for _ in read_turns(folder / "turns.jsonl"))
    lap("(read turn data)")
    with (folder / "labelled.jsonl").open(encoding="utf-8") as file:
        for line in file:
            json.dumps(json.loads(line))
    lap("(floor)")
    took["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return took


def main() -> int:
    """Print the figures; fail if one misses its bar."""
    if sys.argv[1:2] == ["--work"]:
        print(json.dumps(work(Path(sys.argv[2]))))
        return 0
    for size in [int(argument) for argument in sys.argv[1:]] or SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with (folder / "labelled.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in labelled(turns(size)))
            done = subprocess.run(
                [sys.executable, __file__, "--work", name], check=True, stdout=subprocess.PIPE, text=True
            )
            took: dict[str, float] = json.loads(done.stdout)
            peak = took.pop("peak MB")
            cpu = sum(seconds for part, seconds in took.items() if part[0] != "(")  # reading it back stands beside
            for part, seconds in took.items():
                print(f"{size:9,} turns  {part:28} {seconds:6.1f} s CPU")
            floor = took["(floor)"]
            files = sum(path.stat().st_size for path in folder.rglob("*")) / 1e6
            print(f"{size:9,} turns  all: {cpu:.1f} s CPU, {cpu / floor:.1f}x the floor, {peak:.0f} MB peak")
            print(f"{size:9,} turns  {files:,.0f} MB of files")
    print(f"bars: {CPU_BAR:.0f} s CPU, {MEMORY_BAR:.0f} MB")
    return 0 if cpu < CPU_BAR and peak < MEMORY_BAR else 1


if __name__ == "__main__":
    sys.exit(main())
