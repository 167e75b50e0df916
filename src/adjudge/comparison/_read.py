"""Files of results: what a path holds is recognised by its content, and read as `Results`.

    read_results("july.run")                                 a run of ours
    read_results("log.eval"), read_results("samples_task_2026-07-01.jsonl")
    read_results("answers.csv", id="question", scores=["accuracy"])

Formats by their first bytes: SQLite (a run file), zip (an `.eval` archive), `PAR1` (Parquet); JSON and JSON lines by
the keys of their objects; any other text is CSV.
"""

import gc
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import msgspec

from adjudge.comparison._build import decode_as, listed, read_bytes
from adjudge.comparison._results import Results
from adjudge.datasets import Format, read_rows
from adjudge.errors import DataError, UsageError

BOM = b"\xef\xbb\xbf"
START = 1 << 16  # bytes by which a file is recognised
LONGEST_LINE = 1 << 26  # bytes
KNOWN = (
    "run files and score files of adjudge, reports of adjudge check, CRAG-MM results, Inspect logs, NeMo Evaluator"
    " bundles, Harbor jobs, samples of lm-evaluation-harness, results of promptfoo and DeepEval, and tables (CSV, JSON"
    " lines, Parquet) with an id and a score"
)

# Keys of the object that a document is, and its reader.
DOCUMENTS: Sequence[tuple[frozenset[str], str]] = (
    (frozenset({"schema", "verdict", "results"}), "_checks:read_report"),
    (frozenset({"eval", "samples"}), "_inspect:read_log"),
    (frozenset({"evalId", "results"}), "_test_tools:read_promptfoo"),
    (frozenset({"testRunData"}), "_test_tools:read_latest_test_run"),
    (frozenset({"testCases"}), "_test_tools:read_test_run"),
    (frozenset({"benchmark", "run_id", "config"}), "_benchmarks:read_bundle"),
    (frozenset({"task_name", "trial_name", "agent_info"}), "_benchmarks:read_trial"),
    (frozenset({"stats", "n_total_trials"}), "_benchmarks:read_trial"),
)
# Keys of the first object of JSON lines, or of an array, and its reader.
LINES: Sequence[tuple[frozenset[str], str]] = (
    (frozenset({"id", "scorer", "value", "status"}), "_tables:read_scores"),
    (frozenset({"id", "verdict", "judge", "status"}), "_tables:read_verdicts"),
    (frozenset({"doc_id", "doc", "target", "filtered_resps"}), "_benchmarks:read_harness"),
    (frozenset({"problem_idx", "reward"}), "_benchmarks:read_problems"),
    (frozenset({"testIdx", "promptIdx", "success"}), "_test_tools:read_promptfoo_lines"),
)

# What a folder holds: a pattern of names, and the reader of all such files; without one, the file is read by itself.
FOLDERS: Sequence[tuple[str, str]] = (
    ("turn_evaluation_results_all.csv", ""),
    ("turn_evaluation_results_all.parquet", ""),
    ("samples_*.jsonl", "_benchmarks:read_harness_folder"),
    ("*/samples_*.jsonl", "_benchmarks:read_harness_folder"),
    ("eval-*.json", "_benchmarks:read_bundles"),
    ("*/eval-*.json", "_benchmarks:read_bundles"),
    ("*/result.json", "_benchmarks:read_job"),
    ("*.eval", ""),
    ("test_run_*.json", ""),
)


def read_results(
    path: str | Path,
    *,
    id: str | None = None,  # noqa: A002 (the word that users expect)
    scores: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> Results:
    """Read what a run, or the results of another tool, say about every case.

    `path` is a file or a folder, whose format is recognised by its content. `id` and `scores` name the columns of a
    table, where they cannot be guessed. `keep` names columns that `CaseFacts.columns` shall have. A format that is not
    known is a `UsageError`; whatever is wrong with a file, a `DataError` with the place, or a `RunError`.
    """
    with _without_collector():
        return _read(Path(path), id, (scores,) if isinstance(scores, str) else tuple(scores), keep)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector from looking through what is only growing: that would take more than half the time."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def _read(place: Path, key: str | None, scores: tuple[str, ...], keep: Sequence[str]) -> Results:
    columns = (key, scores)
    try:
        if place.is_dir():
            return _read_folder(place, keep)
        if place.exists() and not place.is_file():
            # Opening a pipe could wait for ever, and what is in one can be read only once.
            raise UsageError(f"{place} is neither a file nor a folder", code="cannot-read")
        with place.open("rb") as file:
            start = file.read(START)
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror or error}", code="cannot-read") from None
    kind = _table_of(start)
    if columns != (None, ()) and kind is None:
        raise UsageError(f"{place} is not a table: --id and --score name columns of CSV, JSON lines and Parquet")
    if start.startswith(b"SQLite format 3\0"):
        return _reader("_run_files:read_run")(place, keep)
    if start.startswith(b"PK\x03\x04"):
        return _reader("_inspect:read_archive")(place, read_bytes(place), keep)
    if kind is None:
        raise _unknown(place)
    if kind == "jsonl" and columns == (None, ()):
        found = _read_json(place, keep)
        if found is not None:
            return found
    return _reader("_tables:read_table")(place, kind, *columns, keep)


def _table_of(start: bytes) -> Format | None:
    """Return how a table that begins like this is written; None where it cannot be one."""
    if start.startswith(b"PAR1"):
        return "parquet"
    if b"\0" in start:
        return None
    return "jsonl" if start.removeprefix(BOM).lstrip()[:1] in (b"{", b"[") else "csv"


def _read_json(path: Path, keep: Sequence[str]) -> Results | None:
    """Read a document, or lines of a known form; None for rows of any other form."""
    with path.open("rb") as file:
        line = b"\n"
        while line.isspace():
            line = file.readline(LONGEST_LINE).removeprefix(BOM)
        has_more = not file.read(START).isspace() if file.peek(1) else False
    if line.lstrip()[:1] == b"[":
        first = next(iter(read_rows(str(path), "jsonl")), None)
        return _read_lines(path, frozenset() if first is None else frozenset(first.columns or ()), keep)
    keys = _keys_of(line)
    if keys is not None and has_more:
        return _read_lines(path, keys, keep)
    # Either the document has more than one line, or it is the only line of the file.
    content = read_bytes(path).removeprefix(BOM)
    keys = keys or frozenset(decode_as(dict[str, msgspec.Raw], content, path))
    for signs, reader in DOCUMENTS:
        if signs <= keys:
            return _reader(reader)(path, content, keep)
    if has_more:
        raise _unknown(path, keys)
    return _read_lines(path, keys, keep)


def _keys_of(line: bytes) -> frozenset[str] | None:
    """Return the keys of an object; None for what is not one, or only the beginning of one."""
    try:
        return frozenset(decode_as(dict[str, msgspec.Raw], line, ""))
    except DataError:
        return None


def _read_lines(path: Path, keys: frozenset[str], keep: Sequence[str]) -> Results | None:
    return next((_reader(reader)(path, keep) for signs, reader in LINES if signs <= keys), None)


def _read_folder(path: Path, keep: Sequence[str]) -> Results:
    """Read the one thing in a folder that can be read."""
    for pattern, reader in FOLDERS:
        # A link in somebody's folder may lead anywhere.
        found = sorted(one for one in path.glob(pattern) if one.is_file() and not _is_linked(one, path))
        if found and reader:
            return _reader(reader)(path, found, keep)
        if len(found) > 1:
            names = ", ".join(one.name for one in found[:5])
            raise UsageError(f"{path} holds {len(found)} files of results ({names}): name one of them")
        if found:
            return read_results(found[0], keep=keep)
    raise _unknown(path)


def _is_linked(file: Path, folder: Path) -> bool:
    return file.is_symlink() or (file.parent != folder and file.parent.is_symlink())


def _reader(place: str) -> Callable[..., Results]:
    """Return a reader, loaded when it is used."""
    module, name = place.split(":")
    reader: Callable[..., Results] = getattr(import_module(f"adjudge.comparison.{module}"), name)
    return reader


def _unknown(path: Path, keys: Collection[str] = ()) -> UsageError:
    message = f"{path} is none of the results that adjudge reads: {KNOWN}"
    return UsageError(f"{message}{listed(sorted(keys))}", code="unknown-format")
