"""Cases in any form that a run takes, as rows: the columns by name that scorers and judges read.

Case(id="q1", question="Capital?", references=("Paris",))   ->  {"id": "q1", "question": "Capital?", ...}
{"id": "q1", "question": "Capital?", "answer": "Paris"}     ->  itself
"rows.jsonl"                                                ->  its rows, the unreadable ones as faults

A canary is a row with an answer that is known to be bad, judged like the others and counted separately. That of case n
has the number -(n + 1), so a loop over the cases from 0 on does not meet it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from hashlib import blake2b
from itertools import tee, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from adjudge.datasets import Format, read_rows
from adjudge.errors import AdjudgeError, DataError, UsageError
from adjudge.judges.columns import QUESTIONS, RESPONSES, one_of, references_in, text_in
from adjudge.model import Case, Message, Trajectory
from adjudge.runs._score_file import Columns, rename, row_label

_CASE = frozenset(field.name for field in fields(Case)) - {"metadata"}


class CaseRead(NamedTuple):
    """One case as it was read: its columns, or why it has none or, with columns, why it cannot be scored."""

    id: Any
    row: Mapping[str, Any] | None
    fault: str | None = None
    canary: Mapping[str, Any] | None = None  # a second row for the judge, with an answer that is known to be bad


Cases: TypeAlias = str | Path | Iterable[Case | Mapping[str, Any] | CaseRead]
"""The cases of a run: a file, or cases or rows in any iterable."""


def check_cases(cases: object) -> None:
    """Raise `UsageError` for cases that cannot be gone through."""
    if not isinstance(cases, Path | Iterable):
        raise UsageError(f"cases must be a file, or cases or rows in an iterable, got {type(cases).__name__}")


def read_cases(
    cases: Cases,
    trajectories: Any = None,
    *,
    columns: Columns = (),
    format: Format | None = None,  # noqa: A002 (as in read_rows)
) -> Iterator[CaseRead]:
    """Read cases, one after the other, each with its saved trajectory.

    `columns` gives columns of a file other names, too.
    """
    if isinstance(cases, str | Path):
        rows = read_rows(str(cases), format)
        if columns:  # before the label is taken: the id may be a mapped column
            rows = (row if row.columns is None else row._replace(columns=rename(columns, row.columns)) for row in rows)
        found = (
            CaseRead(number, None, fault or "bad-row") if row is None else CaseRead(row_label(row, number), row)
            for number, row, fault in rows
        )
    else:
        check_cases(cases)
        found = (
            case if isinstance(case, CaseRead) else _from_object(case, number) for number, case in enumerate(cases, 1)
        )
    if trajectories is None:
        return found
    if isinstance(trajectories, Mapping):
        return (_overlay(read, trajectories.get(read.id)) for read in found)
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
    """Return a case as a row: without its empty fields, its metadata as further columns."""
    # Metadata never replace a field of the case.
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


def cluster_of(row: Mapping[str, Any] | None) -> str | None:
    """Return what a row varies together with: its conversation, else its group (the other repeats of its scenario).

    >>> cluster_of({"conversation_id": 7, "group_id": "g"}), cluster_of({"session_id": "s", "turn_idx": 0})
    ('7', 's')
    """
    if not row:
        return None
    found = row.get("conversation_id")
    if found is None and "turn_idx" in row:  # a turn of CRAG-MM
        found = row.get("session_id")
    if found is None:
        found = row.get("group_id")
    return None if found is None else str(found)


def case_of(id_: Any, row: Mapping[str, Any]) -> Case:
    """Return a row as the case that an agent gets."""
    messages = row.get("messages") or ()
    if not isinstance(messages, list | tuple):
        raise DataError(f"messages must be a list, got {type(messages).__name__}", code="bad-row")
    turn, question = row.get("turn"), text_in(row, QUESTIONS)
    if question is None and not messages and row.get("image") is None:
        # An agent that is asked nothing would be scored for what it makes of that.
        raise DataError(f"the row has no question to ask: call it {one_of(QUESTIONS)}", code="missing-column")
    return Case(
        id=str(id_),
        question=question or "",
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


def _from_object(case: "Case | Mapping[str, Any]", number: int) -> CaseRead:
    if isinstance(case, Case):
        return CaseRead(case.id, row_of(case))
    if isinstance(case, Mapping):
        return CaseRead(row_label(case, number), case)
    return CaseRead(number, None, f"bad-row: row {number} must be a Case or a mapping, got {type(case).__name__}")


def _overlay(read: CaseRead, record: Any) -> CaseRead:
    """Add a saved trajectory to a case; a case without one is a fault."""
    if read.row is None:
        return read
    if record is None:
        return CaseRead(read.id, None, f"no-trajectory: there is no trajectory for case {read.id!r}")
    try:
        return CaseRead(read.id, answered(read.row, trajectory_columns(record)))
    except AdjudgeError as error:
        return CaseRead(read.id, None, error.reason)


def answered(row: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with the agent's answer; an older response of the row, under any name, is replaced."""
    response = next((columns[name] for name in RESPONSES if name in columns), None)
    return {**row, **{name: response for name in RESPONSES if name in row}, **columns}


def trajectory_columns(record: Any) -> dict[str, Any]:
    """Return an agent's record as the columns that scorers read."""
    if isinstance(record, Mapping) and "messages" not in record:
        return {name: value for name, value in record.items() if name != "id"}
    # A record in any other form stays as it is: the scorer reads it again, and a run file can hold it.
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
            message = f"case {case.id!r} comes with the trajectory of {trajectory.id!r}: give both in the same order"
            raise DataError(message, code="torn-trajectories")
        yield CaseRead(case.id, None, trajectory.fault) if trajectory.row is None else _overlay(case, trajectory.row)


def number_of(seq: int) -> int:
    """Return the number of the canary of a case, and the case of a canary.

    >>> number_of(0), number_of(number_of(7))
    (-1, 7)
    """
    return -(seq + 1)


def with_canaries(reads: Iterable[CaseRead], rate: float, seed: int) -> Iterator[CaseRead]:
    """Give some of the cases a canary, the same ones for the same cases and seed."""
    from adjudge.judges import pair_canaries

    ours, theirs = tee(reads)  # read in step: at most one case is held
    for read, (_, canary) in zip(ours, pair_canaries(map(_material, theirs), rate, seed), strict=True):
        yield read if canary is None else read._replace(canary=canary)


def _material(read: CaseRead) -> dict[str, Any]:
    """Return the columns that a canary is made from; a case that cannot be judged has none."""
    row = {} if read.row is None or read.fault is not None else read.row
    try:
        return {"id": read.id, "question": text_in(row, QUESTIONS), "reference": references_in(row)}
    except DataError:
        return {"id": read.id}
