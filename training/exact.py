"""Writes what both encoders say in single precision, for the test that rounding turns few verdicts.

python training/encoder_onnx.py --weights PUBLISHED.npz --trained PREFIX --exact --out FOLDER
python training/exact.py FOLDER                            writes tests/golden/encoder.jsonl
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

import rows as labelled

from adjudge.judges.local import _encoder, _tier0
from adjudge.judges.local._tier1 import read_many

GOLDEN = ROOT / "tests" / "golden" / "encoder.jsonl"
EVERY = 10


def main() -> None:
    """Read every tenth validation row with the encoders of a folder."""
    folder = Path(sys.argv[1])
    table = np.load(folder / _encoder.WORDS)
    _encoder._words = cache(lambda: (table["words"], table["steps"]))  # noqa: SLF001
    _encoder._session = cache(lambda name: InferenceSession(folder / name, providers=["CPUExecutionProvider"]))  # noqa: SLF001
    rows = [row for name in labelled.VALIDATION for row in labelled.read(name)][::EVERY]
    given = [(row["question"], tuple(row["reference"]), row["candidate"]) for row in rows]
    seen = [_tier0.assess(*row) for row in given]
    lines = []
    for at, reading in read_many(given, seen).items():
        numbers = [round(one, 4) for one in (reading.right, reading.trick, *reading.cosines)]
        lines.append(json.dumps({"id": rows[at]["id"], "reading": numbers}))
    GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
