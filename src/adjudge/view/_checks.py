"""What a row belongs to: the repeats of its scenario, the turns of its conversation; and what a gate says of a check.

scenario_view(view, index)      expected against called, findings, the repeats beside it
gate_view(index, gate)          each threshold with its verdict and numbers
turns_of(row, index)            the turns with their labels, and where the two-wrong rule gives up
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from adjudge.conversations import Label, given_up_after
from adjudge.model import Score
from adjudge.scenarios import Gate, decide, read_scenario_run
from adjudge.view._index import RowIndex
from adjudge.view._index_tables import STATUSES
from adjudge.view._rows import RowView, ShownCall, shown_calls, tone_of
from adjudge.view._sources import TURN, ViewRow
from adjudge.view._text import material_of, one_line

SCENARIO = "scenario"  # the name of the score of a scenario
MOST_GROUPED = 2_000  # repeats in the table of scenarios
TONES = {"correct": "right", "wrong": "wrong", "miss": "middle", "unscored": "unscored"}
WORDS = {"miss": "missing", "unscored": "waiting"}
GATE_TONES = {"pass": "right", "fail": "wrong", "undecided": "unscored"}
MOST = 60  # repeats or turns that are shown


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another repeat or turn: its row, how it went; `ends_here` where the two-wrong rule gives up."""

    number: int
    label: str
    tone: str
    is_here: bool
    question: str = ""
    is_given_up: bool = False
    ends_here: bool = False


@dataclass(frozen=True, slots=True)
class FlowLine:
    """One name that was expected, or called, or both."""

    expected: str
    called: str
    tone: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """A scenario's result beside what it expected."""

    lines: tuple[FlowLine, ...]
    called: tuple[ShownCall, ...]
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    scores: tuple[tuple[str, float | None, str], ...]
    repeats: tuple[Sibling, ...]


def scenario_view(view: RowView, index: RowIndex) -> ScenarioView | None:
    """Return what a check found of a row; None where the row is not a scenario's."""
    result = view.scenario
    if result is None:
        return None
    scenario = view.row.columns.get("scenario")
    expected = scenario.get("workflow") if isinstance(scenario, Mapping) else None
    record = view.row.trajectory
    return ScenarioView(
        lines=tuple(_flow(_mapping(result.get("workflow")), _mapping(expected))),
        called=() if record is None else shown_calls(record),
        reasons=tuple(str(one) for one in _list(result.get("reasons"))),
        warnings=tuple(str(one) for one in _list(result.get("warnings"))),
        scores=tuple(_scores(result)),
        repeats=tuple(_repeats(view.row, index)),
    )


def _flow(found: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[FlowLine]:
    """Give what was expected in its order, then what was called beside it."""
    for kind in ("agents", "tools"):
        result = _mapping(found.get(kind))
        order = str(expected.get(f"{kind}_order") or "any_order").replace("_", " ")
        included = [str(one) for one in _list(result.get("included"))]
        missing = [str(one) for one in _list(result.get("missing"))]
        wanted = [str(one) for one in _list(expected.get(f"{kind}_should_include"))] or [*included, *missing]
        for name in dict.fromkeys(wanted):
            is_there = name in included
            called = name if is_there else "not called"
            yield FlowLine(f"{kind[:-1]} {name}", called, "good" if is_there else "bad", order if is_there else "")
        for name in _list(result.get("unexpected")):
            yield FlowLine(f"no other {kind[:-1]}", str(name), "bad", "was not expected")
        for name in _list(result.get("excluded")):
            yield FlowLine(f"{kind[:-1]} {name} must not be called", str(name), "bad", "must not be called")


def _scores(result: Mapping[str, Any]) -> Iterator[tuple[str, float | None, str]]:
    """Give the scenario's own scores, then those of its quality."""
    for name, one in _mapping(result.get("scores")).items():
        found = _mapping(one)
        yield str(name), _number(found.get("value")), str(found.get("reason") or found.get("status") or "")
    for name, value in _mapping(result.get("quality")).items():
        if name != "reasoning":
            yield f"quality: {name}", _number(value), ""


@dataclass(frozen=True, slots=True)
class ScenarioGroup:
    """A scenario with all its repeats."""

    name: str
    passed: int
    repeats: tuple[Sibling, ...]


def scenarios_of(index: RowIndex) -> list[ScenarioGroup]:
    """Return the scenarios of a check, those first that did not pass; none of another run."""
    if index.source.about.scorers != (SCENARIO,):
        return []
    found: dict[str, list[Sibling]] = {}
    for name, number, status, value in index.groups(MOST_GROUPED):
        label = "passed" if value == 1.0 else _words(STATUSES[status], value)
        tone = STATUSES[status] if value is None else "right" if value == 1.0 else "wrong"
        found.setdefault(name, []).append(Sibling(number, label, tone, is_here=False))
    groups = [
        ScenarioGroup(name, sum(one.tone == "right" for one in repeats), tuple(repeats))
        for name, repeats in found.items()
    ]
    return sorted(groups, key=lambda one: one.passed / len(one.repeats))


@dataclass(frozen=True, slots=True)
class GateView:
    """What a gate says of a check: its verdict, and each finding as its tone, its name and its reason."""

    verdict: str
    tone: str
    findings: tuple[tuple[str, str, str], ...]


def gate_view(index: RowIndex, gate: Gate | None) -> GateView | None:
    """Hold a check against a gate, which is not in its file: without one, every workflow has to pass."""
    source = index.source
    if source.about.scorers != (SCENARIO,) or (source.total or 0) > MOST_GROUPED:
        return None
    run = read_scenario_run(source.path)
    decision = decide(gate or Gate(), run.results, run.early)
    findings = tuple((GATE_TONES[one.verdict], one.name, one.reason) for one in decision.findings)
    return GateView(decision.verdict, GATE_TONES[decision.verdict], findings)


def _repeats(row: ViewRow, index: RowIndex) -> Iterator[Sibling]:
    if row.cluster is None:
        return
    for at, number in enumerate(index.cluster(row.cluster, MOST), 1):
        other = row if number == row.number else index.row(number)
        score = next(iter((other.scores or {}).values()), None)
        words = "waiting" if score is None else "passed" if score.value == 1.0 else _words(score.status, score.value)
        yield Sibling(number, f"{at} {words}", "none" if score is None else tone_of(score), number == row.number)


def _words(status: str, value: float | None) -> str:
    return status if value is None else "failed" if value == 0.0 else f"{value:.4g}"


def turns_of(row: ViewRow, index: RowIndex) -> tuple[Sibling, ...]:
    """Return the turns of a conversation of CRAG, in order; none of another run."""
    if TURN not in index.source.about.scorers or row.cluster is None:
        return ()
    turns = [row if number == row.number else index.row(number) for number in index.cluster(row.cluster, MOST)]
    turns.sort(key=lambda one: _place(one.columns.get("turn_idx")))
    scores = [(one.scores or {}).get(TURN) for one in turns]
    kept = given_up_after([_label(score) for score in scores])
    found = []
    for at, (turn, score) in enumerate(zip(turns, scores, strict=True)):
        label = _label(score)
        question = one_line(material_of(turn).question or turn.id, 90)
        is_here, ends_here = turn.number == row.number, at == kept - 1 < len(turns) - 1
        # A row without a score says why in its own words.
        words = WORDS.get(label, label) if score is None or score.value is not None else score.status
        found.append(Sibling(turn.number, words, TONES[label], is_here, question, at >= kept, ends_here))
    return tuple(found)


def _label(score: Score | None) -> Label:
    """Return the label of a turn, as the rule of two wrong turns reads it."""
    if score is None or score.value is None:
        return "unscored"
    if score.value == 1.0:
        return "correct"
    return "miss" if score.parts.get("miss") else "wrong"


def _place(value: object) -> int:
    return value if isinstance(value, int) else 0


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
