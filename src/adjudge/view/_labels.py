r"""Labels of people, kept as JSON lines in a file of their own beside the run.

    {"id": "q7", "run": "july.run", "row": 7, "question": "Capital of France?", "reference": ["Paris"],
     "response": "Lyon", "label": 0, "annotator": "ann", "at": "2026-11-19T04:00:00+00:00", "probability": 0.05,
     "sample": {"kind": "random", "seed": 0, "rows": 2000}}

`label` is 1 for right, 0 for wrong, "unsure" for a row that its reader cannot decide. The last line of an annotator
about a row counts. `adjudge judge calibrate` reads the file as it is. A line is appended whole and synced; one that a
crash tore, which begins like a label and stops, is ignored, and taken out when the next one is appended.
"""

from __future__ import annotations

import codecs
import fcntl
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from adjudge.datasets import json_line
from adjudge.errors import RowError, UsageError
from adjudge.model import decode_json

Answer: TypeAlias = Literal["right", "wrong", "unsure"]
"""What a reader says of a response."""

LABELS: dict[Answer, int | str] = {"right": 1, "wrong": 0, "unsure": "unsure"}
SUFFIX = ".labels.jsonl"
MATERIAL = ("question", "reference", "response", "criteria")
LARGEST = 1 << 30  # bytes of a file that is read whole
BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Label:
    """One line: who said what of which row, and the chance with which the row was drawn; None if it was chosen.

    `material` has the question, the references and the response, as the reader saw them.
    """

    row: int
    id: str
    answer: Answer
    annotator: str
    probability: float | None = None
    sample: Mapping[str, Any] = field(default_factory=dict)
    material: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""
    run: str = ""


class LabelFile:
    """The file of labels; several processes may append to it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @classmethod
    def beside(cls, run: Path) -> LabelFile:
        """Return the usual file of a run.

        >>> LabelFile.beside(Path("july.run")).path.name
        'july.run.labels.jsonl'
        """
        return cls(f"{run}{SUFFIX}")

    def append(self, label: Label) -> None:
        """Append a line, which is on disk when this returns; a torn one before it is taken out."""
        line = _line_of(label)
        with self._open(os.O_RDWR | os.O_CREAT | os.O_APPEND) as handle:
            # Another process may be writing a line, which must not be taken for a torn one.
            fcntl.flock(handle, fcntl.LOCK_EX)
            _mend(handle)
            size = os.fstat(handle).st_size
            try:
                left = memoryview(line)
                while left:
                    left = left[os.write(handle, left) :]
                os.fsync(handle)
            except OSError:
                # Half a line, as on a full disk, would look like a torn one.
                os.ftruncate(handle, size)
                raise
            if not size:
                _sync_folder(self.path.parent)

    def read(self) -> tuple[list[Label], Counter[str]]:
        """Return the labels in order, and why other lines are none; a file that is not there has no labels."""
        try:
            with self._open(os.O_RDONLY) as handle, os.fdopen(os.dup(handle), "rb") as file:
                if os.fstat(handle).st_size > LARGEST:
                    raise UsageError(f"{self.path} is too large for a file of labels", code="cannot-read")
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return [], Counter()
        lines[0] = lines[0].removeprefix(codecs.BOM_UTF8)
        # Who edits the file by hand may leave the last line feed out; a torn line is not anybody's label.
        if _is_torn(lines[-1]):
            lines.pop()
        found = [_label_of(line) for line in lines if line.strip()]
        labels = [one for one in found if isinstance(one, Label)]
        return labels, Counter(f"not a label: {one}" for one in found if isinstance(one, str))

    @contextmanager
    def _open(self, flags: int) -> Iterator[int]:
        try:
            # The name is beside a run, which may come from a stranger: a link there could name any file of ours.
            handle = os.open(self.path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            try:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise UsageError(f"{self.path} is not a file", code="cannot-write")
                yield handle
            finally:
                os.close(handle)
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
            raise UsageError(f"{self.path.parent}: there is no such folder", code="cannot-write") from None
        except OSError as error:
            why = f"{self.path}: {error.strerror or error}; --labels names another file"
            raise UsageError(why, code="cannot-write") from None


def _mend(handle: int) -> None:
    """Make the file end with a whole line: a torn one is cut off, one that only lacks its end gets it."""
    end = os.fstat(handle).st_size
    tail = b""
    while end and b"\n" not in tail:
        size = min(BLOCK, end)
        end -= size
        tail = os.pread(handle, size, end) + tail
    start = tail.rfind(b"\n") + 1
    torn = tail[start:]
    if not torn:
        return
    # The file may be one that was made elsewhere: what is not surely torn is somebody's data.
    if _is_torn(torn):
        os.ftruncate(handle, end + start)
    else:
        os.write(handle, b"\n")


def _is_torn(line: bytes) -> bool:
    """Return whether a line without an end is the beginning of one of ours."""
    if not line.lstrip(codecs.BOM_UTF8 + b" \t\r").startswith(b"{"):
        return False
    try:
        decode_json(line.removeprefix(codecs.BOM_UTF8))
    except RowError:
        return True
    return False


def _sync_folder(folder: Path) -> None:
    """Make a new name outlive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _line_of(label: Label) -> bytes:
    return json_line(
        {
            "id": label.id,
            "run": label.run,
            "row": label.row,
            **label.material,
            "label": LABELS[label.answer],
            "annotator": label.annotator,
            "at": label.at or datetime.now(UTC).isoformat(timespec="seconds"),
            "probability": label.probability,
            "sample": dict(label.sample),
        }
    )


def _label_of(line: bytes) -> Label | str:
    """Read a line, or return why it is not a label."""
    try:
        given = decode_json(line)
    except RowError:
        return "not JSON"
    if not isinstance(given, dict):
        return "not an object"
    answer = next((name for name, value in LABELS.items() if value == given.get("label")), None)
    # Python takes true for 1.
    if answer is None or isinstance(given["label"], bool):
        return 'its label is not 1, 0 or "unsure"'
    row: Any = given.get("row")
    id_: Any = given.get("id")
    annotator: Any = given.get("annotator")
    probability: Any = given.get("probability")
    sample, at, run = given.get("sample"), given.get("at"), given.get("run")
    if (fault := _fault_of(row, id_, annotator, probability)) is not None:
        return fault
    return Label(
        row,
        id_,
        answer,
        annotator,
        probability,
        sample if isinstance(sample, dict) else {},
        {name: given[name] for name in MATERIAL if name in given},
        at if isinstance(at, str) else "",
        run if isinstance(run, str) else "",
    )


def _fault_of(row: object, id_: object, annotator: object, probability: Any) -> str | None:
    """Return what is wrong with the parts of a label; None if they are as they should be."""
    if type(row) is not int or row < 0:
        return "it has no row number"
    if not isinstance(id_, str) or not isinstance(annotator, str):
        return "its id or its annotator is not a text"
    is_number = isinstance(probability, int | float) and not isinstance(probability, bool)
    if probability is not None and not (is_number and 0 < probability <= 1):
        return "its probability is not above 0 and at most 1"
    return None
