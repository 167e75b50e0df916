"""Scenario files: what is right is read, what is wrong is refused with its place and what was meant."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import MissingExtra, UsageError
from adjudge.scenarios import Scenario, WorkflowExpectation, load_scenarios
from adjudge.scenarios._load import _in_document, locate_scenarios
from support import golden

FAULTS = golden("workflow_files")
YAML = """\
defaults:
  tags: [smoke]
  workflow: {always_expected: [supervisor]}
scenarios:
  - id: sql
    question: Which approach leads on Spider?
    agents_should_include: [research]
    agents_should_exclude: [clarification]
    tools_should_include: [pdf_retrieval]
    expected_answer_criteria: |
      1. Identify an approach
      2. Mention accuracy
    repeats: 3
    deadline: 90
    references: [DIN-SQL]
    scorers:
      - qa_f1_reward
      - {name: contains_reward, arguments: {answer: Spider}}
    workflow:
      tools_order: in_order
      tools_count: {pdf_retrieval: {min: 1, max: 3}}
      tools_arguments: {pdf_retrieval: {regex: {query: "(?i)sql"}}}
  - id: no
    turns: ["What did it cost?", The 2023 one.]
    clarification_expected: true
    tags: [multi, 2024-01-01]
"""
TOML = """\
[defaults]
tags = ["smoke"]
workflow.always_expected = ["supervisor"]

[[scenarios]]
id = "sql"
question = "Which approach leads on Spider?"
agents_should_include = ["research"]
agents_should_exclude = ["clarification"]
tools_should_include = ["pdf_retrieval"]
expected_answer_criteria = "1. Identify an approach\\n2. Mention accuracy\\n"
repeats = 3
deadline = 90
references = ["DIN-SQL"]
scorers = ["qa_f1_reward", {name = "contains_reward", arguments = {answer = "Spider"}}]
[scenarios.workflow]
tools_order = "in_order"
tools_count.pdf_retrieval = {min = 1, max = 3}
tools_arguments.pdf_retrieval.regex.query = "(?i)sql"

[[scenarios]]
id = "no"
turns = ["What did it cost?", "The 2023 one."]
clarification_expected = true
tags = ["multi", "2024-01-01"]
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files, and return the one there is, or the folder of several."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / next(iter(files)) if len(files) == 1 else folder


@pytest.mark.parametrize("row", FAULTS, ids=[row["id"] for row in FAULTS])
def test_faults(row: dict[str, Any], tmp_path: Path) -> None:
    """A fault is refused, with where it is and what was meant, in one printable line."""
    with pytest.raises(UsageError) as caught:
        load_scenarios(write(tmp_path, row["files"]))
    message = caught.value.message.replace(f"{tmp_path}/", "")
    assert row["message"] in message, row["why"]
    assert caught.value.code == row["code"]
    assert message.isprintable()


def test_the_table_is_broad() -> None:
    """The table of faults has enough rows, each with its reason, and at most five of one pattern."""
    assert len(FAULTS) >= 50
    assert len({row["id"] for row in FAULTS}) == len(FAULTS)
    assert max(Counter(row["pattern"] for row in FAULTS).values()) <= 5


def test_both_formats_say_the_same(tmp_path: Path) -> None:
    """One file written in YAML and in TOML gives equal scenarios; defaults lie under what a scenario says."""
    by_yaml = load_scenarios(write(tmp_path, {"s.yaml": YAML}))
    assert by_yaml == load_scenarios(write(tmp_path, {"s.toml": TOML}))
    sql, no = by_yaml
    assert (sql.id, sql.repeats, sql.deadline, sql.tags) == ("sql", 3, 90, ("smoke",))
    assert sql.workflow.agents_should_include == sql.agents_should_include == ("research",)
    assert sql.workflow.always_expected == no.workflow.always_expected == ("supervisor",)
    assert sql.workflow.tools_count == {"pdf_retrieval": (1, 3)}
    assert [use.make().name for use in sql.scorers] == ["qa_f1_reward", "contains_reward(answer='Spider')"]
    assert (no.id, no.question, len(no.turns), no.tags) == ("no", "What did it cost?", 2, ("multi", "2024-01-01"))


def test_folders(tmp_path: Path) -> None:
    """Of a folder every file is read, in order of the names; hidden ones and others are left alone."""
    one = 'id = "{}"\nquestion = "Why?"\n'
    files = {"b.toml": one.format("b"), "a.yml": "- {id: a1, question: Why}\n- {id: a2, question: How}\n"}
    files |= {"c/d.toml": one.format("d"), ".hidden.toml": "nonsense", "readme.md": "nonsense"}
    assert [scenario.id for scenario in load_scenarios(write(tmp_path, files))] == ["a1", "a2", "b", "d"]


def test_python_objects() -> None:
    """Scenarios, mappings and lists of either are scenarios too."""
    given = Scenario("a", "Why?", workflow=WorkflowExpectation(tools_should_include=["x"]))
    assert given.tools_should_include == ("x",)
    loaded = load_scenarios([given, {"id": "b", "question": "How?"}])
    assert loaded[0] is given
    assert [one.id for one in load_scenarios(given)] == ["a"]
    with pytest.raises(UsageError, match="'b' is already used"):
        load_scenarios([*loaded, {"id": "b", "question": "How?"}])
    with pytest.raises(UsageError, match="scenario 2: a scenario must be a mapping"):
        load_scenarios([given, 3])
    with pytest.raises(UsageError, match="a path, mappings or Scenario objects"):
        load_scenarios(3)  # type: ignore[arg-type]  # what a person may try


def test_ids_are_never_paths(tmp_path: Path) -> None:
    """An id that looks like a path is only an id."""
    path = write(tmp_path, {"s.yaml": 'id: "../../etc/passwd"\nquestion: Why?\n'})
    assert load_scenarios(path)[0].id == "../../etc/passwd"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["s.yaml"]


@pytest.mark.parametrize(("name", "data"), [("s.yaml", b"id: \xff"), ("s.toml", b"#" * (5 << 20)), ("s.json", b"{}")])
def test_files_that_are_none(name: str, data: bytes, tmp_path: Path) -> None:
    """A file that is not text, too large, or of another kind is refused by its name."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=name):
        load_scenarios(tmp_path / name)
    with pytest.raises(UsageError, match=r"nowhere\.toml"):
        load_scenarios(tmp_path / "nowhere.toml")


def test_yaml_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its package a YAML file says what to install; TOML needs nothing."""
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(MissingExtra, match=r"pip install 'adjudge\[yaml\]'"):
        load_scenarios(write(tmp_path, {"s.yaml": YAML}))
    assert len(load_scenarios(write(tmp_path, {"s.toml": TOML}))) == 2


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.yaml", "scenarios:\n  - question: Why?\n    id: x\n  - {id: y, question: Why}\n", [3, 4]),
        ("a.yaml", "# one\nid: x\nquestion: Why?\n", [2]),
        ("a.yaml", "- id: x\n  question: Why?\n", [1]),
        ("a.toml", 'id = "x"\nquestion = "Why?"\n', [1]),
        (
            "a.toml",
            '[[scenarios]]\nquestion = "Why?"\n  id=\'x\' # its name\n[[scenarios]]\nid = "y"\nquestion="?"',
            [3, 5],
        ),
        ("a.toml", 'scenarios = [{id = "x", question = "Why?"}]\n', [None]),
        ("a.toml", 'question = """\nid = "x"\n"""\nid = "x"\n', [None]),
    ],
)
def test_places(name: str, text: str, lines: list[int | None], tmp_path: Path) -> None:
    """Where a scenario is written: the line of its id, or none where that is not plain."""
    (tmp_path / name).write_text(text)
    places = [place for _, place in locate_scenarios(tmp_path)]
    assert places == [(str(tmp_path / name), line) for line in lines]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.yaml", "id: a\nquestion: Why?\nmetadata: {x: 1e999}\n", "metadata.x is inf, which JSON cannot hold"),
        ("a.toml", 'id = "a"\nquestion = "?"\nmetadata.x = nan\n', "metadata.x is nan"),
        ("a.toml", 'id = "a"\nquestion = "?"\nworkflow.tools_arguments.s.exact = {k = inf}\n', "is inf"),
        ("a.toml", 'id = "a"\nquestion = "?"\nscorers = [{name = "x", arguments = {k = inf}}]\n', "is inf"),
    ],
)
def test_numbers_that_are_none(name: str, text: str, told: str, tmp_path: Path) -> None:
    """What a run file cannot hold is refused when it is read, with its place."""
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=told):
        load_scenarios(tmp_path)


def test_many_in_one_file(tmp_path: Path) -> None:
    """A file of many scenarios is read once, not once for each of them."""
    lines = CountedLines({("scenarios", number, "id"): number for number in range(500)})
    document = {"scenarios": [{"id": f"s{number}", "question": "?"} for number in range(500)]}
    found = list(_in_document(document, lines, "a.yaml"))
    assert [one.describe("id must be text") for one in found][::499] == [
        "a.yaml, line 0, scenario 1 ('s0')",
        "a.yaml, line 499, scenario 500 ('s499')",
    ]
    assert lines.readings < 5


class CountedLines(dict[tuple[str | int, ...], int]):
    """Lines by path that count how often all of them are gone through."""

    readings = 0

    def items(self) -> Any:
        """Go through all."""
        self.readings += 1
        return super().items()


def test_no_place() -> None:
    """A scenario from Python stands in no file."""
    assert locate_scenarios({"id": "x", "question": "Why?"})[0][1] is None
