"""What every reader shares: cells become numbers, rows become `Results`, and a fault names its file and place.

    found = ResultsBuilder("log.eval")
    found.add("q1", {"match": 1.0})
    found.add("q1", {"match": None})       # the second repeat of q1 has no score
    found.results().metrics["match"].values == {"q1": (1.0, None)}

Files come from strangers: whatever is in them, the memory that is used stays in proportion to their size.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import msgspec

from adjudge.comparison._results import CaseFacts, MetricValues, Results
from adjudge.errors import DataError, UsageError, closest, printable
from adjudge.model import encode_json

T = TypeVar("T")

LARGEST_VALUE = 1e100
LARGEST = 1 << 30  # bytes of a JSON document
LARGEST_PART = 1 << 20  # bytes of a part of one, such as the scores of a sample
LONGEST_ID = 4096  # characters
MOST_METRICS = 1000
MOST_GAPS = 1 << 24  # scores that rows lack and other rows have
ABSENT = math.nan  # in the place of such a score; no value that is read is NaN
COSTS = ("latency", "prompt_tokens", "completion_tokens", "cost")
"""What a row took: metrics that are shown and never decide."""

MOST_VALUES = 1 << 22  # of a document that only the slow reader takes

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NO_NUMBER = frozenset({"nan", "+nan", "-nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"})
WORDS = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "correct"), 1.0),
    **dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "wrong"), 0.0),
}


def bad_results(place: object, message: str) -> DataError:
    """Return the error for something in a file of results that cannot be used."""
    return DataError(f"{place}: {message}", code="bad-results")


class Rows:
    """Rows that have the same scores, each a repeat of its case: a list of cases, and beside it one of each score."""

    __slots__ = ("_gaps", "cases", "columns")

    def __init__(self) -> None:
        self.cases: list[str] = []
        self.columns: dict[str, list[float | None]] = {}
        self._gaps = 0

    def add(self, case: str, scores: Mapping[str, float | None]) -> None:
        """Add a row; a score that it lacks, and other repeats of its case have, is None."""
        number = len(self.cases)
        self.cases.append(case)
        columns = self.columns
        for name, value in scores.items():
            column = columns.get(name)
            if column is None:
                columns[name] = column = []
            if len(column) < number:
                self._fill(column, number)
            column.append(value)

    def _fill(self, column: list[float | None], rows: int) -> None:
        self._gaps += rows - len(column)
        if self._gaps > MOST_GAPS:
            raise DataError("too many of its rows lack most of the scores that other rows have", code="bad-results")
        column.extend([ABSENT] * (rows - len(column)))

    def by_case(self, name: str) -> dict[str, tuple[float | None, ...]]:
        """Return a score by case, one value for each repeat, without the cases that never have it."""
        column = self.columns[name]
        self._fill(column, len(self.cases))
        # Nearly always no case has repeats, and every row has every score.
        if ABSENT not in column:
            found: dict[str, tuple[float | None, ...]] = dict(zip(self.cases, zip(column), strict=True))
            if len(found) == len(self.cases):
                return found
        repeats: dict[str, list[float | None]] = {}
        for case, value in zip(self.cases, column, strict=True):
            repeats.setdefault(case, []).append(value)
        return {
            case: tuple([None if value is ABSENT else value for value in values])
            for case, values in repeats.items()
            if any(value is not ABSENT for value in values)
        }


class ResultsBuilder:
    """What is read of one file; `keep` names the columns that `CaseFacts` shall have."""

    def __init__(self, name: str, keep: Sequence[str] = ()) -> None:
        self.name = name
        self.keep = tuple(keep)
        self.cases: dict[str, CaseFacts] = {}
        self.notes: list[str] = []
        self.spared: list[str] = []
        self.mixed: dict[str, None] = {}  # ids that stand for several cases
        self._rows: dict[str, Rows] = {}
        self._known: dict[str, dict[str, Any]] = {}
        self._kept: set[str] = set()
        self._no_numbers: dict[str, int] = defaultdict(int)
        self._numbers: set[str] = set()  # metrics that have numbers, and those that have words such as pass
        self._words: set[str] = set()

    def describe(self, metric: str, **known: Any) -> None:
        """Say what is known of a metric: the fields of `MetricValues` beside its values."""
        self._known.setdefault(metric, {}).update(known)

    def rows(self, scorer: str = "") -> Rows:
        """Return the rows of all scorers together, or, where a file has rows for each of them, of one.

        There a scorer's own value is called `""`, and its parts by their names.
        """
        found = self._rows.get(scorer)
        if found is None:
            found = self._rows[scorer] = Rows()
        return found

    def add(
        self, case: str, scores: Mapping[str, float | None], costs: Mapping[str, float | None] | None = None
    ) -> None:
        """Add a row with all its scores; `costs` are what it took (`COSTS`), as far as that is known."""
        if costs is not None:
            scores = {**scores, **{name: cost for name, cost in costs.items() if cost is not None}}
        self.rows().add(case, scores)

    def number(self, value: object, metric: str, place: object, words: Mapping[str, float] = WORDS) -> float | None:
        """Return a cell as a number, None where it is empty; booleans and `words` such as `pass` are 1 and 0.

        NaN and infinity are not numbers: they count as missing, with a note. Any other text is an error.
        """
        if isinstance(value, str):
            word = value.strip().lower()
            if word in words:
                self._words.add(metric)
                return words[word]
            if word not in _NO_NUMBER and word and not _NUMBER.fullmatch(word):
                raise bad_results(place, f"{metric} is {value[:80]!r}, which is not a number")
            value = float(word) if word else None
        if value is None:
            return None
        if isinstance(value, bool):
            self._words.add(metric)
            return float(value)
        if not isinstance(value, int | float | Decimal):
            raise bad_results(place, f"{metric} is {_kind(value)}, not a number")
        self._numbers.add(metric)
        try:
            number = float(value)
        except (OverflowError, ValueError):
            number = math.inf
        if LARGEST_VALUE < abs(number) < math.inf:
            raise bad_results(place, f"{metric} is {number:g}, and squares of it are beyond what can be computed")
        if not math.isfinite(number):
            self._no_numbers[metric] += 1
            return None
        return number

    def fact(
        self,
        case: str,
        columns: Mapping[str, Any],
        *,
        cluster: object = None,
        tags: object = None,
        digest: str | None = None,
    ) -> None:
        """Keep what is known of a case; what its first row says counts."""
        if self.keep:
            self._kept.update(columns)
        known = self.cases.get(case)
        if known is not None:
            if digest is not None and known.digest is not None and digest != known.digest:
                self.mixed[case] = None
            return
        kept = {name: text_of(columns[name]) for name in self.keep if columns.get(name) is not None}
        named = () if not isinstance(tags, list | tuple) else tuple(map(text_of, tags))
        group = None if cluster is None else text_of(cluster)
        if group is not None or named or digest is not None or kept:
            self.cases[case] = CaseFacts(group, named, digest, kept)

    def results(self) -> Results:
        """Return what was read."""
        self._check_keep()
        odd = [f"{count:,} of {name}" for name, count in self._no_numbers.items()]
        if odd:
            self.notes.append(f"{self.name}: values that are not finite numbers count as missing ({', '.join(odd)})")
        # Nobody says what the range of a table's numbers is; that of true and false is known.
        for name in self._words - self._numbers:
            self._known.setdefault(name, {}).setdefault("range", (0.0, 1.0))
        for name in COSTS:
            self._known[name] = {"is_gated": False, "higher_is_better": False, **self._known.get(name, {})}
        metrics: dict[str, MetricValues] = {}
        for scorer, rows in self._rows.items():
            if any(len(case) > LONGEST_ID for case in rows.cases):
                longest = max(rows.cases, key=len)
                message = f"the id {longest[:40] + '...'!r} has {len(longest):,} characters, more than {LONGEST_ID:,}"
                raise bad_results(self.name, message)
            if len(rows.columns) + len(metrics) > MOST_METRICS:
                raise bad_results(self.name, f"more than {MOST_METRICS:,} metrics")
            for part in rows.columns:
                name = ".".join(filter(None, (scorer, part)))
                known = {"is_gated": not (scorer and part), **self._known.get(name, {})}
                metrics[name] = MetricValues(rows.by_case(part), **known)
        if not any(metric.values for metric in metrics.values()):
            raise bad_results(self.name, "it holds no scores")
        return Results(
            self.name, metrics, self.cases, frozenset(self.spared), mixed=tuple(self.mixed), notes=tuple(self.notes)
        )

    def _check_keep(self) -> None:
        # What cases are grouped by may be a tag, too.
        tags = {"tag", "tags"}.union(*(fact.tags for fact in self.cases.values())) if self.keep else set()
        for name in self.keep:
            if name not in self._kept and name not in tags:
                known = sorted(self._kept)
                message = f"{self.name} has no column {name!r}{closest(name, known)}{listed(known)}"
                raise UsageError(message, code="missing-column")


def case_id(value: object, place: object) -> str:
    """Return the id of a case as text: the number 1 and the text "1" are the same case."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        # A column of whole numbers with a gap in it is read as floats.
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    raise bad_results(place, f"its id is {'empty' if value in (None, '') else _kind(value)}, not text or a number")


def digest_of(question: object, references: object) -> str | None:
    """Return a digest of what was asked and of what answers it; None where the question is not known.

    >>> digest_of("Capital?", "Paris") == digest_of("Capital?", ["Paris"]) != digest_of("Capital?", "Rome")
    True
    """
    if question is None:
        return None
    if isinstance(references, list) and len(references) == 1:
        references = references[0]
    # It tells a question that was changed from one that was not, and keeps no secret: a checksum is enough.
    if type(question) is str and type(references) is str:
        body = f"{question}\0{references}".encode("utf-8", "surrogatepass")
    else:
        body = text_of([question, references]).encode("utf-8", "surrogatepass")
    return f"{crc32(body):08x}"


def text_of(value: object) -> str:
    """Return a value of a row as text: text as it is, a whole number without a point, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    try:
        return encode_json(value).decode()
    except (DataError, TypeError, ValueError, RecursionError):
        return repr(value)[:LONGEST_ID]


def listed(names: Sequence[str]) -> str:
    """Return names as the end of a message."""
    shown = ", ".join(name[:40] for name in names[:30])
    return f"; it has {shown}{', ...' if len(names) > 30 else ''}" if names else ""


def read_bytes(path: Path) -> bytes:
    """Return a file's content, if it is not too large."""
    try:
        if not path.is_file():
            raise UsageError(f"{path} is not a file", code="cannot-read")
        if path.stat().st_size > LARGEST:
            raise bad_results(path, f"larger than the {LARGEST >> 20:,} MB that a document may have")
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="cannot-read") from None


def decode_as(kind: type[T], content: bytes, place: object) -> T:
    """Read JSON as a kind; what it does not ask for is passed over and takes no memory."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        # A number that no float can hold is right JSON, and of the right type.
        if isinstance(error, msgspec.ValidationError) and "out of range" not in str(error):
            raise bad_results(place, str(error)) from None
    # Python's tools write NaN, and half characters: the slow reader takes both, as texts.
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise bad_results(place, "not plain JSON, and too large to see why")
    try:
        plain = json.loads(content, parse_constant=str, parse_float=_finite)
        again = json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace")
        return msgspec.json.decode(again, type=kind)
    except RecursionError:
        raise bad_results(place, "nested too deeply") from None
    except json.JSONDecodeError as error:
        hint = ": was the file cut off?" if error.pos >= len(content.rstrip()) - 1 else ""
        raise bad_results(f"{place}, line {error.lineno}", f"not JSON at column {error.colno}{hint}") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise bad_results(place, printable(str(error))) from None


def _finite(number: str) -> float | str:
    found = float(number)
    return found if math.isfinite(found) else number


def small(value: msgspec.Raw, place: object) -> Any:
    """Return a part of a document that is not large."""
    if len(value) > LARGEST_PART:
        raise bad_results(place, f"{len(value):,} bytes where {LARGEST_PART:,} are enough")
    # Only here is it looked into: a number may be one that no float holds.
    return decode_as(Any, bytes(value), place)


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _kind(value: object) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return names.get(type(value), type(value).__name__)
