"""`adjudge score` on a large file: peak memory at two sizes, and what a second worker brings.

The wall-clock ratio of one to two workers needs two free cores: run it on a quiet machine.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's


import json
import random
import subprocess
import tempfile
from pathlib import Path

SIZES = (100_000, 1_000_000)
MEMORY_BAR = 300.0  # MB
SPEED_BAR = 1.6


def write_rows(path: Path, count: int) -> None:
    """Write rows of 8-22 words against 1-4."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(500)]
    with path.open("w", encoding="utf-8") as file:
        for index in range(count):
            response = " ".join(chance.choices(words, k=chance.randint(8, 22)))
            answer = " ".join(chance.choices(words, k=chance.randint(1, 4)))
            file.write(json.dumps({"id": f"q{index}", "final_response": response, "answer": answer}) + "\n")


MEASURE = """
import resource, subprocess, sys, json, time
start = time.perf_counter()
command = [sys.executable, "-m", "adjudge", *sys.argv[1:]]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def measure(rows: Path, out: Path, workers: int) -> tuple[float, float, float]:
    """Return wall seconds, CPU seconds and peak MB of the largest process of one run."""
    arguments = ["score", str(rows), "--scorer", "qa_f1_reward", "--out", str(out), "--workers", str(workers)]
    done = subprocess.run([sys.executable, "-c", MEASURE, *arguments], check=True, capture_output=True, text=True)
    wall, cpu, peak = json.loads(done.stdout)
    return wall, cpu, peak


def main() -> int:
    """Print the figures; fail if one misses its bar."""
    with tempfile.TemporaryDirectory() as folder:
        peaks: list[float] = []
        walls: dict[int, float] = {}
        outputs: dict[int, bytes] = {}
        for size in SIZES:
            rows = Path(folder) / f"{size}.jsonl"
            write_rows(rows, size)
            wall, cpu, peak = measure(rows, Path(folder) / "out.jsonl", 1)
            peaks.append(peak)
            print(f"{size:9,} rows, 1 worker:  {wall:6.1f} s wall {cpu:6.1f} s CPU {peak:6.1f} MB peak")
        for _ in range(2):
            for workers in (1, 2):
                out = Path(folder) / f"{workers}.out"
                wall, cpu, peak = measure(rows, out, workers)
                walls[workers] = min(walls.get(workers, wall), wall)
                outputs[workers] = out.read_bytes()
                print(
                    f"{SIZES[-1]:9,} rows, {workers} worker(s): {wall:5.1f} s wall {cpu:6.1f} s CPU {peak:6.1f} MB peak"
                )
    speed = walls[1] / walls[2]
    growth = peaks[-1] / peaks[0]
    same = outputs[1] == outputs[2]
    sizes = f"from {SIZES[0]:,} to {SIZES[-1]:,} rows"
    print(f"memory {peaks[-1]:.0f} MB (bar {MEMORY_BAR:.0f}), {growth:.2f}x {sizes} (bar 1.1x)")
    print(f"2 workers {speed:.2f}x of 1 (bar {SPEED_BAR}x), same bytes: {same}")
    return 0 if peaks[-1] < MEMORY_BAR and growth <= 1.1 and speed >= SPEED_BAR and same else 1


if __name__ == "__main__":
    sys.exit(main())
