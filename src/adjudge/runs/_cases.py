"""Cases in any of the forms that a run takes, as rows by name: what scorers and judges read their arguments from.

Case(id="q1", question="Capital?", references=("Paris",))   ->  {"id": "q1", "question": "Capital?", ...}
{"id": "q1", "question": "Capital?", "answer": "Paris"}     ->  itself
"rows.jsonl"                                                ->  its rows, the unreadable ones as faults

A canary is a row with an answer that is known to be bad, judged beside the others and counted apart. That of case n has
the number -(n + 1): whoever goes through the cases does not meet it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from hashlib import blake2b
from itertools import tee, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from adjudge.datasets import Format, read_rows
from adjudge.errors import AdjudgeError, DataError, UsageError
from adjudge.judges.columns import QUESTIONS, RESPONSES, references_in, text_in
from adjudge.model import Case, Message, Trajectory
from adjudge.runs._score_file import Columns, rename, row_label

_CASE = frozenset(field.name for field in fields(Case)) - {"metadata"}


class CaseRead(NamedTuple):
    """One case as it was read: its columns, or why it has none or, beside its columns, why it cannot be scored."""

    id: Any
    row: Mapping[str, Any] | None
    fault: str | None = None
    canary: Mapping[str, Any] | None = None  # a row that is judged beside it, with an answer that is known to be bad


Cases: TypeAlias = str | Path | Iterable[Case | Mapping[str, Any] | CaseRead]
"""What a run takes as its cases: a file, or cases or rows in any iterable."""


def read_cases(
    cases: Cases,
    trajectories: Any = None,
    *,
    columns: Columns = (),
    format: Format | None = None,  # noqa: A002 (as in read_rows)
) -> Iterator[CaseRead]:
    """Read cases, one after the other, with the saved trajectories laid over them.

    In a file, `columns` go under other names, too.
    """
    if isinstance(cases, str | Path):
        rows = read_rows(str(cases), format)
        found = (_from_file(number, row and rename(columns, row), fault) for number, row, fault in rows)
    else:
        found = (_from_object(case, number) for number, case in enumerate(cases, 1))
    if trajectories is None:
        return found
    if isinstance(trajectories, Mapping):
        return (_overlaid(one, trajectories.get(one.id)) for one in found)
    return _side_by_side(found, read_cases(trajectories))


def digest_of(path: str | Path) -> str | None:
    """Return a digest of a file's content; None for standard input."""
    if str(path) == "-":
        return None
    digest = blake2b(digest_size=16)
    try:
        with Path(path).open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None
    return digest.hexdigest()


def row_of(case: Case) -> dict[str, Any]:
    """Return a case as a row: what it leaves empty is left out, its metadata are columns of their own."""
    row: dict[str, Any] = {name: value for name, value in case.metadata.items() if name not in _CASE}
    row["id"] = case.id
    row["question"] = case.question
    row["references"] = list(case.references)
    row.setdefault("answer", list(case.references))
    if case.messages:
        row["messages"] = [plain_message(message) for message in case.messages]
    for name in ("image", "criteria", "workflow", "conversation_id", "turn"):
        value = getattr(case, name)
        if value is not None:
            row[name] = value
    return row


def case_of(id_: Any, row: Mapping[str, Any]) -> Case:
    """Return a row as the case that an agent is asked."""
    messages = row.get("messages") or ()
    if not isinstance(messages, list | tuple):
        raise DataError(f"messages must be a list, got {type(messages).__name__}", code="bad-row")
    turn = row.get("turn")
    return Case(
        id=str(id_),
        question=text_in(row, QUESTIONS) or "",
        messages=tuple(
            one if isinstance(one, Message) else Message.from_mapping(one, where=f"message {index}")
            for index, one in enumerate(messages)
        ),
        image=row.get("image"),
        references=references_in(row) or (),
        criteria=row.get("criteria"),
        workflow=row.get("workflow"),
        conversation_id=None if row.get("conversation_id") is None else str(row["conversation_id"]),
        turn=turn if isinstance(turn, int) else None,
        metadata={name: value for name, value in row.items() if name not in _CASE},
    )


def _from_file(number: int, columns: dict[str, Any] | None, fault: str | None) -> CaseRead:
    return (
        CaseRead(number, None, fault or "bad-row") if columns is None else CaseRead(row_label(columns, number), columns)
    )


def _from_object(case: "Case | Mapping[str, Any] | CaseRead", number: int) -> CaseRead:
    if isinstance(case, CaseRead):
        return case
    if isinstance(case, Case):
        return CaseRead(case.id, row_of(case))
    if isinstance(case, Mapping):
        return CaseRead(row_label(case, number), case)
    return CaseRead(number, None, f"bad-row: row {number} must be a Case or a mapping, got {type(case).__name__}")


def _overlaid(read: CaseRead, record: Any) -> CaseRead:
    """Lay a saved trajectory over a case; a case without one is a fault of its own."""
    if read.row is None:
        return read
    if record is None:
        return CaseRead(read.id, None, f"no-trajectory: there is no trajectory for case {read.id!r}")
    try:
        return CaseRead(read.id, answered(read.row, trajectory_columns(record)))
    except AdjudgeError as error:
        return CaseRead(read.id, None, error.reason)


def answered(row: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Lay what an agent did over a row: an older response of the row's, under any name, is not taken for it."""
    response = next((columns[name] for name in RESPONSES if name in columns), None)
    return {**row, **{name: response for name in RESPONSES if name in row}, **columns}


def trajectory_columns(record: Any) -> dict[str, Any]:
    """Return what an agent did as the columns that scorers know."""
    if isinstance(record, Mapping) and "messages" not in record:
        return {name: value for name, value in record.items() if name != "id"}
    trajectory = Trajectory.from_messages(record)
    kept = [plain_message(message) for message in trajectory.messages] if trajectory is record else record
    return {"final_response": trajectory.final_response, "trajectory": kept}


def plain_message(message: Message) -> dict[str, Any]:
    """Return a message in the usual chat shape."""
    plain: dict[str, Any] = {"role": message.role, "content": message.content, **message.extra}
    if message.tool_calls:
        plain["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    for name in ("tool_call_id", "name"):
        value = getattr(message, name)
        if value is not None:
            plain[name] = value
    return plain


def _side_by_side(cases: Iterator[CaseRead], trajectories: Iterator[CaseRead]) -> Iterator[CaseRead]:
    for case, trajectory in zip_longest(cases, trajectories):
        if case is None or trajectory is None:
            raise DataError("there are not as many trajectories as cases", code="torn-trajectories")
        if case.id != trajectory.id:
            message = f"case {case.id!r} stands beside the trajectory of {trajectory.id!r}: give both in one order"
            raise DataError(message, code="torn-trajectories")
        yield CaseRead(case.id, None, trajectory.fault) if trajectory.row is None else _overlaid(case, trajectory.row)


def number_of(seq: int) -> int:
    """Return the number of the canary of a case, and the case of a canary.

    >>> number_of(0), number_of(number_of(7))
    (-1, 7)
    """
    return -(seq + 1)


def with_canaries(reads: Iterable[CaseRead], rate: float, seed: int) -> Iterator[CaseRead]:
    """Give some of the cases a canary, the same ones for the same cases and seed."""
    from adjudge.judges import pair_canaries

    ours, theirs = tee(reads)  # one behind the other by a single case
    for read, (_, canary) in zip(ours, pair_canaries(map(_material, theirs), rate, seed), strict=True):
        yield read if canary is None else read._replace(canary=canary)


def _material(read: CaseRead) -> dict[str, Any]:
    """Return what a canary is made of; a case that cannot be judged gets none."""
    row = {} if read.row is None or read.fault is not None else read.row
    try:
        return {"id": read.id, "question": text_in(row, QUESTIONS), "reference": references_in(row)}
    except DataError:
        return {"id": read.id}
