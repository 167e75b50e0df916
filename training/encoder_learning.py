"""How one encoder is trained: the rows of an epoch, the losses, the steps. Needs torch and numpy only."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as f
from bert import Bert, Trunk, from_sentence_encoder
from encoder_kinds import KINDS, REAL
from torch import Tensor, nn

Array = np.ndarray[Any, Any]
EXPLAINS = (3, 4)
MORE = {"contrast": 14_000, "turned": 3_000}
"""How many rows of other sets are drawn each epoch."""
AGENTS = 5
"""How often each answer of an assistant is read each epoch."""
SHARES = {
    "mismatch": 3, "other-reference": 2, "alias": 3, "swapped-name": 2.5, "other-number": 1.5, "negated": 2,
    "hedged": 1, "stuffed": 1, "echo": 0.5, "key": 0.5, "plain": 1.5, "corrected": 1.5, "peer": 1.5, "refusal": 0.5,
}  # fmt: skip
"""How often each kind of made row is drawn, against the others."""
TRICKS = {"negated": 3, "hedged": 3, "stuffed": 1, "near-name": 2, "key": 0.5, "echo": 0.5}
HONEST = {"corrected": 3, "plain": 1.5, "alias": 0.5}
"""How often rows are drawn for the second head alone, which tells tricks from answers."""


WORDS = Path(__file__).parent.parent / "packages" / "weights" / "adjudge_weights" / "words.npz"
"""The table of words, which is not trained."""


def published(folder: Path) -> dict[str, Tensor]:
    """Return the weights that training begins with."""
    found = {name: torch.from_numpy(part) for name, part in np.load(folder / "published.npz").items()}
    table = np.load(WORDS)
    found["word.weight"] = torch.from_numpy(table["words"] * table["steps"][:, None])
    return found


@dataclass(frozen=True, slots=True)
class Setting:
    """How one model is trained."""

    fold: int = -1
    """The fold that is left out; -1 for none."""
    seed: int = 0
    epochs: int = 5
    rate: float = 1e-4
    batch: int = 64
    dropout: float = 0.1
    decay: float = 0.01
    made: float = 0.5
    """Made rows drawn each epoch, for each labelled row."""
    pupils: float = 0.5
    """Explanatory rows drawn each epoch with a pupil's right answer for reference, and as many without the question."""
    thin: float = 0.7
    """Share of the labelled explanatory rows drawn each epoch: their questions are few and soon known by heart."""
    rdrop: float = 1.0
    """Weight of the distance between two passes under different dropout."""
    apart: float = 2.0
    """Weight of rows where no reference is contained in the candidate."""
    average: float = 0.998
    """Decay of a running mean of the weights, which then is the model."""
    tricks: float = 0.4
    """Rows drawn each epoch for the second head alone, for each labelled row."""
    second: float = 0.3
    """Weight of the second head's loss."""


class Rows:
    """Rows on the device, padded once, so that a batch is one lookup."""

    def __init__(self, arrays: Any, part: str, device: str) -> None:
        ends = arrays[f"{part}_ends"].astype(np.int64)
        starts = np.concatenate([[0], ends[:-1]])
        self.lengths = ends - starts
        longest = int(self.lengths.max())
        places = np.arange(longest)[None, :] < self.lengths[:, None]
        for name in ("ids", "segments"):
            padded = np.zeros(places.shape, np.int16)
            padded[places] = arrays[f"{part}_{name}"]
            setattr(self, name, torch.from_numpy(padded).to(device))
        self.mask = torch.from_numpy(places).to(device)
        for name in ("label", "fold", "kind", "source", "contained"):
            setattr(self, name, arrays[f"{part}_{name}"])
        self.device = device

    ids: Tensor
    segments: Tensor
    label: Array
    fold: Array
    kind: Array
    source: Array
    contained: Array

    def inputs(self, which: Array) -> tuple[Tensor, Tensor, Tensor]:
        """Return ids, segments and mask of some rows."""
        longest = -(-int(self.lengths[which].max()) // 8) * 8
        at = torch.from_numpy(which).to(self.device)
        return self.ids[at, :longest].long(), self.segments[at, :longest].long(), self.mask[at, :longest]


def batches(rows: Rows, which: Array, size: int, chance: np.random.Generator) -> list[Array]:
    """Return shuffled batches of rows of about the same length."""
    which = chance.permutation(which)
    made: list[Array] = []
    for start in range(0, len(which), size * 40):
        chunk = which[start : start + size * 40]
        chunk = chunk[np.argsort(rows.lengths[chunk % len(rows.label)], kind="stable")]
        made += [chunk[at : at + size] for at in range(0, len(chunk), size)]
    return [made[at] for at in chance.permutation(len(made))]


def draw(rows: Rows, usable: Array, setting: Setting, chance: np.random.Generator) -> Array:
    """Return the rows of one epoch: every labelled one, and some variations."""
    real = np.flatnonzero(usable & (rows.kind == REAL))
    wanted = setting.made * len(real) / sum(SHARES.values())
    explains = np.isin(rows.source[real], EXPLAINS)
    chosen = [real[~explains | (chance.random(len(real)) < setting.thin)]]
    for kind in ("pupil", "blind"):
        pool = np.flatnonzero(usable & (rows.kind == KINDS.index(kind)))
        chosen.append(chance.permutation(pool)[: int(setting.pupils * explains.sum())])
    for kind, share in SHARES.items():
        pool = np.flatnonzero(usable & (rows.kind == KINDS.index(kind)))
        chosen.append(chance.permutation(pool)[: int(wanted * share)])
    for kind, count in MORE.items():
        pool = np.flatnonzero(usable & (rows.kind == KINDS.index(kind)))
        chosen.append(chance.permutation(pool)[:count])
    chosen += [np.flatnonzero(usable & (rows.kind == KINDS.index("agent")))] * AGENTS
    alone = TRICKS | HONEST
    wanted = setting.tricks * len(real) / sum(alone.values())
    for kind, share in alone.items():
        pool = np.flatnonzero(usable & (rows.kind == KINDS.index(kind)))
        chosen.append(chance.permutation(pool)[: int(wanted * share)] + len(rows.label))
    return np.concatenate(chosen)


def weights_of(rows: Rows, setting: Setting) -> Tensor:
    """Return how much each row counts; nothing for those that are drawn for the second head alone."""
    hard = (rows.contained == 0) & (rows.kind == REAL) & ~np.isin(rows.source, EXPLAINS)
    own = np.where(hard, setting.apart, 1.0)
    return torch.from_numpy(np.concatenate([own, 0 * own]).astype(np.float32)).to(rows.device)


def tricks_of(rows: Rows) -> tuple[Tensor, Tensor]:
    """Return which rows are tricks, and how much each counts for telling them: wrong answers of other kinds nothing."""
    kinds = np.array(KINDS)[rows.kind]
    trick = np.isin(kinds, list(TRICKS))
    counts = trick | np.isin(kinds, [*HONEST, "real", "pupil", "peer"])
    return tuple(torch.from_numpy(part.astype(np.float32)).to(rows.device) for part in (trick, counts))


def optimiser(model: Trunk, rate: float, decay: float) -> torch.optim.Optimizer:
    """Return AdamW: no decay on biases and norms, five times the rate for a head, which is new."""
    model.word.weight.requires_grad = False
    groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups.setdefault((name.startswith(("head", "span")), parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {"params": some, "lr": rate * (5 if new else 1), "weight_decay": decay * matrix}
            for (new, matrix), some in groups.items()
        ],
        fused=next(model.parameters()).is_cuda,
    )


def slope(optim: torch.optim.Optimizer, steps: int) -> tuple[int, torch.optim.lr_scheduler.LambdaLR]:
    """Return a tenth of the steps, over which the rate rises, and the schedule by which it does and then falls."""
    warm = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optim, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
    )
    return warm, schedule


def train(setting: Setting, rows: Rows, weights: dict[str, Tensor], deadline: float) -> Bert:
    """Train one model."""
    torch.manual_seed(setting.seed)
    chance = np.random.default_rng(setting.seed)
    model = from_sentence_encoder(weights, Bert(setting.dropout)).to(rows.device).train()
    weight, label = weights_of(rows, setting), torch.from_numpy(rows.label.astype(np.float32)).to(rows.device)
    trick, counts = tricks_of(rows)
    usable = rows.fold != setting.fold
    epochs = [batches(rows, draw(rows, usable, setting, chance), setting.batch, chance) for _ in range(setting.epochs)]
    plan = [batch for epoch in epochs for batch in epoch]
    optim = optimiser(model, setting.rate, setting.decay)
    warm, schedule = slope(optim, len(plan))
    running: dict[str, Tensor] = {}
    for step, drawn in enumerate(plan):
        own = weight[torch.from_numpy(drawn).to(rows.device)]
        which = drawn % len(rows.label)
        at = torch.from_numpy(which).to(rows.device)
        with torch.autocast(rows.device, torch.bfloat16, enabled=rows.device == "cuda"):
            both = own, setting.second * counts[at]
            loss = judge_loss(model, rows.inputs(which), (label[at], trick[at]), both, setting)
        optim.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        schedule.step()
        if step >= warm:
            remember(running, model, setting.average)
        if step % 50 == 0 and time.monotonic() > deadline:
            raise TimeoutError(f"stopped at step {step} of {len(plan)}")
    model.load_state_dict(model.state_dict() | running)
    return model.eval()


def remember(kept: dict[str, Tensor], model: Trunk, decay: float) -> None:
    """Move the running mean of the weights towards the model."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                if name in kept:
                    kept[name].lerp_(parameter, 1 - decay)
                else:
                    kept[name] = parameter.detach().clone()


def judge_loss(
    model: Bert, inputs: tuple[Tensor, ...], labels: tuple[Tensor, ...], weights: tuple[Tensor, ...], setting: Setting
) -> Tensor:
    """Cross entropy of both heads, and with R-drop the distance between two passes under different dropout."""
    logits = model(*(torch.cat([part, part]) for part in inputs)).float()
    total = logits.new_zeros(())
    for logit, label, weight in zip(logits.T, labels, weights, strict=True):
        loss = f.binary_cross_entropy_with_logits(logit, torch.cat([label, label]), reduction="none").view(2, -1)
        one, two = logit.view(2, -1)
        apart = (one.sigmoid() - two.sigmoid()) * (one - two) / 2  # both Kullback-Leibler distances, halved
        total = total + ((loss.mean(0) + setting.rdrop * apart) * weight).mean()
    return total


@torch.no_grad()
def logits(model: Bert, rows: Rows, which: Array) -> Array:
    """Return both logits of some rows, NaN for the others."""
    found = np.full((len(rows.label), 2), np.nan, np.float32)
    order = which[np.argsort(rows.lengths[which], kind="stable")]
    for start in range(0, len(order), 512):
        some = order[start : start + 512]
        found[some] = model(*rows.inputs(some)).cpu().numpy()
    return found
