"""Run the benchmarks and write docs/reference/performance.md: `make bench`, or `python tools/performance.py qa math`.

A benchmark prints lines such as `score_many   2.93 us a row  20.9x  (bar 20x)`, and ends with 0 where all bars hold.
Every line with a bar, or an aim, becomes a row of the table; rows of benchmarks that are not named stay as they are.
"""

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "performance.md"
NAMES = (
    *("qa", "math", "score_command", "processes", "chat", "judge_run", "local_judge", "everyday", "wrappings"),
    *("intervals", "compare", "stopping", "crag", "traces", "environments", "shop", "check", "scienceworld", "view"),
    *("monitor", "serve"),
)
BAR = re.compile(r"\(?\b(?:bar|aim):? ([^()]+)\)?")
HEAD = """# Performance

<!-- Made by `make bench`: run it again to change a row. -->

What `make bench` measured, each figure with its bar. Most are ratios to a peer or to a floor in the same run, on CPU
time, because a clock on a busy machine moves by a third. What each benchmark does stands at the top of its file in
`benchmarks/`.

| benchmark | figure | bar | measured |
|---|---|---|---|
"""


def rows_of(name: str) -> list[str]:
    """Run one benchmark and return its rows; nothing is shown while it runs but what it says itself."""
    lines = []
    with subprocess.Popen(
        [sys.executable, ROOT / "benchmarks" / f"{name}.py"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line.strip())
    when = f"{datetime.now(UTC):%Y-%m-%d}, {machine()}" + ("" if process.returncode == 0 else ", **a bar is missed**")
    found = []
    for line in lines:
        bar = BAR.search(line)
        if bar is not None:
            figure = " ".join(BAR.sub("", line).replace("|", "/").split()).rstrip(" ,;")
            found.append(f"| `{name}` | {figure} | {bar[1].strip()} | {when} |")
    return found or [f"| `{name}` | all its checks | | {when} |"]


def machine() -> str:
    """Return what was measured on: cores, Python and system."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}"


def main() -> int:
    """Measure what is named, or all, and write the page."""
    names = sys.argv[1:] or NAMES
    before = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    rows = {name: [line for line in before if line.startswith(f"| `{name}` |")] for name in NAMES}
    for name in names:
        rows[name] = rows_of(name)
        PAGE.write_text(HEAD + "".join(f"{line}\n" for one in rows.values() for line in one), encoding="utf-8")
    return int(any("missed" in line for name in names for line in rows[name]))


if __name__ == "__main__":
    sys.exit(main())
