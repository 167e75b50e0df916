"""The same judged rows by each peer: `python benchmarks/peers/run.py [PEER ...]`, or `make peers` for all.

Each peer is its newest release in an environment of its own (`requirements/peers`), asked as its documentation shows,
with 16 questions in flight, of a server on this machine that answers in the form that it asks for (`server.py`).

    speed     200 rows, 100 ms a reply: wall against the ideal, and CPU a row, start-up left out
    faults    four rows, of which the last one fails: what is booked for it, and what becomes of the others
    a kill    60 rows, killed (SIGKILL) half-way and started again: replies paid for, of 60

It writes docs/explanation/peers.md. A peer that cannot be asked is a row with the reason.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import urlopen

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "explanation" / "peers.md"
VENVS = Path(os.environ.get("ADJUDGE_PEERS", ROOT / ".venv" / "peers"))
PEERS = {
    "adjudge": "adjudge",
    "openai": "bare openai SDK, read by hand",
    "autoevals": "autoevals `Factuality`",
    "openevals": "openevals `create_async_llm_as_judge`",
    "pydantic_evals": "pydantic-evals `LLMJudge`",
    "inspect": "Inspect `model_graded_qa`",
    "ragas": "ragas `DiscreteMetric`",
    "deepeval": "DeepEval `GEval`",
}
FATES = ("outage", "page", "mumble", "refusal")
ROWS, KILLED, SECONDS, IN_FLIGHT, LONGEST = 200, 60, 0.1, 16, 240
BEGIN, END = "<!-- measured -->", "<!-- end -->"


@contextmanager
def serving(seconds: float) -> Iterator[str]:
    """Play the model; give its address."""
    with subprocess.Popen(
        [sys.executable, HERE / "server.py", str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        port = (process.stdout or sys.stdin).readline().strip()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def calls(url: str) -> int:
    """Return how often the model was asked."""
    with urlopen(f"{url}/calls") as reply:  # noqa: S310 (our own server)
        return int(json.loads(reply.read()))


def rows(fates: Sequence[str]) -> list[dict[str, str]]:
    """Return rows to judge, each with its fate in the response."""
    return [
        {"question": f"What is {at} + 1?", "reference": str(at + 1), "response": f"It is {at + 1}. fate-{fate}"}
        for at, fate in enumerate(fates)
    ]


def start(peer: str, url: str, fates: Sequence[str], folder: Path) -> "subprocess.Popen[str]":
    """Start a peer on rows of these fates."""
    file = folder / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows(fates)), encoding="utf-8")
    python = sys.executable if peer == "adjudge" else str(VENVS / peer / "bin" / "python")
    command = [python, "-W", "ignore", str(HERE / f"{peer}_.py"), f"{url}/v1", str(file), str(folder)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, start_new_session=True
    )


def ask(peer: str, url: str, fates: Sequence[str], folder: Path) -> dict[str, Any]:
    """Have a peer judge rows; return what it printed, or `fault`."""
    process = start(peer, url, fates, folder)
    try:
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"fault": f"no end within {LONGEST} s"}
    lines = [line for line in out.splitlines() if line.startswith('{"seconds"')]
    return json.loads(lines[-1]) if lines else {"fault": (err.strip().splitlines() or ["nothing"])[-1][:150]}


def speed(peer: str, url: str) -> list[str]:
    """Return wall against the ideal, and milliseconds of CPU a row, the least of three rounds."""
    found = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            done = ask(peer, url, ["right", "wrong"] * (ROWS // 2), Path(folder))
        if "fault" in done or done["values"] != [1.0, 0.0] * (ROWS // 2):
            return [f"not measured: {done.get('fault') or 'its values are ' + str(done['values'][:4])}", ""]
        found.append((done["seconds"], done["cpu"]))
    seconds, cpu = (min(column) for column in zip(*found, strict=True))
    return [f"{seconds / (SECONDS * ROWS / IN_FLIGHT):.2f}x", f"{cpu / ROWS * 1e3:.2f} ms"]


def booked(peer: str, url: str, fate: str) -> str:
    """Return what is booked for a row that fails, and whether the three before it keep their values."""
    with tempfile.TemporaryDirectory() as folder:
        done = ask(peer, url, ["right", "wrong", "right", fate], Path(folder))
    if "fault" in done:
        return str(done["fault"])
    *others, last = done["values"]
    word = "no value" if last is None else last if isinstance(last, str) else f"**{last:g}**"
    return word if others == [1.0, 0.0, 1.0] else f"{word}; all four are lost"


def killed(peer: str, url: str) -> str:
    """Return how many replies were paid for where a run was killed half-way and started again."""
    before = calls(url)
    with tempfile.TemporaryDirectory() as folder:
        process = start(peer, url, ["right"] * KILLED, Path(folder))
        deadline = time.monotonic() + 60
        while calls(url) - before < KILLED // 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        ask(peer, url, ["right"] * KILLED, Path(folder))
    return str(calls(url) - before)


def version(peer: str) -> str:
    """Return the version of a peer that is installed."""
    python = sys.executable if peer == "adjudge" else str(VENVS / peer / "bin" / "python")
    name = {"inspect": "inspect-ai", "pydantic_evals": "pydantic-evals"}.get(peer, peer)
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def row(peer: str) -> str:
    """Measure one peer; return its row of the table."""
    if peer != "adjudge" and not (VENVS / peer).exists():
        return f"| {PEERS[peer]} | | not installed: `make peers` | | | | | | |"
    with serving(SECONDS) as url:
        cells = [*speed(peer, url), *(booked(peer, url, fate) for fate in FATES), killed(peer, url)]
    return f"| {PEERS[peer]} | {version(peer)} | {' | '.join(cells)} |"


def main() -> int:
    """Measure the peers that are named, or all, and write the page."""
    names = sys.argv[1:] or [*PEERS]
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    table, _, tail = rest.partition(END)
    lines = {line.split(" | ")[0]: line for line in table.splitlines() if line.startswith("| ")}
    for name in names:
        measured = row(name)
        print(measured, flush=True)
        lines[f"| {PEERS[name]}"] = measured
    when = (
        f"{datetime.now(UTC):%d %B %Y}, {os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}"
    )
    order = [lines[f"| {what}"] for what in PEERS.values() if f"| {what}" in lines]
    titles = (
        "| judge | version | wall, of the ideal | CPU a row | an outage | a web page for JSON | no verdict |"
        " a refusal | replies paid for 60, killed half-way |"
    )
    made = "\n".join([BEGIN, "", f"`make peers`, {when}:", "", titles, "|---" * 9 + "|", *order, "", END])
    PAGE.write_text(head + made + tail, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
