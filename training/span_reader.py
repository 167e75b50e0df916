"""How one reader is trained, which finds the span of a text that answers a question. Needs torch and numpy only."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
import torch.nn.functional as f
from bert import Reader, from_sentence_encoder
from encoder_learning import Array, batches, optimiser, remember, slope
from torch import Tensor

SAID = 2
EPOCHS, BATCH, RATE, DROPOUT, DECAY, AVERAGE = 6, 64, 2e-4, 0.1, 0.01, 0.998
DRAWN = {0: 24_000, 1: 1_300, 2: 6_500, 4: 3_000}
"""Rows of each source that are read each epoch: QAMR, XQuAD, SQuAD, EVOUNA."""
AGENTS, TIMES = 3, 5
"""The source of assistants' answers, and how often each is read each epoch."""


class Spans:
    """Rows on the device, padded once."""

    def __init__(self, arrays: Any, part: str, device: str) -> None:
        ends = arrays[f"{part}_ends"].astype(np.int64)
        self.lengths = ends - np.concatenate([[0], ends[:-1]])
        places = np.arange(int(self.lengths.max()))[None, :] < self.lengths[:, None]
        for name in ("ids", "segments"):
            padded = np.zeros(places.shape, np.int16)
            padded[places] = arrays[f"{part}_{name}"]
            setattr(self, name, torch.from_numpy(padded).to(device))
        self.mask = torch.from_numpy(places).to(device)
        self.first, self.last, self.fold, self.source = (
            arrays[f"{part}_{name}"].astype(np.int64) for name in ("first", "last", "fold", "source")
        )
        self.label = self.first
        self.device = device

    ids: Tensor
    segments: Tensor

    def inputs(self, which: Array) -> tuple[Tensor, Tensor, Tensor]:
        """Return ids, segments and mask of some rows."""
        longest = -(-int(self.lengths[which].max()) // 8) * 8
        at = torch.from_numpy(which).to(self.device)
        return self.ids[at, :longest].long(), self.segments[at, :longest].long(), self.mask[at, :longest]


def said(logits: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
    """Return logits that only tokens of the response have, and the first token, which stands for none."""
    open_ = (segments == SAID) & mask
    open_[:, 0] = True
    return logits.float().masked_fill(~open_[:, :, None], -1e4)


def train(fold: int, rows: Spans, weights: dict[str, Tensor], deadline: float, epochs: int) -> Reader:
    """Train one model."""
    torch.manual_seed(fold + 1)
    chance = np.random.default_rng(fold + 1)
    model = from_sentence_encoder(weights, Reader(DROPOUT)).to(rows.device).train()
    usable = rows.fold != fold
    plan: list[Array] = []
    for _ in range(epochs):
        pools = [
            chance.permutation(np.flatnonzero(usable & (rows.source == source)))[:count]
            for source, count in DRAWN.items()
        ]
        pools += [np.flatnonzero(usable & (rows.source == AGENTS))] * TIMES
        plan += batches(rows, np.concatenate(pools), BATCH, chance)  # type: ignore[arg-type]
    optim = optimiser(model, RATE, DECAY)
    warm, schedule = slope(optim, len(plan))
    target = torch.from_numpy(np.stack([rows.first, rows.last], 1)).to(rows.device)
    running: dict[str, Tensor] = {}
    for step, which in enumerate(plan):
        at = torch.from_numpy(which).to(rows.device)
        ids, segments, mask = rows.inputs(which)
        with torch.autocast(rows.device, torch.bfloat16, enabled=rows.device == "cuda"):
            found = model(ids, segments, mask)
        loss = f.cross_entropy(said(found, segments, mask), target[at])
        optim.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        schedule.step()
        if step >= warm:
            remember(running, model, AVERAGE)
        if step % 50 == 0 and time.monotonic() > deadline:
            raise TimeoutError(f"stopped at step {step} of {len(plan)}")
    model.load_state_dict(model.state_dict() | running)
    return model.eval()


@torch.no_grad()
def look(model: Reader, rows: Spans, which: Array) -> list[Array]:
    """Return both logits of each token of some rows."""
    found: dict[int, Array] = {}
    order = which[np.argsort(rows.lengths[which], kind="stable")]
    for start in range(0, len(order), 512):
        some = order[start : start + 512]
        ids, segments, mask = rows.inputs(some)
        for at, part in zip(some, said(model(ids, segments, mask), segments, mask).cpu().numpy(), strict=True):
            found[int(at)] = part[: rows.lengths[at]].astype(np.float16)
    return [found[int(at)] for at in which]


def best(logits: Array, longest: int = 30) -> tuple[int, int]:
    """Return the first and last token of the likeliest span; 0, 0 for none."""
    first, last = logits[:, 0].astype(np.float32), logits[:, 1].astype(np.float32)
    total = first[:, None] + last[None, :]
    size = len(first)
    allowed = np.triu(np.ones((size, size), bool)) & ~np.triu(np.ones((size, size), bool), longest)
    allowed[0, 1:] = False
    total[~allowed] = -1e9
    at = int(total.argmax())
    return at // size, at % size


def measured(model: Reader, rows: Spans, which: Array | None = None) -> str:
    """Return how often the span is right, whole and in part."""
    which = np.arange(len(rows.first)) if which is None else which
    whole = part = 0
    for at, logits in zip(which, look(model, rows, which), strict=True):
        first, last = best(logits)
        gold = int(rows.first[at]), int(rows.last[at])
        whole += (first, last) == gold
        part += first <= gold[1] and last >= gold[0]
    return f"{whole} whole, {part} touching of {len(which)}"
