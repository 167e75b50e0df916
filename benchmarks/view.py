"""The viewer on a large run against the same on a small one, and a writer with a page open against one without.

Bars: after the first opening a first page, a filtered page and a row take at most 2x the CPU that they take of a run of
1,000 rows; a search in 100,000 rows less than a second; the server less than 150 MB; a writer at full speed at most 3 %
more CPU. `--rows N` sets the large size (1,000,000); `--quick` is 20,000, and leaves out the writer.
"""

import sys

sys.path = [place for place in sys.path if not place.endswith("benchmarks")]  # math.py here is not Python's


import http.client
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

SMALL = 1_000
CPU_BAR, SEARCH_BAR, MEMORY_BAR, WRITER_BAR = 2.0, 1.0, 150.0, 1.03
VISITS = 20  # of each page
ROUNDS = 5  # of a writer without a page and with one: both of a round meet the same machine, so their ratio counts
WRITTEN = 150_000  # rows of the writer
TICK = os.sysconf("SC_CLK_TCK")

MAKE = """
import resource, sys
import adjudge
from adjudge.runs import RunConfig
path, count = sys.argv[1], int(sys.argv[2])
WORDS = "river city capital mountain treaty harbour parliament museum railway island".split()
def rows():
    for at in range(count):
        word = WORDS[at % 10]
        yield {
            "id": f"q{at}", "question": f"Which {word} is number {at} of the list, and who named it?",
            "answer": "Paris",
            "final_response": "Paris" if at % 5 else f"It is Lyon, because of the {word}.",
            "tags": [word, "odd" if at % 2 else "even"], "group_id": f"g{at // 2}",
        }
adjudge.evaluate(rows(), scorers=["qa_f1_reward", "contains_reward"], run=path, config=RunConfig(cache="off"))
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
"""

SERVE = """
import sys, time
from adjudge.view import ViewServer
with ViewServer([sys.argv[1]], cache=sys.argv[2]) as server:
    print(server.link, flush=True)
    sys.stdin.read()
"""


class Viewer:
    """A viewer in a process of its own, asked over HTTP."""

    def __init__(self, run: Path, cache: Path) -> None:
        command = [sys.executable, "-c", SERVE, str(run), str(cache)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.place = urlsplit(self.process.stdout.readline().strip() if self.process.stdout else "")
        self.cookie = ""
        self.cookie = self.ask(f"/?{self.place.query}")[1].partition(";")[0]
        self.run = self.ask("/")[2]

    def ask(self, path: str) -> tuple[str, str, str]:
        """Return a page, the cookie and the place that come with it."""
        connection = http.client.HTTPConnection(self.place.hostname or "", self.place.port, timeout=600)
        connection.request("GET", path, headers={"cookie": self.cookie})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status >= 400:
            raise SystemExit(f"{path}: {answer.status} {text[:500]}")
        return text, answer.getheader("set-cookie", ""), answer.getheader("location", "")

    def open(self) -> float:
        """Wait until the file has been read for the first time, and return how long that took."""
        began = time.perf_counter()
        while "Reading the file for the first time" in self.ask(self.run)[0]:
            time.sleep(0.2)
        return time.perf_counter() - began

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    @property
    def memory(self) -> float:
        """The most megabytes that it has had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024

    def visit(self, path: str) -> tuple[float, float]:
        """Return CPU and wall milliseconds of a page."""
        self.ask(f"{self.run}{path}")
        cpu, began = self.cpu, time.perf_counter()
        for _ in range(VISITS):
            self.ask(f"{self.run}{path}")
        return (self.cpu - cpu) * 1000 / VISITS, (time.perf_counter() - began) * 1000 / VISITS

    def close(self) -> None:
        """End it."""
        self.process.communicate("")


def make(path: Path, count: int) -> float:
    """Make a run, and return the CPU seconds of its writer."""
    command = [sys.executable, "-c", MAKE, str(path), str(count)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def pages(folder: Path, counts: tuple[int, int]) -> bool:
    """Print what pages cost of a small run and of a large one."""
    paths = {
        "first page": "",
        "wrong rows": "?verdict=wrong",
        "rows of a tag": "?tag=harbour&verdict=wrong",
        "slowest first": "?sort=-value&scorer=1",
        "a row": "/rows/500",
        "search": "?words=harbour+paris",
        "rare search": "?words=%22number+777+of%22",
    }
    found: list[dict[str, tuple[float, float]]] = []
    is_good = True
    for count in counts:
        run = folder / f"{count}.run"
        print(f"{count:,} rows: {make(run, count):.1f} s of CPU to make", flush=True)
        viewer = Viewer(run, folder / "cache")
        try:
            print(f"  first opening {viewer.open():.1f} s", flush=True)
            found.append({name: viewer.visit(path) for name, path in paths.items()})
            index = sum(one.stat().st_size for one in (folder / "cache").glob("*.sqlite")) / 1e6
            print(f"  memory {viewer.memory:.0f} MB; indexes {index:.0f} MB, file {run.stat().st_size / 1e6:.0f} MB")
            is_good &= viewer.memory <= MEMORY_BAR
        finally:
            viewer.close()
    for name in paths:
        (small, _), (large, wall) = found[0][name], found[1][name]
        ratio = large / max(small, 0.1)
        is_search = "search" in name
        print(f"  {name:<14} {small:6.1f} ms -> {large:6.1f} ms CPU, {ratio:5.2f}x; {wall:6.1f} ms wall")
        is_good &= wall <= SEARCH_BAR * 1000 if is_search else ratio <= CPU_BAR
    return is_good


def writer(folder: Path) -> bool:
    """Print what a page that follows a run costs its writer."""
    used: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(ROUNDS):
        for is_watched in (False, True):
            run = folder / f"writer-{turn}-{is_watched}.run"
            command = [sys.executable, "-c", MAKE, str(run), str(WRITTEN)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            viewer = None
            while is_watched and process.poll() is None:
                if viewer is None:
                    if run.exists() and run.stat().st_size:
                        viewer = Viewer(run, folder / "cache")
                    time.sleep(0.05)
                    continue
                viewer.ask(f"{viewer.run}/version")
                viewer.ask(viewer.run)
                time.sleep(2)
            used[is_watched].append(float(process.communicate()[0]))
            if viewer is not None:
                viewer.close()
    ratios = [watched / alone for alone, watched in zip(used[False], used[True], strict=True)]
    ratio = statistics.median(ratios)
    rounds = f"rounds from {min(ratios):.3f} to {max(ratios):.3f}"
    print(f"a writer with a page open: {ratio:.3f}x the CPU of one without ({rounds})")
    return ratio <= WRITER_BAR


def main() -> int:
    """Measure, and return 1 where a bar is missed."""
    is_quick = "--quick" in sys.argv
    large = int(sys.argv[sys.argv.index("--rows") + 1]) if "--rows" in sys.argv else 20_000 if is_quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        is_good = pages(Path(folder), (SMALL, large))
        if not is_quick:
            is_good &= writer(Path(folder))
    print("all bars are met" if is_good else "A BAR IS MISSED")
    return int(not is_good)


if __name__ == "__main__":
    sys.exit(main())
