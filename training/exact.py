"""Writes what the encoders of tier 1 say where nothing is rounded but their weights: a test compares with it.

    python training/exact.py        writes tests/golden/encoder.jsonl

The weights are those of the shipped files, whole numbers times their steps; what flows between them stays in single
precision. So this shows what rounding by token does to verdicts. What rounding the weights does can be seen with the
trained weights alone: `training/encoder_onnx.py --exact --out FOLDER`, then this script with that folder.
"""

from __future__ import annotations

import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from encoder_onnx import build
from onnx import numpy_helper
from onnxruntime import InferenceSession

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

import rows as labelled

from adjudge.judges.local import _encoder, _tier0
from adjudge.judges.local._tier1 import read_rows

if TYPE_CHECKING:
    from encoder_weights import Array

GOLDEN = ROOT / "tests" / "golden" / "encoder.jsonl"
SHIPPED = ROOT / "packages" / "weights" / "adjudge_weights"
EVERY = 3
STEPS = ".steps"


def unpacked(path: Path) -> dict[str, Array]:
    """Return the weights of a shipped file by the names that training uses."""
    found = {one.name: numpy_helper.to_array(one) for one in onnx.load(str(path)).graph.initializer}
    weights: dict[str, Array] = {}
    for name, part in found.items():
        if f"{name}{STEPS}" in found:
            weights[f"{name}.weight"] = (part.astype(np.float32) * found[f"{name}{STEPS}"]).T
        elif name.endswith((".weight", ".bias")):
            weights[name] = part
    weights |= {f"{name}.weight": found[name] for name in ("place", "kind")}
    if "head2" in found:
        weights["head2.weight"] = found["head2"].T
    return weights


def in_single_precision(folder: Path) -> None:
    """Write the shipped encoders so that nothing is rounded that flows through them."""
    for name in (_encoder.JUDGE, _encoder.SPANS, _encoder.SENTENCES):
        model = build(unpacked(SHIPPED / name), exact=True)
        (folder / name).write_bytes(model.SerializeToString(deterministic=True))
    (folder / _encoder.WORDS).write_bytes((SHIPPED / _encoder.WORDS).read_bytes())


def main() -> None:
    """Read every third validation row with the encoders of a folder, or with the shipped ones in single precision."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else made)
        if len(sys.argv) == 1:
            in_single_precision(folder)
        write(folder)


def write(folder: Path) -> None:
    """Write what the encoders of a folder say."""
    table = np.load(folder / _encoder.WORDS)
    _encoder._words = cache(lambda: (table["words"], table["steps"]))  # noqa: SLF001
    _encoder._session = cache(lambda name: InferenceSession(folder / name, providers=["CPUExecutionProvider"]))  # noqa: SLF001
    rows = [row for name in labelled.VALIDATION for row in labelled.read(name)][::EVERY]
    given = [(row["question"], tuple(row["reference"]), row["candidate"]) for row in rows]
    lines = []
    for at, reading in read_rows(given, [_tier0.assess(*row) for row in given]).items():
        record = {"id": rows[at]["id"], "asserted": reading.asserted}
        for name in ("judged", "said", "cosines"):
            record[name] = [round(one, 4) for one in getattr(reading, name)]
        lines.append(json.dumps(record, ensure_ascii=False))
    GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
