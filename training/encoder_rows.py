"""Rows for training the encoder, as arrays of tokens: the labelled ones and what encoder_made.py makes of them.

python training/encoder_rows.py build/encoder/rows.npz [--without-share-alike]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

import rows as labelled
from encoder_kinds import KINDS
from encoder_made import Row, contained, read, training_rows

from adjudge.judges.local._encoder import ids_of
from adjudge.judges.local._sequence import sequence

SOURCES = (
    "evouna_nq",
    "evouna_tq",
    "nq301",
    "semeval_beetle",
    "semeval_scients",
    "agents",
    "qamr",
    "nli",
    "agent_pairs",
)


def arrays(rows: list[Row]) -> dict[str, Any]:
    """Return the rows as columns; the sequences one after the other, with their ends."""
    made = [sequence(ids_of, row.question, row.references, row.candidate) for row in rows]
    return {
        "ids": np.concatenate([np.array(ids, np.uint16) for ids, _ in made]),
        "segments": np.concatenate([np.array(segments, np.uint8) for _, segments in made]),
        "ends": np.cumsum([len(ids) for ids, _ in made]).astype(np.int32),
        "label": np.array([row.label for row in rows], np.int8),
        "fold": np.array([row.fold for row in rows], np.int8),
        "kind": np.array([KINDS.index(row.kind) for row in rows], np.int8),
        "source": np.array([SOURCES.index(row.source) for row in rows], np.int8),
        "contained": np.array([any(contained(one, row.candidate) for one in row.references) for row in rows], np.int8),
    }


def main() -> None:
    """Write the training and validation rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--without-share-alike", action="store_true", help="leave out what is CC-BY-SA")
    options = parser.parse_args()
    left_out = labelled.SHARE_ALIKE if options.without_share_alike else ()
    train = training_rows(left_out)
    validation = [row for name in labelled.VALIDATION for row in read(name)]
    columns = {f"train_{name}": column for name, column in arrays(train).items()}
    columns |= {f"val_{name}": column for name, column in arrays(validation).items()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(options.out, **columns)
    counts = Counter((row.kind, row.label) for row in train)
    for kind in KINDS:
        print(f"{kind:16} {counts[kind, 0] + counts[kind, 1]:6} rows, {counts[kind, 1]:6} right")


if __name__ == "__main__":
    main()
