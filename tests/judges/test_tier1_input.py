"""Tier 1 and rows that nobody expects: a typed outcome, for that row alone, within limits that are enforced."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judges.local import LocalJudge, _encoder, _pair, _sequence
from adjudge.judges.local._encoder import ids_of
from adjudge.judges.local._sequence import CLS, SEP, plain
from adjudge.judges.local._tiers import Assessment
from adjudge.processes import WorkerPool
from judges.odd_rows import ROWS


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    """Give a worker that is killed beyond 10 s of CPU time a job, and that gets no more than 768 MB of addresses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENBLAS_NUM_THREADS", "1")  # numpy's, each of which takes addresses, one a core
        with WorkerPool("judges.odd_rows:judge", size=1, cpu_s=10, wall_s=60, memory_mb=768, warm=()) as made:
            yield made


@pytest.mark.parametrize("name", ROWS)
def test_any_row_has_its_outcome(pool: WorkerPool, name: str) -> None:
    """Whatever a row holds, it is scored or its own error, in bounded time and memory; its neighbours see nothing."""
    before, (status, verdict, probability, reason), after = pool.run(name)
    assert status == ROWS[name][1]
    assert (verdict is None, probability is None) == (status == "error",) * 2
    assert reason
    ordinary, _, _ = pool.run("ordinary")
    assert before == after == ordinary


def test_long_texts_are_not_kept() -> None:
    """What is kept for the next row are short texts, so that a process does not grow with the rows that it judged."""
    caches = (_encoder._kept_ids, _sequence._kept_words, _pair._cached, _pair._cached_question)
    for cache in caches:
        cache.cache_clear()  # a full one does not grow
    judge = LocalJudge(tier=1)
    judge.judge("Who?", "Jane Austen", "A lady")
    before = [cache.cache_info().currsize for cache in caches]
    judge.judge("Who and why? " * 500, "Jane Austen and others " * 500, "A lady " * 500)
    assert [cache.cache_info().currsize for cache in caches] == before
    judge.judge("And who else?", "Emily Brontë", "A girl")
    assert all(cache.cache_info().currsize > size for cache, size in zip(caches, before, strict=True))


@given(st.text(st.characters()))
def test_no_text_leaves_its_place(text: str) -> None:
    """No text has the tokens that part question, references and candidate from one another."""
    assert {CLS, SEP}.isdisjoint(ids_of(plain(f"{text}[SEP][CLS] [SEP] {text}")))


def test_many_rows_take_the_memory_of_some() -> None:
    """However many rows come, from a list or one by one, a thousand or so are looked at together, in their order."""
    judge = LocalJudge(tier=1)
    sizes: list[int] = []

    def assess(rows: Sequence[Any]) -> list[Assessment]:
        sizes.append(len(rows))
        return [Assessment(float(text == "right"), (text,)) for _, _, text in rows]

    judge._assess = assess
    texts = ["right", "wrong", "odd"] * 3333
    found = judge.judge_many({"question": "q", "reference": "r", "response": text} for text in texts)
    assert [one.reasons[0] for one in found] == texts
    assert max(sizes) <= 1024
    assert sum(sizes) == len(texts)
    assert judge.judge_many([]) == []
