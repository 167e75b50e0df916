"""Fine-tunes the encoder: first teachers, each without one fold of questions, then students, which learn from them too.

    python training/encoder.py teachers --folder build/encoder
    python training/encoder.py students --folder build/encoder

The folder has rows.npz (encoder_rows.py) and published.npz (encoder_weights.py). Needs torch and numpy and nothing of
this package: the folder, this script, encoder_kinds.py, encoder_learning.py and bert.py can be taken to a machine with
a GPU. There ten minutes do; on a CPU count four hours a model. A student leaves out one fold, for the fusion to learn
from honest logits; the last one leaves out nothing and is the model.
"""

from __future__ import annotations

import argparse
import math
import queue
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from encoder_kinds import FOLDS, KINDS, REAL
from encoder_learning import EXPLAINS, HONEST, TRICKS, Array, Rows, Setting, logits, train
from torch import multiprocessing, nn

PART = 15_000_000
"""Bytes of one file of weights, at most."""

SHOWN = [REAL, *(KINDS.index(kind) for kind in TRICKS | HONEST)]
"""Kinds of rows of a held-out fold that are looked at."""

STUDENT = Setting("student", average=0.998, lean=0.5)
STAGES = {
    "teachers": [
        Setting("teacher", fold, seed, rate=rate, thin=thin)
        for seed, (rate, thin) in enumerate(((1e-4, 0.7), (1.5e-4, 0.4)))
        for fold in range(FOLDS)
    ],
    "students": [replace(STUDENT, fold=fold) for fold in (-1, *range(FOLDS))],
}
"""What there is to train."""


def accuracies(rows: Rows, logit: Array) -> str:
    """Return the accuracy on each source's labelled rows that have a logit, and on those where nothing is contained."""
    parts = []
    known = ~np.isnan(logit[:, 0]) & (rows.kind == REAL)
    right = (logit[:, 0] > 0) == (rows.label > 0)
    for source in np.unique(rows.source[known]):
        chosen = known & (rows.source == source)
        apart = chosen & (rows.contained == 0)
        parts.append(f"{source}: {right[chosen].mean():.3f} ({right[apart].mean():.3f})")
    parts.append(f"taken for tricks: {(logit[known, 1] > 0).mean():.4f}")
    return ", ".join(parts)


def opinion(folder: Path) -> Array:
    """Return what the teachers think of each labelled short answer of a fold that they were trained without."""
    arrays = np.load(folder / "rows.npz")
    short = (arrays["train_kind"] == REAL) & ~np.isin(arrays["train_source"], EXPLAINS)
    count = int(short.sum())  # they stand first
    kept = np.load(folder / "teachers.npz").items()
    known = np.stack([part[:count, 0].astype(np.float32) for name, part in kept if "held" in name])
    found = np.full(len(short), np.nan, np.float32)
    found[:count] = np.nanmean(known, 0)
    return found


def work(jobs: Any, done: Any, options: argparse.Namespace, deadline: float) -> None:
    """Train the settings of a queue until it is empty or time is up."""
    torch.set_num_threads(options.threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    arrays = dict(np.load(options.folder / "rows.npz"))
    rows, val = Rows(arrays, "train", device), Rows(arrays, "val", device)
    published = {name: torch.from_numpy(part) for name, part in np.load(options.folder / "published.npz").items()}
    teacher = None if options.stage == "teachers" else opinion(options.folder)
    while (setting := jobs.get()) is not None and time.monotonic() < deadline:
        try:
            model = train(setting, rows, published, teacher, deadline)
        except TimeoutError as error:
            done.put((f"{setting.key} {error}", {}))
            continue
        found = {f"{setting.key}.val": logits(model, val, np.arange(len(val.label)))}
        text = f"{setting.key} validation {accuracies(val, found[f'{setting.key}.val'])}"
        held = np.flatnonzero((rows.fold == setting.fold) & np.isin(rows.kind, SHOWN))
        if len(held):
            found[f"{setting.key}.held"] = logits(model, rows, held)
            text += f"; held out {accuracies(rows, found[f'{setting.key}.held'])}"
        elif options.stage != "teachers":
            save(model, options.folder / setting.key)
        done.put((text, found))


def save(model: nn.Module, prefix: Path) -> None:
    """Write the trained weights in half precision, in parts; the table of words is not trained."""
    parts: list[dict[str, Array]] = [{}]
    size = 0
    for name, tensor in model.state_dict().items():
        if name == "word.weight":
            continue
        half = tensor.half().cpu().numpy()
        if size + half.nbytes > PART:
            parts.append({})
            size = 0
        parts[-1][name] = half
        size += half.nbytes
    for number, part in enumerate(parts):
        np.savez(prefix.with_name(f"{prefix.name}.{number}.npz"), **part)


def gather(workers: list[Any], done: Any) -> dict[str, Array]:
    """Print and collect what workers find, until all of them have ended."""
    kept: dict[str, Array] = {}
    start = time.monotonic()
    while any(worker.is_alive() for worker in workers) or not done.empty():
        try:
            text, found = done.get(timeout=2)
        except queue.Empty:
            continue
        print(f"[{time.monotonic() - start:.0f} s] {text}", flush=True)
        kept |= {name: part.astype(np.float16) for name, part in found.items()}
    return kept


def held_out(kept: dict[str, Array], rows: Path) -> Array:
    """Return each labelled row's logit by the model that was trained without its question."""
    count = int((np.load(rows)["train_kind"] == REAL).sum())
    found = np.full((count, 2), np.nan, np.float16)
    for name, part in kept.items():
        if name.endswith(".held"):
            found = np.where(np.isnan(part[:count]), found, part[:count])
    return found


def main() -> None:
    """Train a stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=1, help="models trained side by side")
    parser.add_argument("--threads", type=int, default=1, help="threads of each")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    parser.add_argument("--epochs", type=int, help="fewer, to try the script out")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    spawn = multiprocessing.get_context("spawn")
    jobs, done = spawn.SimpleQueue(), spawn.Queue()
    workers = [spawn.Process(target=work, args=(jobs, done, options, deadline)) for _ in range(options.workers)]
    for worker in workers:
        worker.start()
    for setting in STAGES[options.stage]:
        jobs.put(replace(setting, epochs=setting.epochs if options.epochs is None else options.epochs))
    for _ in workers:
        jobs.put(None)
    kept = gather(workers, done)
    np.savez_compressed(options.folder / f"{options.stage}.npz", **kept)
    if options.stage == "students":
        out = options.folder / "reader-held-out.npz"
        np.savez_compressed(out, logits=held_out(kept, options.folder / "rows.npz"))


if __name__ == "__main__":
    main()
