"""What the scripts of the peers share: rows in, and one line of JSON out: seconds, CPU seconds, and a value a row.

A value is what the peer books for the row: a number, null where it says that there is none, or `raised: ...` where the
call raised.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BASE, ROWS, IN_FLIGHT = sys.argv[1], [json.loads(line) for line in Path(sys.argv[2]).read_text().splitlines()], 16
os.environ.update(OPENAI_API_KEY="none", OPENAI_BASE_URL=BASE)


def measure(judge_all: Callable[[], list[Any]]) -> None:
    """Judge all rows and print what it took, and what came of it."""
    began, cpu = time.perf_counter(), time.process_time()
    try:
        values = judge_all()
    except Exception as error:  # noqa: BLE001 (what a peer raises is what is measured)
        values = [f"raised: {type(error).__name__}"] * len(ROWS)
    used = time.perf_counter() - began, time.process_time() - cpu
    print("\n" + json.dumps({"seconds": used[0], "cpu": used[1], "values": values}), flush=True)
