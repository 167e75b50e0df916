"""Results that promptfoo writes now, with its `echo` provider, and what is read of them.

`ADJUDGE_PROMPTFOO` is its command. Run by itself with a folder, it makes the results of tests/golden/results.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.comparison import Results, read_results

COMMAND = os.environ.get("ADJUDGE_PROMPTFOO", "")
FAILING = "file://broken.cjs"
BROKEN = "module.exports = class { id() { return 'broken' } async callApi() { return { error: 'it broke' } } }\n"


def suite(prompts: list[str], **options: Any) -> dict[str, Any]:
    """Return a suite of two tests."""
    return {
        "providers": ["echo"],
        "prompts": prompts,
        "tests": [
            {
                "description": "capital",
                "vars": {"question": "Capital of France? Paris"},
                "metadata": {"topic": "places"},
                "assert": [
                    {"type": "contains", "value": "Paris", "metric": "named"},
                    {"type": "contains", "value": "please", "weight": 3},
                ],
            },
            {"vars": {"question": "Largest planet?"}, "assert": [{"type": "contains", "value": "please"}]},
        ],
        **options,
    }


def run(folder: Path, config: dict[str, Any], *options: str, out: str = "out.json") -> Path:
    """Evaluate a suite, and return the file of its results."""
    (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "broken.cjs").write_text(BROKEN, encoding="utf-8")
    names = ("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE", "PROMPTFOO_DISABLE_REMOTE_GENERATION")
    environment = {**os.environ, **dict.fromkeys(names, "1"), "PROMPTFOO_CONFIG_DIR": str(folder / "home")}
    flags = ("--no-cache", "--no-share", "--no-table", "--no-progress-bar")
    command = [COMMAND, "eval", "-c", "promptfooconfig.json", "-o", out, *flags, *options]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (folder / out).is_file(), done.stdout + done.stderr
    return folder / out


def values(found: Results, metric: str) -> dict[str, list[float | None]]:
    """Return the values of a metric."""
    return {case: list(repeats) for case, repeats in found.metrics[metric].values.items()}


CAPITAL, PLANET = 'capital {"question":"Capital of France? Paris"}', '{"question":"Largest planet?"}'
needs_promptfoo = pytest.mark.skipif(not COMMAND, reason="needs ADJUDGE_PROMPTFOO")


@needs_promptfoo
def test_tests_and_repeats(tmp_path: Path) -> None:
    """A test is a case, whatever its number; `--repeat` gives its repeats; a named score does not decide."""
    found = read_results(run(tmp_path, suite(["{{question}}"]), "--repeat", "2"), keep=["topic", "question"])
    assert values(found, "pass") == {CAPITAL: [0.0, 0.0], PLANET: [0.0, 0.0]}
    assert values(found, "score") == {CAPITAL: [0.25, 0.25], PLANET: [0.0, 0.0]}
    assert values(found, "score.named") == {CAPITAL: [1.0, 1.0]}
    assert not found.metrics["score.named"].is_gated
    assert found.cases[CAPITAL].columns == {"topic": "places", "question": "Capital of France? Paris"}


@needs_promptfoo
def test_another_prompt_is_another_run_of_the_same_cases(tmp_path: Path) -> None:
    """The digests are of variables and assertions, not of the prompt."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = read_results(run(tmp_path / "a", suite(["{{question}}"])))
    two = read_results(run(tmp_path / "b", suite(["{{question}} please"])))
    assert one.cases == two.cases
    assert values(two, "pass") == {CAPITAL: [1.0], PLANET: [1.0]}


@needs_promptfoo
def test_several_prompts(tmp_path: Path) -> None:
    """With several prompts each has cases of its own, and those of one test are a cluster."""
    found = read_results(run(tmp_path, suite(["{{question}}", "{{question}} please"])))
    assert values(found, "pass")[f"{PLANET} [0]"] == [0.0]
    assert values(found, "pass")[f"{PLANET} [1]"] == [1.0]
    assert {found.cases[f"{PLANET} [{number}]"].cluster for number in (0, 1)} == {PLANET}


@needs_promptfoo
def test_a_provider_that_broke(tmp_path: Path) -> None:
    """An answer that never came has no score, which promptfoo gives as 0."""
    found = read_results(run(tmp_path, suite(["{{question}}"], providers=[FAILING])))
    assert values(found, "pass") == {CAPITAL: [None], PLANET: [None]}
    assert values(found, "score") == {CAPITAL: [None], PLANET: [None]}


@needs_promptfoo
def test_json_lines(tmp_path: Path) -> None:
    """`-o out.jsonl` says the same as `-o out.json`."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    document = read_results(run(tmp_path / "a", suite(["{{question}}"])))
    lines = read_results(run(tmp_path / "b", suite(["{{question}}"]), out="out.jsonl"))
    assert (values(document, "score"), document.cases) == (values(lines, "score"), lines.cases)


if __name__ == "__main__":
    for name, prompt in (("base", "{{question}}"), ("new", "{{question}} please")):
        folder = Path(sys.argv[1], name)
        folder.mkdir(parents=True)
        run(folder, suite([prompt]), "--repeat", "2")
