"""Records copied from one run file to another: their checksums are checked, and made again for their new keys."""

from collections.abc import Iterable, Iterator, Mapping

from adjudge.runs._records import SUM, Write, check, checksum, write_request
from adjudge.runs._store import Store

REQUESTS = "SELECT number, seq, key, at, body, sum FROM requests WHERE seq BETWEEN ? AND ? ORDER BY number"
REPLIES = """
    SELECT number, source, seconds, attempts, prompt_tokens, completion_tokens, cost, fault, replies.body, replies.sum
    FROM requests JOIN replies USING (number) WHERE seq BETWEEN ? AND ? ORDER BY number
"""
ATTEMPTS = """
    SELECT number, attempt, seconds, fault FROM requests JOIN attempts USING (number)
    WHERE seq BETWEEN ? AND ? ORDER BY number, attempt
"""
TRAJECTORIES = "SELECT seq, seconds, fault, body, sum FROM trajectories WHERE seq BETWEEN ? AND ? ORDER BY seq"
SCORES = """
    SELECT seq, scorer, status, value, reason, body, sum FROM scores WHERE seq BETWEEN ? AND ? ORDER BY seq, scorer
"""


def copy_records(store: Store, seqs: Mapping[int, int], numbers: Iterator[int]) -> Iterator[Write]:
    """Give everything that happened to some cases, for another file.

    `seqs` maps the numbers of the cases to their new ones, `numbers` gives the requests their new numbers.
    """
    if not seqs:
        return
    # One query over the whole range; cases in between that were not asked for are skipped.
    between = min(seqs), max(seqs)
    yield from _copy_calls(store, seqs, numbers, between)
    for seq, seconds, fault, body, sum_ in store.rows(TRAJECTORIES, *between):
        check(sum_, "trajectories", body, seq, fault)
        if seq in seqs:
            new = checksum("trajectories", body, seqs[seq], fault)
            yield "INSERT INTO trajectories VALUES (?, ?, ?, ?, ?)", (seqs[seq], seconds, fault, body, new)
    for seq, scorer, status, value, reason, body, sum_ in store.rows(SCORES, *between):
        check(sum_, "scores", body, seq, scorer, status)
        if seq in seqs:
            new = checksum("scores", body, seqs[seq], scorer, status)
            values = (seqs[seq], scorer, status, value, reason, body, new)
            yield "INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", values


def _copy_calls(
    store: Store, seqs: Mapping[int, int], numbers: Iterator[int], between: tuple[int, int]
) -> Iterator[Write]:
    """Give the requests of the cases, with their replies and failed attempts."""
    found: dict[int, int] = {}
    for number, seq, key, at, body, sum_ in store.rows(REQUESTS, *between):
        check(sum_, "requests", body, number, seq, key)
        if seq in seqs:
            found[number] = next(numbers)
            yield write_request(found[number], seqs[seq], key, at, body)
    for number, source, *measures, fault, body, sum_ in store.rows(REPLIES, *between):
        check(sum_[:SUM], "replies", body, number, source, fault)
        if number in found:
            new = checksum("replies", body, found[number], source, fault) + sum_[SUM:]
            values = (found[number], source, *measures, fault, body, new)
            yield "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values
    for number, *rest in store.rows(ATTEMPTS, *between):
        if number in found:
            yield "INSERT INTO attempts VALUES (?, ?, ?, ?)", (found[number], *rest)


def delete_records(seqs: Iterable[int]) -> Iterator[Write]:
    """Delete everything that happened to those cases; the cases stay."""
    for seq in seqs:
        yield "DELETE FROM attempts WHERE number IN (SELECT number FROM requests WHERE seq = ?)", (seq,)
        yield "DELETE FROM replies WHERE number IN (SELECT number FROM requests WHERE seq = ?)", (seq,)
        yield "DELETE FROM requests WHERE seq = ?", (seq,)
        yield "DELETE FROM trajectories WHERE seq = ?", (seq,)
        yield "DELETE FROM scores WHERE seq = ?", (seq,)


def raw_records(store: Store, seqs: Iterable[int], *, above: int = 0) -> Iterator[Write]:
    """Give everything that happened to some cases under the keys that it has, for another file of the same run.

    Of the requests only those with a number above that one.
    """
    wanted = frozenset(seqs)
    if not wanted:
        return
    between = min(wanted), max(wanted)
    numbers: set[int] = set()
    for number, seq, key, at, body, sum_ in store.rows(REQUESTS, *between):
        check(sum_, "requests", body, number, seq, key)
        if seq in wanted and number > above:
            numbers.add(number)
            yield _again("requests", (number, seq, key, at, body, sum_))
    for number, source, *measures, fault, body, sum_ in store.rows(REPLIES, *between):
        check(sum_[:SUM], "replies", body, number, source, fault)
        if number in numbers:
            yield _again("replies", (number, source, *measures, fault, body, sum_))
    for number, *rest in store.rows(ATTEMPTS, *between):
        if number in numbers:
            yield _again("attempts", (number, *rest))
    for seq, scorer, status, value, reason, body, sum_ in store.rows(SCORES, *between):
        check(sum_, "scores", body, seq, scorer, status)
        if seq in wanted:
            yield _again("scores", (seq, scorer, status, value, reason, body, sum_))


def _again(table: str, values: tuple[object, ...]) -> Write:
    # What was shipped twice, because nobody knew whether it had arrived, is there once.
    return f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(values))})", values  # noqa: S608 (our own names)
