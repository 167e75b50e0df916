"""The table of rules: every example holds, every reason is in the docs; and modules build on one another."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from adjudge.judges.local._rules import RULES, Example, JudgeRule, Stage
from adjudge.judges.local._tier0 import assess, spoke

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "adjudge" / "judges" / "local"
EXAMPLES = [(rule, example) for rule in RULES for example in rule.examples]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=lambda one: getattr(one, "name", ""))
def test_its_examples_hold(rule: JudgeRule, example: Example) -> None:
    """What a rule shows as its examples is decided by it, for the reason that it names; mentions by the model."""
    row = example.question, (example.reference,), example.response
    seen = assess(*row)
    assert (seen.reasons[0], seen.ruled) == (example.reason, rule.stage is not Stage.MENTION)
    decided = next(spoke(*row))
    assert decided == (rule.name, (seen.is_right, example.reason))


def test_each_rule_is_there_once() -> None:
    """Rules have names of their own and examples, and stand in the order of their stages."""
    assert max(Counter(rule.name for rule in RULES).values()) == 1
    assert all(rule.examples for rule in RULES)
    stages = [list(Stage).index(rule.stage) for rule in RULES]
    assert stages == sorted(stages)


def test_the_docs_name_each_rule() -> None:
    """The card of the local judge has every rule of the table in its order, and every reason of their examples."""
    card = (ROOT / "docs" / "how-to" / "judges" / "local.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `([\w-]+)` \| (?:front|choice|kind|said|named|fault|mention) \|", card, re.MULTILINE)
    assert told == [rule.name for rule in RULES]
    for _, example in EXAMPLES:
        assert f"`{example.reason}`" in card


def test_modules_build_on_one_another() -> None:
    """The modules of the folder have an order in which each imports only earlier ones; there are no packages."""
    needs = {path.stem: set(_imports(path)) for path in FOLDER.glob("*.py") if path.stem != "__init__"}
    assert not [path for path in FOLDER.rglob("*.py") if path.parent != FOLDER]
    while needs:
        free = {name for name, others in needs.items() if others.isdisjoint(needs)}
        assert free, f"these import one another: {sorted(needs)}"
        needs = {name: others for name, others in needs.items() if name not in free}


def _imports(path: Path) -> list[str]:
    """Return the modules of the folder that a module imports at its top."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            module = node.module.removeprefix("adjudge.judges.local")
            if module != node.module:
                found += [module.removeprefix(".")] if module else [alias.name for alias in node.names]
    return found
