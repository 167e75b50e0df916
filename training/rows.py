"""The rows that people labelled: which files there are, what they are for, and their hashes."""

from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
TRAINING = ("evouna-train", "semeval2013t7-train")
SHARE_ALIKE = ("semeval2013t7-train", "breaking-nli")
"""Files whose licence is CC-BY-SA."""
SHARE_ALIKE_SPANS = ("xquad-en", "squad2-dev-half")
"""Sources in the file of spans whose licence is CC-BY-SA; the other one's is MIT."""
VALIDATION = ("evouna-val", "nq301-val", "semeval2013t7-val", "semeval2013t7-val-unseen-questions", "agent-pairs-val")

Row = dict[str, Any]


def read(name: str) -> list[Row]:
    """Return the rows of one file."""
    return [json.loads(line) for line in _content(name).splitlines()]


def assistants(name: str) -> list[Row]:
    """Return the answers of assistants as labelled rows."""
    return [
        {
            "question": one["question"],
            "reference": one["reference"],
            "candidate": said["text"],
            "label": int(said["right"]),
        }
        for one in read(name)
        for said in one["responses"]
    ]


def digest(name: str) -> str:
    """Return the SHA-256 of a file's rows, as they are before compression."""
    return hashlib.sha256(_content(name)).hexdigest()


def _content(name: str) -> bytes:
    with lzma.open(DATA / f"{name}.jsonl.xz") as file:
        return file.read()
