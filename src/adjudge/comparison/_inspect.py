"""Logs of Inspect: samples and their epochs, scored by one or more scorers; `.eval` archives and JSON.

    {"status": "success", "eval": {"model": "openai/m", "scorers": [{"name": "match", "options": {}}], ...},
     "samples": [{"id": "q1", "epoch": 1, "input": "Capital?", "target": "Paris", "scores": {"match": {"value": "C"}}}]}

        -> match {"q1": [1.0]}

A sample is a case and its epochs are the repeats. C, P, I and N are 1, .5, 0 and 0, as Inspect's own `value_to_float`
has them. A scorer that gives several values has no value of its own: each is a metric, `SCORER.NAME`. A sample that
ended in an error, or that somebody invalidated, has no scores.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.comparison._build import (
    LARGEST_PART,
    WORDS,
    ResultsBuilder,
    bad_results,
    case_id,
    decode_as,
    digest_of,
    small,
    text_of,
    total,
)
from adjudge.comparison._results import Results
from adjudge.errors import DataError, TrajectoryError
from adjudge.traces import unpack_entries

MARKS = {**WORDS, "c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0}
NOTHING = msgspec.Raw(b"null")


class _Scorer(msgspec.Struct):
    name: str = ""
    options: dict[str, Any] = {}


class _Dataset(msgspec.Struct):
    sample_ids: list[str | int | float] | None = None


class _Config(msgspec.Struct):
    epochs: int | None = 1


class _Eval(msgspec.Struct):
    model: str = ""
    task_version: int | str = 0
    dataset: _Dataset = msgspec.field(default_factory=_Dataset)
    config: _Config = msgspec.field(default_factory=_Config)
    scorers: list[_Scorer] | None = None


class _Header(msgspec.Struct):
    eval: _Eval
    status: str = "success"


class _Usage(msgspec.Struct):
    input_tokens: float | None = None
    output_tokens: float | None = None
    total_cost: float | None = None


class _Score(msgspec.Struct):
    value: msgspec.Raw = NOTHING


class _Sample(msgspec.Struct):
    id: str | int | float
    epoch: int = 1
    input: msgspec.Raw = NOTHING
    target: msgspec.Raw = NOTHING
    scores: dict[str, _Score] | None = None
    metadata: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING
    invalidation: msgspec.Raw = NOTHING
    working_time: float | None = None
    total_time: float | None = None
    model_usage: dict[str, _Usage] | None = None


class _Log(_Header):
    samples: list[_Sample] | None = None


class _Read(msgspec.Struct):
    """One sample, as far as a comparison needs it."""

    case: str
    epoch: int
    scores: dict[str, float | None] | None  # None: it ended in an error, or was invalidated
    costs: dict[str, float | None]


def read_archive(path: Path, content: bytes, keep: Sequence[str] = ()) -> Results:
    """Read an `.eval` archive, one sample after the other."""
    samples = _Samples(path, keep)
    header = None
    try:
        for name, entry in unpack_entries(content):
            if not name.startswith("samples/"):
                header = decode_as(_Header, entry, f"{path}, {name}")
            else:
                samples.take(decode_as(_Sample, entry, f"{path}, {name}"), header)
    except TrajectoryError as error:
        raise bad_results(path, error.message) from None
    if header is None and not samples.samples:
        raise bad_results(path, "an archive, but not a log of Inspect")
    return samples.results(header)


def read_log(path: Path, content: bytes, keep: Sequence[str] = ()) -> Results:
    """Read a log in JSON."""
    log = decode_as(_Log, content, path)
    samples = _Samples(path, keep)
    for sample in log.samples or ():
        samples.take(sample, log)
    return samples.results(log)


class _Samples:
    """The samples of one log, as they come: in the order in which they ended."""

    def __init__(self, path: Path, keep: Sequence[str]) -> None:
        self.path = path
        self.found = ResultsBuilder(str(path), keep)
        self.samples: list[_Read] = []
        self.texts: Counter[str] = Counter()  # values of a scorer that are words and not marks
        self.numeric: set[str] = set()  # scorers that give numbers, too
        self.invalid = 0

    def take(self, sample: _Sample, header: _Header | None) -> None:
        place = f"{self.path}, sample {str(sample.id)[:40]!r}"
        case = case_id(sample.id, place)
        scores: dict[str, float | None] | None = None
        # Somebody looked at the sample and declared that it says nothing.
        is_valid = bytes(sample.invalidation) == b"null"
        self.invalid += not is_valid
        if bytes(sample.error) == b"null" and is_valid:
            scores = {}
            for name, score in (sample.scores or {}).items():
                self._add(scores, name, small(score.value, place), place)
        models = sample.model_usage or {}
        model = "" if header is None else header.eval.model
        # What graders and other models used is not the agent's cost.
        used = [models[model]] if model in models else list(models.values())
        costs = {
            "latency": sample.working_time if sample.working_time is not None else sample.total_time,
            "prompt_tokens": total(one.input_tokens for one in used),
            "completion_tokens": total(one.output_tokens for one in used),
            "cost": total(one.total_cost for one in used),
        }
        self.samples.append(_Read(case, sample.epoch, scores, costs))
        metadata = small(sample.metadata, place) if self.found.keep else None
        columns = metadata if isinstance(metadata, dict) else {}
        digest = None
        if len(sample.input) + len(sample.target) < LARGEST_PART:  # images are larger
            digest = digest_of(_question(small(sample.input, place)), small(sample.target, place))
        self.found.fact(case, columns, digest=digest)

    def _add(self, scores: dict[str, float | None], name: str, value: Any, place: str) -> None:
        """Add a value, or each of several."""
        if isinstance(value, dict | list):
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                if not isinstance(inner, dict | list):
                    self._add(scores, f"{name}.{key}", inner, place)
            return
        if isinstance(value, int | float):
            self.numeric.add(name)
        try:
            scores[name] = self.found.number(value, name, place, MARKS)
        except DataError:
            self.texts[name] += 1
            scores[name] = None

    def results(self, header: _Header | None) -> Results:
        found = self.found
        names = dict.fromkeys(name for sample in self.samples for name in sample.scores or ())
        for name, count in self.texts.items():
            # Where all others are words, a C may be an answer of A to D as well as a mark.
            if name in self.numeric:
                found.notes.append(f"{found.name}: {count:,} values of {name} are words and count as missing")
            else:
                found.notes.append(f"{found.name}: {name} gives words and not numbers: it is left out")
                names.pop(name)
        if self.invalid:
            found.notes.append(f"{found.name}: {self.invalid:,} samples were invalidated: they count as missing")
        known = header.eval if header is not None else _Eval()
        if not names:
            names = dict.fromkeys(one.name.rpartition("/")[2] for one in known.scorers or ())
        _describe(found, names, known)
        # Every scorer scores every sample: one that it did not score, for whatever reason, is missing.
        self.samples.sort(key=lambda sample: sample.epoch)
        for sample in self.samples:
            found.add(sample.case, dict.fromkeys(names) | _only(sample.scores, names), sample.costs)
        if header is None:
            found.notes.append(f"{found.name}: the log has no header, so its evaluation was cut off")
        elif header.status != "success":
            self._add_missing(known, names)
            found.notes.append(f"{found.name}: the evaluation did not end well, its status is {header.status!r:.40}")
        return found.results()

    def _add_missing(self, known: _Eval, names: Iterable[str]) -> None:
        """Add the samples that were not reached."""
        done = Counter(sample.case for sample in self.samples)
        for id_ in known.dataset.sample_ids or ():
            for _ in range(done[str(id_)], min(known.config.epochs or 1, 1000)):
                self.found.add(str(id_), dict.fromkeys(names))


def _only(scores: dict[str, float | None] | None, names: Iterable[str]) -> dict[str, float | None]:
    return {} if scores is None else {name: scores[name] for name in names if name in scores}


def _describe(found: ResultsBuilder, names: Iterable[str], known: _Eval) -> None:
    options = {one.name.rpartition("/")[2]: one.options for one in known.scorers or ()}
    for name in names:
        origin = {"task_version": str(known.task_version)}
        # The options name the judge, among others.
        if given := options.get(name.partition(".")[0]):
            origin["options"] = text_of(given)
        found.describe(name, origin=origin)


def _question(given: Any) -> Any:
    """Return what was asked; messages without their ids, which are new in every run."""
    if not isinstance(given, list):
        return given
    return [[one.get("role"), one.get("content")] if isinstance(one, dict) else one for one in given]
