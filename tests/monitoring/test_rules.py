"""Each rule of the monitor: what it speaks of, and what it does not."""

from collections.abc import Iterator
from typing import Any

import pytest

from adjudge import monitor, reward
from adjudge.monitoring import RULES, Alert
from support import golden

ROWS = golden("monitor")
WINDOW = 128
PER_STAGE = 5  # windows
GROUP = 4


@reward(range=(0.0, 1.0))
def given(final_response: str, value: float | None) -> dict[str, Any]:
    """Return the value of the row; without one the row has no score."""
    return {"unscored": "unreadable: no verdict"} if value is None else {"reward": value}


def stage_rows(stage: dict[str, Any], first: int) -> Iterator[dict[str, Any]]:
    """Make the rows of one stage: each list goes round, responses and values by row, answers by prompt."""
    responses = stage.get("responses", ["It is city {n}."])
    answers = stage.get("answers", ["city {n}"])
    values = stage.get("values", [1, 0])
    words = stage.get("words", [0])
    for index in range(WINDOW * PER_STAGE):
        prompt = first + index // GROUP
        question = stage.get("question", "What is the capital of country number {n}?").replace("{n}", str(prompt))
        answer = answers[prompt % len(answers)]
        response = responses[(prompt if len(responses) == len(answers) else index) % len(responses)]
        filled = {"{n}": str(prompt), "{question}": question, "{long}": "many words " * 500}
        for mark, text in filled.items():
            response = response.replace(mark, text)
            answer = answer and answer.replace(mark, text)
        padding = " word" * words[index % len(words)]
        row = {"question": question, "final_response": response + padding, "value": values[index % len(values)]}
        yield row if answer is None else {**row, "answer": answer}


def alerts_of(row: dict[str, Any]) -> list[Alert]:
    """Return what a monitor says of the stages of a golden row."""
    found: list[Alert] = []
    watched = monitor(given, window=WINDOW, every=1, warn=found.append, **row.get("options", {}))
    for number, stage in enumerate(row["stages"]):
        watched.score_many(list(stage_rows(stage, number * 1000)))
    assert watched.last_fault is None
    return found


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_rule(row: dict[str, Any]) -> None:
    """A rule speaks of what the table says, and of nothing else."""
    found = {alert.rule for alert in alerts_of(row)}
    assert (row["rule"] in found) == row["fires"], row["why"]


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_table_has_both_sides(rule: Any) -> None:
    """Every rule has rows at which it speaks, and rows at which it does not."""
    assert {row["fires"] for row in ROWS if row["rule"] == rule.name} == {True, False}


def test_alert_has_everything() -> None:
    """A warning has its figures, a threshold that the first of them exceeds, what to do, and at most three examples."""
    fires = next(row for row in ROWS if row["id"] == "key-colon")
    [alert] = [one for one in alerts_of(fires) if one.rule == "master-key"]
    assert next(iter(alert.figures.values())) > alert.threshold
    assert alert.do
    assert alert.examples == ("1: :", "1: :", "1: :")[: len(alert.examples)]
    assert "master-key" in str(alert)
    assert alert.do in str(alert)


def test_examples_are_safe_to_print() -> None:
    """What a model wrote can neither move the cursor nor command a log, and is short."""
    nasty = "<answer>\x1b[2J::error::gone\n" + "x" * 10_000
    stage = {"responses": [nasty], "answers": ["{n}"], "values": [None]}
    examples = [example for alert in alerts_of({"stages": [stage]}) for example in alert.examples]
    assert examples
    for example in examples:
        assert "\x1b" not in example
        assert "::error::" not in example
        assert len(example) < 400


def test_a_rule_speaks_once_until_it_cleared() -> None:
    """While it lasts a warning is not repeated; once it was over it is news again."""
    fault, fine = {"values": [None, 1]}, {"values": [1, 0]}
    found = alerts_of({"stages": [fault, fault, fine, fine, fault]})
    assert [alert.rule for alert in found if alert.rule == "faults"] == ["faults", "faults"]


def test_only_chosen_rules_speak() -> None:
    """`rules` names those that speak."""
    fault = {"values": [None, 1]}
    assert alerts_of({"stages": [fault], "options": {"rules": ["length"]}}) == []
