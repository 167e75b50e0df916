"""MiniLM-L6 as a judge of answers, in plain torch: one trunk that reads (question, references, candidate) together.

The trunk is the sentence encoder's own (6 layers of width 384), so its weights can be loaded. The
table of segments and the head are new; the head reads the means of all tokens, of the references' and of the
candidate's.
"""

from __future__ import annotations

from typing import TypeVar

import torch
import torch.nn.functional as f
from torch import Tensor, nn

WIDTH, HEADS, LAYERS, INNER, WORDS, PLACES = 384, 12, 6, 1536, 30522, 512
SEGMENTS = 3
"""Question, references, candidate."""


Kind = TypeVar("Kind", bound="Trunk")


class Layer(nn.Module):
    """One transformer layer, normalised after each half as BERT does it."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.dropout = dropout

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Attend, then transform; `mask` is true where a token may be looked at."""
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        drop = self.dropout if self.training else 0.0
        seen = f.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=drop)
        seen = self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        x = self.norm1(x + f.dropout(seen, drop))
        return self.norm2(x + f.dropout(self.down(f.gelu(self.up(x))), drop))


class Trunk(nn.Module):
    """The tables and the layers."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.word = nn.Embedding(WORDS, WIDTH)
        self.place = nn.Embedding(PLACES, WIDTH)
        self.kind = nn.Embedding(SEGMENTS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(LAYERS))
        self.dropout = dropout

    def tokens(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return one vector a token."""
        place = torch.arange(ids.shape[1], device=ids.device)
        x = self.word(ids) + self.place(place) + self.kind(segments)
        x = f.dropout(self.norm(x), self.dropout if self.training else 0.0)
        wide = mask[:, None, None, :]
        for layer in self.layers:
            x = layer(x, wide)
        return x


class Bert(Trunk):
    """The trunk with the head of the judge."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__(dropout)
        self.head1 = nn.Linear(3 * WIDTH, WIDTH)
        self.head2 = nn.Linear(WIDTH, 2)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return the logits of "correct" and of "a trick", two a row."""
        x = self.tokens(ids, segments, mask)
        parts = [mean(x, mask), mean(x, mask & (segments == 1)), mean(x, mask & (segments == SEGMENTS - 1))]
        drop = self.dropout if self.training else 0.0
        hidden = f.gelu(self.head1(f.dropout(torch.cat(parts, 1), drop)))
        return self.head2(f.dropout(hidden, drop))


class Reader(Trunk):
    """The trunk with the head of the reader."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__(dropout)
        self.span = nn.Linear(WIDTH, 2)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        """Return for each token the logits of being the first and the last of the answer; the first token's is none."""
        return self.span(self.tokens(ids, segments, mask))


def mean(x: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of the tokens that `mask` names."""
    weight = mask.to(x.dtype)[:, :, None]
    return (x * weight).sum(1) / weight.sum(1).clamp(min=1)


def from_sentence_encoder(published: dict[str, Tensor], model: Kind) -> Kind:
    """Return a model whose trunk has the published weights; all segments start as the sentence encoder's one."""
    own = {name: tensor.float() for name, tensor in published.items()}
    if len(own["kind.weight"]) == 1:
        own["kind.weight"] = own["kind.weight"].repeat(SEGMENTS, 1)
    model.load_state_dict(model.state_dict() | own)
    return model
