"""Results of benchmark harnesses: lm-evaluation-harness, NeMo Evaluator, Harbor.

    {"doc_id": 0, "doc": {...}, "target": "4", "filter": "none", "metrics": ["exact_match"], "exact_match": 1.0, ...}
    {"problem_idx": 0, "repeat": 1, "reward": 1.0, "expected_answer": "4", "scoring_details": {...}, ...}
    {"task_name": "hello", "trial_name": "hello__a1", "verifier_result": {"rewards": {"reward": 1.0}}, ...}

All three write 0 where a benchmark broke, or leave the row out of the mean; here such a row has no score.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from adjudge.comparison._build import (
    ResultsBuilder,
    bad_results,
    case_id,
    decode_as,
    digest_of,
    read_bytes,
    small,
    text_of,
    total,
)
from adjudge.comparison._results import Results
from adjudge.comparison._tables import read_lines, readable
from adjudge.errors import UsageError

_SAMPLES = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[^_]*)\.jsonl")
_SHARES = frozenset({"acc", "acc_norm", "exact_match"})  # metrics of lm-evaluation-harness that are 0 or 1
NOTHING = msgspec.Raw(b"null")

# What NeMo Evaluator says of a problem at which the agent failed, by itself; any other error is not the agent's.
_OWN_FAILURES = frozenset({"graceful", "solve_timeout", "turn_budget_exhausted", "context_window_exceeded"})


class _Harness(msgspec.Struct):
    """What stands beside the samples of lm-evaluation-harness, in the file of its results."""

    higher_is_better: dict[str, dict[str, bool | None]] = {}
    versions: dict[str, Any] = {}


def read_harness(path: Path, keep: Sequence[str] = ()) -> Results:
    """Read a file of samples of lm-evaluation-harness; a document is a case."""
    found = ResultsBuilder(str(path), keep)
    _add_samples(found, path)
    return found.results()


def read_harness_folder(path: Path, files: Sequence[Path], keep: Sequence[str] = ()) -> Results:
    """Read the samples of one evaluation: every task is a metric of its own, where there is more than one."""
    tasks = [match[1] for file in files if (match := _SAMPLES.fullmatch(file.name))]
    if len(set(tasks)) < len(files):
        raise UsageError(f"{path} holds samples of more than one evaluation: name one of the files")
    found = ResultsBuilder(str(path), keep)
    for task, file in zip(tasks, files, strict=True):
        _add_samples(found, file, f"{task}/" if len(files) > 1 else "")
    return found.results()


def _add_samples(found: ResultsBuilder, path: Path, prefix: str = "") -> None:
    match = _SAMPLES.fullmatch(path.name)
    beside = path.with_name(f"results_{match[2]}.json") if match else None
    known = decode_as(_Harness, read_bytes(beside), beside) if beside is not None and beside.is_file() else _Harness()
    task = match[1] if match else ""
    directions = known.higher_is_better.get(task, {})
    origin = {"task_version": str(known.versions[task])} if task in known.versions else {}
    left_out: dict[str, None] = {}
    for place, row in readable(path, "jsonl"):
        case = f"{prefix}{case_id(row.get('doc_id'), place)}"
        names = row.get("metrics")
        for name in map(text_of, names if isinstance(names, list) else ()):
            value = row.get(name)
            # What some metrics need of a row is not a number: its mean is not theirs.
            if isinstance(value, list | dict | str):
                left_out[name] = None
                continue
            # A row stands there once for every filter of the responses.
            metric = f"{prefix}{name}" if row.get("filter") in (None, "none") else f"{prefix}{name},{row['filter']}"
            rows = found.rows(metric)
            if not rows.cases:
                found.describe(metric, origin=origin, higher_is_better=directions.get(name) is not False)
                if name in _SHARES:
                    found.describe(metric, range=(0.0, 1.0))
            rows.add(case, {"": found.number(value, metric, place)})
        doc = row.get("doc")
        digest = digest_of(row.get("doc_hash", doc), row.get("target_hash", row.get("target")))
        found.fact(case, doc if isinstance(doc, dict) else {}, digest=digest)
    for name in left_out:
        found.notes.append(f"{found.name}: {prefix}{name} is not a number for each row: it is left out")


class _Problem(msgspec.Struct, gc=False):
    problem_idx: int | str
    reward: float | None
    repeat: int = 0
    scorer_rewards: dict[str, float | None] = {}
    prompt: msgspec.Raw = NOTHING
    expected_answer: msgspec.Raw = NOTHING
    scoring_details: msgspec.Raw = NOTHING
    metadata: msgspec.Raw = NOTHING
    tokens: float | None = None
    latency_ms: float | None = None


class _Benchmark(msgspec.Struct):
    name: str


class _Bundle(msgspec.Struct):
    benchmark: _Benchmark


def read_bundle(path: Path, content: bytes, keep: Sequence[str] = ()) -> Results:
    """Read a bundle of NeMo Evaluator: the results beside it."""
    decode_as(_Bundle, content, path)
    return read_problems(path.with_name("results.jsonl"), keep)


def read_bundles(path: Path, files: Sequence[Path], keep: Sequence[str] = ()) -> Results:
    """Read one bundle or several, each of a benchmark; of several, each benchmark is a metric of its own."""
    found = ResultsBuilder(str(path), keep)
    names = [decode_as(_Bundle, read_bytes(file), file).benchmark.name for file in files]
    if len(set(names)) < len(names):
        raise UsageError(f"{path} holds more than one evaluation of a benchmark: name one of the bundles")
    for name, file in zip(names, files, strict=True):
        _add_problems(found, file.with_name("results.jsonl"), f"{name}/" if len(files) > 1 else "")
    return found.results()


def read_problems(path: Path, keep: Sequence[str] = ()) -> Results:
    """Read the results of one benchmark of NeMo Evaluator; a problem is a case."""
    found = ResultsBuilder(str(path), keep)
    _add_problems(found, path)
    return found.results()


def _add_problems(found: ResultsBuilder, path: Path, prefix: str = "") -> None:
    # A run that was resumed has a problem again: what came last counts.
    last = {(one.problem_idx, one.repeat): one for lines in read_lines(path, _Problem) for one in lines}
    for (problem, repeat), row in sorted(last.items(), key=lambda item: item[0][1]):
        place = f"{path}, problem {problem}, repeat {repeat}"
        details = small(row.scoring_details, place)
        is_lost = _is_lost(details if isinstance(details, dict) else {})
        case = f"{prefix}{case_id(problem, place)}"
        scores = {f"{prefix}reward": None if is_lost else row.reward}
        for name, value in row.scorer_rewards.items():
            metric = f"{prefix}{name}"
            found.describe(metric, is_gated=False)
            scores[metric] = None if is_lost else value
        costs = {"completion_tokens": row.tokens, "latency": _seconds(row.latency_ms)}
        found.add(case, scores, costs)
        metadata = small(row.metadata, place) if found.keep else None
        columns = metadata if isinstance(metadata, dict) else {}
        digest = digest_of(bytes(row.prompt).decode(), bytes(row.expected_answer).decode())
        found.fact(case, columns, digest=digest)


def _is_lost(details: Mapping[str, Any]) -> bool:
    """Say whether a reward of 0 says only that the benchmark, or its judge, broke."""
    category, judge = details.get("error_category"), details.get("judge")
    return (category is not None and category not in _OWN_FAILURES) or (isinstance(judge, dict) and "error" in judge)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


class _Rewards(msgspec.Struct):
    rewards: dict[str, float | bool | None] | None = None


class _Model(msgspec.Struct):
    name: str = ""


class _Agent(msgspec.Struct):
    name: str = ""
    model_info: _Model | None = None


class _Used(msgspec.Struct):
    n_input_tokens: float | None = None
    n_output_tokens: float | None = None
    cost_usd: float | None = None


class _Span(msgspec.Struct):
    started_at: datetime | None = None
    finished_at: datetime | None = None


class _Step(msgspec.Struct):
    agent_result: _Used | None = None


class _Trial(msgspec.Struct):
    task_name: str
    trial_name: str
    task_checksum: str | None = None
    source: str | None = None
    agent_info: _Agent = msgspec.field(default_factory=_Agent)
    agent_result: _Used | None = None
    step_results: list[_Step] | None = None
    verifier_result: _Rewards | None = None
    agent_execution: _Span | None = None


def read_job(path: Path, files: Sequence[Path], keep: Sequence[str] = ()) -> Results:
    """Read the trials of a Harbor job: a task is a case, its trials are the repeats.

    Where a job has several agents or models, each has cases of its own, and a task's cases are a cluster.
    """
    found = ResultsBuilder(str(path), keep)
    trials = sorted((decode_as(_Trial, read_bytes(file), file) for file in files), key=lambda trial: trial.trial_name)
    agents = {_agent_of(trial) for trial in trials}
    names = {name for trial in trials for name in _rewards_of(trial)} or {"reward"}
    for trial in trials:
        case = trial.task_name if len(agents) == 1 else f"{trial.task_name} [{_agent_of(trial)}]"
        # A trial without a reward is one that broke.
        given = _rewards_of(trial)
        scores = {name: found.number(given.get(name), name, trial.trial_name) for name in sorted(names)}
        found.add(case_id(case, path), scores, _costs_of(trial))
        cluster = None if len(agents) == 1 else trial.task_name
        columns = {"source": trial.source, "agent": trial.agent_info.name}
        found.fact(case, columns, cluster=cluster, digest=digest_of(trial.task_checksum, None))
    return found.results()


def _rewards_of(trial: _Trial) -> Mapping[str, float | bool | None]:
    return (trial.verifier_result.rewards if trial.verifier_result is not None else None) or {}


def _agent_of(trial: _Trial) -> str:
    model = trial.agent_info.model_info
    return trial.agent_info.name if model is None else f"{trial.agent_info.name} {model.name}"


def _costs_of(trial: _Trial) -> dict[str, float | None]:
    # The agent's own, or that of the steps of a task that has some.
    steps = [step.agent_result for step in trial.step_results or () if step.agent_result is not None]
    used = [trial.agent_result] if trial.agent_result is not None else steps
    span = trial.agent_execution
    took = None
    if span is not None and span.started_at is not None and span.finished_at is not None:
        took = (span.finished_at - span.started_at).total_seconds()
    return {
        "latency": took,
        "prompt_tokens": total(one.n_input_tokens for one in used),
        "completion_tokens": total(one.n_output_tokens for one in used),
        "cost": total(one.cost_usd for one in used),
    }


def read_trial(path: Path, content: bytes, keep: Sequence[str] = ()) -> Results:
    """Read the result of a Harbor job, or of one of its trials: the trials are in folders beside the first."""
    keys = decode_as(dict[str, msgspec.Raw], content, path)
    files = [path] if "trial_name" in keys else trials_in(path.parent)
    if not files:
        raise bad_results(path, "there are no trials beside it")
    return read_job(path.parent, files, keep)


def trials_in(path: Path) -> list[Path]:
    """Return the results of a job's trials; links are not followed."""
    folders = sorted(one for one in path.iterdir() if one.is_dir() and not one.is_symlink())
    return [one / "result.json" for one in folders if (one / "result.json").is_file()]
