"""The three encoders of tier 1, all MiniLM-L6 in whole numbers: a reader, a judge and a sentence encoder.

The reader takes question and response and finds what is asserted. The judge was fine-tuned from it to take question,
references and candidate together. The sentence encoder is as published and takes one text at a time. They share the
table of words. Everything is rounded by token, so that a row's numbers are the same alone and in any batch; rows of
about the same length are read together. Needs `adjudge[local]`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from adjudge.judges.local._sequence import KEPT, sequence

if TYPE_CHECKING:
    import numpy as np
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    Array = np.ndarray[Any, Any]

Row = tuple[str, tuple[str, ...], str]
"""Question, references, candidate."""

WEIGHTS = "adjudge_weights"
"""The package of their files, which are too large to come with this one."""

JUDGE, SENTENCES, SPANS, WORDS = "judge.onnx", "sentences.onnx", "spans.onnx", "words.npz"

_STEP = 8  # lengths are padded to a multiple of it: by the row's own length, never by its batch
_TOKENS = 256  # of a batch: more of them leave the cache


@cache
def _session(name: str) -> InferenceSession:
    # onnxruntime 1.29 and later read this once, when they are loaded.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    from onnxruntime import InferenceSession, SessionOptions, disable_telemetry_events

    # The same for Windows.
    disable_telemetry_events()
    options = SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    content = files(WEIGHTS).joinpath(name).read_bytes()
    return InferenceSession(content, options, providers=["CPUExecutionProvider"])


@cache
def _words() -> tuple[Array, Array]:
    """Return the table of words, as whole numbers, and the step of each row."""
    import numpy as np

    with files(WEIGHTS).joinpath(WORDS).open("rb") as file, np.load(file, allow_pickle=False) as table:
        return table["words"], table["steps"]


@cache
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    lines = files(WEIGHTS).joinpath("vocab.txt").read_text(encoding="utf-8").split("\n")
    vocabulary = {word: number for number, word in enumerate(lines) if word}
    made = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106 (a word's name)
    made.normalizer = BertNormalizer()
    made.pre_tokenizer = BertPreTokenizer()
    return made


def ids_of(text: str) -> tuple[int, ...]:
    """Return the tokens of a text; questions and references come again and again, and are short as a rule."""
    return _kept_ids(text) if len(text) <= KEPT else _ids(text)


def _ids(text: str) -> tuple[int, ...]:
    return tuple(_tokenizer().encode(text, add_special_tokens=False).ids)


_kept_ids = lru_cache(maxsize=8192)(_ids)


def tokens_with_places(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the tokens of a text, and where each stands in it."""
    found = _tokenizer().encode(text, add_special_tokens=False)
    return found.ids, found.offsets


def logits(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return for each row the log-odds that the candidate means what a reference does, and that it is a trick."""
    read = [sequence(ids_of, *row) for row in rows]
    return [(float(right), float(trick)) for ((right, trick),) in _run(JUDGE, read, ["logits"])]


def ends(rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[Array]:
    """Return for each token of each row the log-odds that it is the first and the last of the answer."""
    found = _run(SPANS, rows, ["ends"])
    return [part[: len(tokens)] for (tokens, _), (part,) in zip(rows, found, strict=True)]


def tokens_of(texts: Sequence[Sequence[int]]) -> list[tuple[Array, Array]]:
    """Return for each text, given as tokens, a vector a token: after the second layer and after the last."""
    read = [(ids, [0] * len(ids)) for ids in texts]
    found = _run(SENTENCES, read, ["second", "last"])
    return [(second[: len(ids)], last[: len(ids)]) for ids, (second, last) in zip(texts, found, strict=True)]


def _run(name: str, rows: Sequence[tuple[Sequence[int], Sequence[int]]], outputs: list[str]) -> list[tuple[Array, ...]]:
    """Return what an encoder says of each row of tokens and segments."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for at, (tokens, _) in enumerate(rows):
        by_length[-(-len(tokens) // _STEP) * _STEP].append(at)
    found: list[tuple[Array, ...]] = [()] * len(rows)
    for length, places in sorted(by_length.items()):
        size = max(1, _TOKENS // length)
        for start in range(0, len(places), size):
            some = places[start : start + size]
            given = _padded([rows[place] for place in some], length)
            for at, *parts in zip(some, *_session(name).run(outputs, given), strict=True):
                found[at] = tuple(parts)
    return found


def _padded(rows: Sequence[tuple[Sequence[int], Sequence[int]]], length: int) -> dict[str, Array]:
    """Return a batch as an encoder takes it."""
    import numpy as np

    ids, segments, mask = (np.zeros((len(rows), length), np.int64) for _ in range(3))
    for at, (tokens, parts) in enumerate(rows):
        ids[at, : len(tokens)] = tokens
        segments[at, : len(tokens)] = parts
        mask[at, : len(tokens)] = 1
    words, steps = _words()
    return {"words": words[ids] * steps[ids][..., None], "segments": segments, "mask": mask}
