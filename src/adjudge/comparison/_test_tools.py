"""Results of tools that test prompts and agents: promptfoo and DeepEval.

    {"evalId": ..., "results": {"version": 3, "results": [
        {"testIdx": 0, "promptIdx": 0, "vars": {"question": "Capital?"}, "success": true, "score": 1, ...}]}}
    {"testCases": [{"name": "capital", "input": "Capital?", "metricsData": [{"name": "Exact", "score": 1.0, ...}]}]}

Neither gives a test a name that it is sure to keep: what promptfoo's test is called is made of its description and its
variables, DeepEval's has its own name, and the digests tell whether two of one name are the same.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from adjudge.comparison._build import ResultsBuilder, case_id, decode_as, digest_of, small, text_of
from adjudge.comparison._results import Results
from adjudge.comparison._tables import read_lines

NOTHING = msgspec.Raw(b"null")
LONGEST_NAME = 200  # characters of a test's variables that its name shows
_BROKE = 2  # promptfoo's reason for a failure that is not one of the answer


class _Tokens(msgspec.Struct):
    prompt: float | None = None
    completion: float | None = None


class _TestCase(msgspec.Struct, rename={"checks": "assert"}):
    description: str | None = None
    checks: msgspec.Raw = NOTHING


class _Row(msgspec.Struct, rename="camel"):
    """One answer of promptfoo."""

    success: bool
    score: float | None = None
    vars: msgspec.Raw = NOTHING
    prompt_idx: int = 0
    named_scores: dict[str, float | None] = {}
    failure_reason: int | str | None = None
    test_case: _TestCase = msgspec.field(default_factory=_TestCase)
    metadata: msgspec.Raw = NOTHING
    latency_ms: float | None = None
    cost: float | None = None
    token_usage: _Tokens | None = None


class _Answers(msgspec.Struct):
    results: list[_Row]


class _Promptfoo(msgspec.Struct):
    results: _Answers


def read_promptfoo(path: Path, content: bytes, keep: Sequence[str] = ()) -> Results:
    """Read what `promptfoo eval -o FILE.json` wrote."""
    return _read_answers(path, decode_as(_Promptfoo, content, path).results.results, keep)


def read_promptfoo_lines(path: Path, keep: Sequence[str] = ()) -> Results:
    """Read what `promptfoo eval -o FILE.jsonl` wrote."""
    return _read_answers(path, [row for lines in read_lines(path, _Row) for row in lines], keep)


def _read_answers(path: Path, answers: Sequence[_Row], keep: Sequence[str]) -> Results:
    """Return the answers as results: where there are several prompts, each has cases of its own."""
    found = ResultsBuilder(str(path), keep)
    found.describe("pass", range=(0.0, 1.0))
    prompts = {row.prompt_idx for row in answers}
    for row in answers:
        variables, metadata = small(row.vars, path), small(row.metadata, path)
        test = _name_of(row.test_case.description, variables)
        case = test if len(prompts) == 1 else f"{test} [{row.prompt_idx}]"
        has_answer = row.failure_reason != _BROKE
        scores = {"pass": float(row.success), "score": row.score}
        for name, value in row.named_scores.items():
            scores[f"score.{name}"] = value
            found.describe(f"score.{name}", is_gated=False)
        tokens = row.token_usage or _Tokens()
        costs = {
            "latency": None if row.latency_ms is None else row.latency_ms / 1000,
            "prompt_tokens": tokens.prompt,
            "completion_tokens": tokens.completion,
            "cost": row.cost,
        }
        found.add(case, scores if has_answer else dict.fromkeys(scores), costs)
        columns = {**_mapping(metadata), **_mapping(variables)}
        cluster = None if len(prompts) == 1 else test
        found.fact(
            case, columns, cluster=cluster, digest=digest_of(variables, text_of(small(row.test_case.checks, path)))
        )
    return found.results()


def _name_of(description: str | None, variables: Any) -> str:
    """Return what a test is called; its number depends on how often each is repeated.

    >>> _name_of("capital", {"country": "France"})
    'capital {"country":"France"}'
    """
    text = text_of(variables)
    if len(text) > LONGEST_NAME:
        text = f"{text[:LONGEST_NAME]}... {digest_of(text, None)}"
    return f"{description} {text}" if description else text


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


class _Metric(msgspec.Struct, rename="camel"):
    name: str
    score: float | None = None
    success: bool | None = None
    threshold: float | None = None
    error: str | None = None
    evaluation_model: str | None = None


class _Test(msgspec.Struct, rename="camel"):
    """One test case of DeepEval."""

    name: str
    input: msgspec.Raw = NOTHING
    turns: msgspec.Raw = NOTHING
    scenario: msgspec.Raw = NOTHING
    expected_output: msgspec.Raw = NOTHING
    expected_outcome: msgspec.Raw = NOTHING
    metrics_data: list[_Metric] | None = None
    metadata: msgspec.Raw = NOTHING
    additional_metadata: msgspec.Raw = NOTHING
    tags: list[str] | None = None
    completion_time: float | None = None
    token_cost: float | None = None


class _TestRun(msgspec.Struct, rename="camel"):
    test_cases: list[_Test] | None = None
    conversational_test_cases: list[_Test] | None = None


class _Latest(msgspec.Struct, rename="camel"):
    test_run_data: _TestRun


def read_latest_test_run(path: Path, content: bytes, keep: Sequence[str] = ()) -> Results:
    """Read DeepEval's `.latest_test_run.json`."""
    return _read_tests(path, decode_as(_Latest, content, path).test_run_data, keep)


def read_test_run(path: Path, content: bytes, keep: Sequence[str] = ()) -> Results:
    """Read a test run of DeepEval, as its results folder holds it."""
    return _read_tests(path, decode_as(_TestRun, content, path), keep)


def _read_tests(path: Path, run: _TestRun, keep: Sequence[str]) -> Results:
    found = ResultsBuilder(str(path), keep)
    tests = [*(run.test_cases or ()), *(run.conversational_test_cases or ())]
    directions: dict[str, set[bool]] = {}
    for test in tests:
        scores: dict[str, float | None] = {}
        for metric in test.metrics_data or ():
            scores[metric.name] = metric.score if metric.error is None else None
            origin = {} if metric.evaluation_model is None else {"judge": metric.evaluation_model}
            found.describe(metric.name, origin=origin)
            if None not in (metric.score, metric.success, metric.threshold) and metric.score != metric.threshold:
                is_above = metric.score > metric.threshold
                directions.setdefault(metric.name, set()).add(is_above == metric.success)
        found.add(case_id(test.name, path), scores, {"latency": test.completion_time, "cost": test.token_cost})
        given = small(test.metadata, path) or small(test.additional_metadata, path)
        asked = next((small(one, path) for one in (test.input, test.scenario) if bytes(one) != b"null"), None)
        answer = small(test.expected_output, path) or small(test.expected_outcome, path)
        found.fact(test.name, _mapping(given), tags=test.tags, digest=digest_of(asked, answer))
    for name, passes_above in directions.items():
        # Of a metric that passes below its threshold, such as one of bias, less is better.
        found.describe(name, higher_is_better=passes_above != {False})
    return found.results()
