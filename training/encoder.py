"""Fine-tunes both encoders: the reader, which finds what is asserted, then from its weights the judge.

    python training/encoder.py --folder build/encoder --workers 5

First models that leave out nothing, which are the ones that ship; then for each of four folds of questions models that
leave it out, for the fusion to learn from honest logits. The folder has rows.npz (encoder_rows.py), spans.npz
(span_rows.py) and published.npz (encoder_weights.py). Needs torch, numpy and nothing of this package but its table of
words: six minutes on an H200, the better part of a day on a CPU. It is not exact to the bit.
"""

from __future__ import annotations

import argparse
import math
import queue
import time
from pathlib import Path
from typing import Any

import numpy as np
import span_reader
import torch
from encoder_kinds import AGENT, FOLDS, KINDS, REAL, SPAN_SOURCES
from encoder_learning import HONEST, TRICKS, Array, Rows, Setting, logits, published, train
from span_reader import Spans
from torch import Tensor, multiprocessing, nn

PART = 15_000_000
"""Bytes of one file of weights, at most."""

SHOWN = [REAL, AGENT, *(KINDS.index(kind) for kind in TRICKS | HONEST)]
"""Kinds of rows of a held-out fold that are looked at."""

ALL = -1
"""The fold of a model that leaves out nothing."""


def accuracies(rows: Rows, logit: Array) -> str:
    """Return the accuracy on each source's labelled rows that have a logit, and on those where nothing is contained."""
    parts = []
    known = ~np.isnan(logit[:, 0]) & np.isin(rows.kind, (REAL, AGENT))
    right = (logit[:, 0] > 0) == (rows.label > 0)
    for source in np.unique(rows.source[known]):
        chosen = known & (rows.source == source)
        apart = chosen & (rows.contained == 0)
        parts.append(f"{source}: {right[chosen].mean():.3f} ({right[apart].mean():.3f})")
    parts.append(f"taken for tricks: {(logit[known, 1] > 0).mean():.4f}")
    return ", ".join(parts)


class Material:
    """The rows of both encoders, and the weights that training begins with, on the device."""

    def __init__(self, folder: Path) -> None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        rows, spans = dict(np.load(folder / "rows.npz")), dict(np.load(folder / "spans.npz"))
        self.rows, self.validation = Rows(rows, "train", device), Rows(rows, "val", device)
        self.spans = {part: Spans(spans, part, device) for part in ("train", "val", "judged")}
        self.weights = published(folder)


def read(
    fold: int, given: Material, options: argparse.Namespace, deadline: float
) -> tuple[str, dict[str, Array], nn.Module]:
    """Train a reader: how good it is, what it says of the labelled rows of its fold, and the model."""
    model = span_reader.train(fold, given.spans["train"], given.weights, deadline, options.epochs)
    rows, judged = given.spans["train"], given.spans["judged"]
    text = f"reader without fold {fold}: {span_reader.measured(model, given.spans['val'])} by another hand"
    for source, name in enumerate(SPAN_SOURCES):
        held = np.flatnonzero((rows.fold == fold) & (rows.source == source))[:2000]
        if len(held):
            text += f"; {name} {span_reader.measured(model, rows, held)}"
    which = np.flatnonzero(judged.fold == fold)
    if not len(which):
        return text, {}, model
    found = np.concatenate(span_reader.look(model, judged, which))
    return text, {f"spans.{fold}.which": which, f"spans.{fold}.logits": found}, model


def judge(
    fold: int, given: Material, begin: dict[str, Tensor], deadline: float
) -> tuple[str, dict[str, Array], nn.Module]:
    """Train a judge: how good it is, what it says of the rows of its fold, and the model."""
    rows = given.rows
    model = train(Setting(fold, seed=fold + 1), rows, begin, deadline)
    seen = logits(model, given.validation, np.arange(len(given.validation.label)))
    text = f"judge without fold {fold}: validation {accuracies(given.validation, seen)}"
    held = np.flatnonzero((rows.fold == fold) & np.isin(rows.kind, SHOWN))
    if not len(held):
        return text, {}, model
    found = logits(model, rows, held)
    return f"{text}; held out {accuracies(rows, found)}", {f"judge.{fold}": found.astype(np.float16)}, model


def work(jobs: Any, done: Any, options: argparse.Namespace, deadline: float) -> None:
    """Train the folds of a queue until it is empty or time is up."""
    torch.set_num_threads(options.threads)
    given = Material(options.folder)
    while (fold := jobs.get()) is not None and time.monotonic() < deadline:
        try:
            text, found, reader = read(fold, given, options, deadline)
            done.put((text, found))
            # What finds an answer knows already what role it has.
            begin = {name: part for name, part in reader.state_dict().items() if not name.startswith("span")}
            text, found, verdicts = judge(fold, given, {name: part.cpu() for name, part in begin.items()}, deadline)
            done.put((text, found))
        except TimeoutError as error:
            done.put((f"fold {fold}: {error}", {}))
            continue
        if fold == ALL:
            save(reader, options.folder / "spans")
            save(verdicts, options.folder / "judge")


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
        np.savez(prefix.with_name(f"{prefix.name}-{number}.npz"), **part)


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
        kept |= found
    return kept


def held_out(kept: dict[str, Array], given: Any) -> Array:
    """Return each labelled row's logits, then each assistant's, by the judge that was trained without its question."""
    count = int(np.isin(given["train_kind"], (REAL, AGENT)).sum())  # they stand first
    found = np.full((count, 2), np.nan, np.float16)
    for name, part in kept.items():
        if name.startswith("judge."):
            found = np.where(np.isnan(part[:count]), found, part[:count])
    return found


def main() -> None:
    """Train them all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=1, help="folds trained side by side")
    parser.add_argument("--threads", type=int, default=1, help="threads of each")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    parser.add_argument("--epochs", type=int, default=span_reader.EPOCHS, help="fewer, to try the script out")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    spawn = multiprocessing.get_context("spawn")
    jobs, done = spawn.SimpleQueue(), spawn.Queue()
    workers = [spawn.Process(target=work, args=(jobs, done, options, deadline)) for _ in range(options.workers)]
    for worker in workers:
        worker.start()
    for fold in (ALL, *range(FOLDS)):
        jobs.put(fold)
    for _ in workers:
        jobs.put(None)
    kept = gather(workers, done)
    rows = np.load(options.folder / "rows.npz")
    np.savez_compressed(options.folder / "judge-held-out.npz", logits=held_out(kept, rows))
    spans = {name: part for name, part in kept.items() if name.startswith("spans.")}
    np.savez_compressed(options.folder / "spans-held-out.npz", **spans)


if __name__ == "__main__":
    main()
