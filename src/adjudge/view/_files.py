"""Files that are not runs, as rows: scores of `adjudge score`, logs of Inspect, results of other tools.

What `adjudge compare` can read can be looked at: its readers give the numbers. Where a file also says what was asked
and answered, as scored rows and logs of Inspect do, that is shown beside them.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from adjudge.comparison import MetricValues, Results, read_results
from adjudge.datasets import read_rows
from adjudge.errors import AdjudgeError
from adjudge.model import Score, decode_json
from adjudge.runs import RowReply
from adjudge.view._inspect_logs import NO_SCORE, ZIP, sample_rows, score_of
from adjudge.view._sources import About, ViewRow, stamp_of

SCORE_LINE = frozenset({"id", "scorer", "value", "status"})
VERDICT_LINE = frozenset({"id", "verdict", "judge", "status"})


class FileSource:
    """A file of results; its rows are kept in the index."""

    is_kept = True
    in_order = True
    is_running = False
    total = None
    spent = None
    calibration = None
    early = None

    def __init__(self, path: Path, start: bytes) -> None:
        self.path = path
        first = _first_object(start)
        self._is_scores = first.keys() >= SCORE_LINE or first.keys() >= VERDICT_LINE
        is_log = start.startswith(ZIP) or {"eval", "samples"} <= first.keys() or b'"samples":' in start[:4096]
        self._is_log = is_log and not self._is_scores
        # Reading it now shows at once whether it can be looked at.
        names = list(self._metrics)
        ranges = tuple(self._metrics[name].range for name in names)
        kind = "log of Inspect" if self._is_log else "scores" if self._is_scores else "results"
        self.about = About(path.name, kind, scorers=tuple(names), ranges=ranges, notes=self._results.notes)

    @property
    def stamp(self) -> str:
        """The time and size of the file."""
        return stamp_of(self.path)

    @property
    def identity(self) -> str:
        """The same: such a file has no id."""
        return self.stamp

    @cached_property
    def _results(self) -> Results:
        return read_results(self.path)

    @property
    def _metrics(self) -> dict[str, MetricValues]:
        return {name: one for name, one in self._results.metrics.items() if one.is_gated}

    def rows(self, first: int) -> Iterator[ViewRow]:
        """Give the rows; the index asks for them from the first one on."""
        del first
        if self._is_scores:
            yield from self._scored_rows()
        elif self._is_log:
            yield from sample_rows(self.path, self._metrics)
        else:
            yield from self._plain_rows()
        del self._results  # the index has it all now

    def row(self, number: int) -> ViewRow:
        """Return one row, which the index has."""
        return next(row for row in self.rows(0) if row.number == number)

    def replies(self, number: int) -> tuple[RowReply, ...]:
        """Return nothing: only runs keep what models were asked."""
        del number
        return ()

    def _scored_rows(self) -> Iterator[ViewRow]:
        """Give the rows of a file of ours: consecutive lines with one id, each by another scorer, are one row."""
        names = self.about.scorers
        missing = Score.unscored(NO_SCORE)
        number, id_, scores = 0, None, dict[str, Score]()
        for _, line, _ in read_rows(str(self.path), "jsonl"):
            if line is None:
                continue
            name, score = _score_of(line)
            if scores and (line.get("id") != id_ or name in scores):
                yield ViewRow(number, str(id_), scores={one: scores.get(one, missing) for one in names})
                number, scores = number + 1, {}
            id_ = line.get("id")
            scores[name] = score
        if scores:
            yield ViewRow(number, str(id_), scores={one: scores.get(one, missing) for one in names})

    def _plain_rows(self) -> Iterator[ViewRow]:
        """Give the rows of any other file: a row for every case and repeat."""
        metrics = self._metrics
        cases = dict.fromkeys(case for one in metrics.values() for case in one.values)
        number = 0
        for case in cases:
            facts = self._results.cases.get(case)
            columns: dict[str, Any] = {}
            if facts is not None:
                columns = {"tags": list(facts.tags), **({"group_id": facts.cluster} if facts.cluster else {})}
            for repeat in range(max(len(one.values.get(case, ())) for one in metrics.values())):
                scores = {name: score_of(one, case, repeat) for name, one in metrics.items()}
                yield ViewRow(number, case, columns, scores=scores)
                number += 1


def _first_object(start: bytes) -> Mapping[str, Any]:
    """Return the object on the first line of JSON lines, or nothing."""
    try:
        found = decode_json(start.lstrip(b"\xef\xbb\xbf \r\n").split(b"\n", 1)[0])
    except (AdjudgeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _score_of(line: Mapping[str, Any]) -> tuple[str, Score]:
    """Return the score on a line, and its name."""
    name = str(line.get("scorer") or line.get("judge") or "score")
    value, reason = line.get("value"), line.get("reason")
    if value is None and line.get("verdict") in ("CORRECT", "WRONG"):
        value = float(line["verdict"] == "CORRECT")
    given = line.get("parts")
    parts = (
        {str(key): one for key, one in given.items() if isinstance(one, int | float)} if isinstance(given, dict) else {}
    )
    words = reason if isinstance(reason, str) and reason else None
    try:
        if line.get("status") == "scored" and isinstance(value, int | float):
            return name, Score.scored(float(value), reason=words, parts=parts)
    except ValueError:
        words = "bad-score: the number in the file is not finite"
    if line.get("status") == "error":
        return name, Score.error(words or "error")
    return name, Score.unscored(words or NO_SCORE)
