"""Which turns are asked together: one turn of a conversation at a time, in order of the data set.

    conversations of 1, 3 and 2 turns, two at a time:   a0 b0 | b1 c0 | b2 c1

A function of the data set and the size alone: neither how long answers take nor where a run was interrupted changes
what stands in a batch.
"""

from collections.abc import Container, Iterable, Iterator, Sequence


def batches(conversations: Iterable[Sequence[str]], size: int, done: Container[str] = ()) -> Iterator[list[str]]:
    """Give the ids of the turns that are asked together; those that are `done` are left out.

    Conversations are lists of their turns' ids. One that has ended makes room for the next.

    >>> list(batches([["a0"], ["b0", "b1", "b2"], ["c0", "c1"]], 2))
    [['a0', 'b0'], ['b1', 'c0'], ['b2', 'c1']]
    """
    waiting = iter(conversations)
    open_: list[tuple[Sequence[str], int]] = []
    while True:
        while len(open_) < size:
            turns = next(waiting, None)
            if turns is None:
                break
            if turns:
                open_.append((turns, 0))
        if not open_:
            return
        batch = [turns[at] for turns, at in open_ if turns[at] not in done]
        if batch:
            yield batch
        open_ = [(turns, at + 1) for turns, at in open_ if at + 1 < len(turns)]
