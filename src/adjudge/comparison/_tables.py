r"""Scores in rows: our score files, CRAG-MM results, and any table that has an id and a score.

    {"id": "q1", "scorer": "qa_f1_reward", "value": 0.5, "status": "scored", "parts": {}, "version": "1", ...}
    {"id": "q1", "status": "scored", "verdict": "CORRECT", "judge": "local:0", ...}
    session_id,interaction_id,turn_idx, ... ,is_exact_match,is_correct,is_miss, ... ,status
    id,score\nq1,0.5

Rows with the same id are repeats of one case. A table's columns are named with `id` and `scores`; where they are not,
they are guessed only if there is nothing to choose from.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from adjudge.comparison._build import ResultsBuilder, bad_results, case_id, digest_of, listed
from adjudge.comparison._results import Results
from adjudge.conversations import RATE_RANGES
from adjudge.datasets import Format, read_chunks
from adjudge.errors import UsageError, closest
from adjudge.statistics import Range

T = TypeVar("T")

IDS = ("id", "case_id", "example_id", "question_id", "sample_id", "task_id", "test_id")
SCORES = ("score", "value", "reward", "correct", "is_correct", "pass", "passed")
TURN = frozenset({"session_id", "turn_idx", "is_correct", "is_miss", "is_exact_match"})
"""What a row of CRAG-MM results has."""

CRAG_ALL = "turn_evaluation_results_all"  # the name of the file, in a folder of results
CRAG_SCORERS = "turn_scorer_results.csv"
_GATED_RATES = ("accuracy", "truthfulness_score")
_LESS_IS_BETTER = ("missing", "hallucination_rate")
_TIME_WORDS = frozenset(("duration", "hours", "latency", "minutes", "ms", "seconds", "secs", "time"))
_COST_WORDS = _TIME_WORDS | frozenset(("cost", "dollars", "price", "tokens", "usd"))  # as the last word of a name
_UNITS = frozenset(("avg", "mean", "ms", "s", "sec", "total", "us"))  # after such a word
_ERROR_NAMES = frozenset(("error", "errors", "error_rate", "failures", "failure_rate", "loss"))
_VERDICTS = {"CORRECT": 1.0, "WRONG": 0.0}


FIRST_ROWS = 100  # that are looked at for the names of columns


class Place(NamedTuple):
    """Where a row is, in words where somebody asks."""

    path: Path
    number: int
    word: str

    def __str__(self) -> str:
        return f"{self.path}, {self.word} {self.number}"


class _ScoreLine(msgspec.Struct, gc=False):
    """A line of a score file: of `adjudge score`, or of `adjudge evaluate`."""

    id: str | int | float
    scorer: str
    value: float | None
    status: str
    parts: dict[str, float | None] = {}
    version: str | None = None


class _VerdictLine(msgspec.Struct, gc=False):
    """A line of the verdicts of `adjudge judge run`."""

    id: str | int | float
    status: str
    verdict: str | None
    judge: str


def read_scores(path: Path, keep: Sequence[str] = ()) -> Results:
    """Read a score file: a row for each case and scorer."""
    found = ResultsBuilder(str(path), keep)
    versions: dict[str, str] = {}
    for lines in read_lines(path, _ScoreLine):
        for line in lines:
            name, version = line.scorer, line.version
            # A row that was not reached has no version.
            if version is not None and versions.get(name) != version:
                if name in versions:
                    raise bad_results(path, f"{name} has rows of version {versions[name]} and rows of {version}")
                versions[name] = version
                found.describe(name, range=_range_of(name, version), origin={"version": version})
            value = line.value if line.status == "scored" else None
            case = line.id if type(line.id) is str else str(line.id)
            found.rows(name).add(case, {"": value, **line.parts} if line.parts else {"": value})
    return found.results()


@lru_cache(maxsize=64)
def _range_of(name: str, version: str | None) -> Range:
    """Return the range of a reward of ours, of the same version; whatever else a file names is not looked for."""
    from adjudge.rewards import get_scorer, list_rewards

    if not list_rewards().get(name, "").startswith("adjudge."):
        return None
    scorer = get_scorer(name)
    return scorer.range if scorer.version == version else None


def read_verdicts(path: Path, keep: Sequence[str] = ()) -> Results:
    """Read verdicts of `adjudge judge run`: 1 for CORRECT, 0 for WRONG."""
    found = ResultsBuilder(str(path), keep)
    for lines in read_lines(path, _VerdictLine):
        for line in lines:
            found.add(str(line.id), {line.judge: _VERDICTS.get(line.verdict or "")})
            found.describe(line.judge, range=(0.0, 1.0), origin={"judge": line.judge})
    return found.results()


def read_lines(path: Path, kind: type[T]) -> Iterator[Sequence[T]]:
    """Give the lines of a file, or the items of its array, as a kind, many at a time; a wrong one raises its place."""
    decode = msgspec.json.Decoder(kind).decode_lines
    for chunk in read_chunks(str(path), "jsonl"):
        content = chunk.content()
        if content is not None:
            try:
                yield decode(content)
                continue
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass
        # Read again by the slow reader, which takes half characters, and says which line is wrong.
        found: list[T] = []
        for number, columns, fault in chunk.rows():
            if columns is None:
                raise bad_results(path, (fault or "").removeprefix("bad-row: "))
            try:
                found.append(msgspec.convert(columns, kind))
            except (msgspec.ValidationError, UnicodeEncodeError) as error:
                raise bad_results(Place(path, number, chunk.word), str(error)) from None
        yield found


def readable(path: Path, kind: Format) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Give the rows of a table with their places; one that cannot be read ends the reading."""
    for chunk in read_chunks(str(path), kind):
        word = chunk.word if kind == "jsonl" else "row"
        for number, columns, fault in chunk.rows():
            if columns is None:
                raise bad_results(path, (fault or "").removeprefix("bad-row: "))
            yield Place(path, number, word), columns


def read_table(path: Path, kind: Format, key: str | None, scores: Sequence[str], keep: Sequence[str] = ()) -> Results:
    """Read a table: an id, one score or several, and whatever other columns it has."""
    rows = readable(path, kind)
    # A row of JSON may lack what the others have.
    first = list(islice(rows, FIRST_ROWS))
    if not first:
        raise bad_results(path, "it holds no rows")
    columns: dict[str, Any] = {name: None for _, row in first for name in row}
    rows = chain(first, rows)
    if columns.keys() >= TURN and key is None and not scores:
        return _read_turns(path, rows, keep)
    found = ResultsBuilder(str(path), keep)
    (id_column,) = _columns(path, columns, "id", () if key is None else (key,), IDS)
    metrics = _columns(path, columns, "score", scores, SCORES)
    for name in metrics:
        # What somebody names decides, also where it is a cost.
        is_cost = _is_cost(name)
        found.describe(name, is_gated=True, higher_is_better=not is_cost)
        if is_cost:
            found.notes.append(f"{name} is taken to be better when lower, by its name (--higher-is-better {name})")
    reference = next((name for name in ("reference", "references", "answer", "ground_truth") if name in columns), "")
    knows_more = bool(keep) or not columns.keys().isdisjoint(("question", "conversation_id", "tags"))
    for place, row in rows:
        case = case_id(row.get(id_column), place)
        found.add(case, {name: found.number(row.get(name), name, place) for name in metrics})
        if knows_more:
            digest = digest_of(row.get("question"), row.get(reference))
            found.fact(case, row, cluster=row.get("conversation_id"), tags=row.get("tags"), digest=digest)
    return found.results()


def _is_cost(name: str) -> bool:
    """Return whether a column's name says that less of it is better.

    >>> _is_cost("duration_s"), _is_cost("prompt-tokens"), _is_cost("error_rate"), _is_cost("time_score")
    (True, True, True, False)
    """
    words = name.lower().replace("-", "_").split("_")
    is_cost = words[-1] in _COST_WORDS or (words[-1] in _UNITS and words[-2:-1] and words[-2] in _COST_WORDS)
    return bool(is_cost) or name.lower() in _ERROR_NAMES


def _columns(
    path: Path, columns: Mapping[str, Any], what: str, given: Sequence[str], usual: Sequence[str]
) -> Sequence[str]:
    """Return the columns that are named, or the one that has a usual name."""
    for name in given:
        if name not in columns:
            message = f"{path} has no column {name!r}{closest(name, columns)}{listed(list(columns))}"
            raise UsageError(message, code="missing-column")
    there = [name for name in usual if name in columns]
    if not given and len(there) != 1:
        code = "no-scores" if what == "score" and not there else "missing-column"
        which = f"more than one column that may be the {what}: {', '.join(there)}" if there else f"no column {what!r}"
        hint = ", or let a --scorer score its answers" if code == "no-scores" else ""
        message = f"{path} has {which}; name it with --{what} COLUMN{hint}{listed(list(columns))}"
        raise UsageError(message, code=code)
    return given or there


def _read_turns(path: Path, rows: Iterator[tuple[Place, dict[str, Any]]], keep: Sequence[str]) -> Results:
    """Read the results of a CRAG-MM evaluation: each turn is a case, each session a cluster."""
    found = ResultsBuilder(str(path.parent if path.stem == CRAG_ALL else path), keep)
    for rate, range_ in RATE_RANGES.items():
        found.describe(rate, range=range_, is_gated=rate in _GATED_RATES, higher_is_better=rate not in _LESS_IS_BETTER)
    for place, row in rows:
        session = case_id(row.get("session_id"), place)
        case = f"{session}:{case_id(row.get('turn_idx'), place)}"
        is_scored = row.get("status", "scored") == "scored"
        exact, correct, miss = (
            found.number(row.get(name), name, place) if is_scored else None
            for name in ("is_exact_match", "is_correct", "is_miss")
        )
        wrong = truthful = None
        if correct is not None and miss is not None:
            wrong = 1.0 - correct - miss
            truthful = correct - wrong
        rates = (("accuracy", correct), ("truthfulness_score", truthful), ("exact_match", exact), ("missing", miss))
        found.add(case, dict([*rates, ("hallucination_rate", wrong)]))
        found.fact(case, row, cluster=session, digest=digest_of(row.get("query"), row.get("ground_truth")))
    _add_scorers(path.with_name(CRAG_SCORERS), found)
    return found.results()


def _add_scorers(path: Path, found: ResultsBuilder) -> None:
    """Add the scores of further scorers, where there is a file of them beside the results."""
    if not path.is_file():
        return
    for place, row in readable(path, "csv"):
        name = str(row.get("scorer"))
        value = found.number(row.get("value"), name, place) if row.get("status") == "scored" else None
        found.rows(name).add(f"{row.get('session_id')}:{row.get('turn_idx')}", {"": value})
