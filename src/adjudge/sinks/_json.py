"""JSON: scores one a line, or a report of checks; plain ASCII without effect in terminals, pages and templates."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC
from pathlib import Path
from typing import Any

from adjudge.errors import UsageError
from adjudge.sinks._reports import Check, tally
from adjudge.sinks._scores import OutScore, Receipt, cleaned_score, plain

_INERT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


class JsonSink:
    """Scores to a file, one JSON object a line; the file is there only when it is whole."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def send(self, scores: Iterable[OutScore]) -> Receipt:
        """Write all scores, also those without a value: null, with the reason."""
        lines = [_to_ascii(_row(cleaned_score(score))) for score in scores]
        _write_whole(self.path, "".join(f"{line}\n" for line in lines))
        return Receipt(delivered=len(lines))


def json_report(checks: Sequence[Check]) -> str:
    """Return counts and checks as one JSON object.

    >>> json_report([Check("<b>", "passed", scores={"f1": 0.5})])[:52]
    '{"counts": {"passed": 1, "failed": 0, "undecided": 0'
    """
    return _to_ascii({"counts": tally(checks), "checks": [plain(asdict(check)) for check in checks]})


def _row(score: OutScore) -> dict[str, Any]:
    at = score.timestamp.astimezone(UTC).isoformat(timespec="milliseconds")
    return {**asdict(score), "metadata": dict(score.metadata), "timestamp": at}


def _to_ascii(value: object) -> str:
    # These three occur only inside strings, where their escapes mean the same.
    return json.dumps(value, allow_nan=False, default=str).translate(_INERT)


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            # On disk before it gets its name: after a power cut the file is whole or not there.
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-write") from None
