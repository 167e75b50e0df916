"""What a reward's monitor wrote, in the browser."""

import json
from pathlib import Path
from typing import Any

from adjudge import monitor, reward
from adjudge.view import ViewServer
from adjudge.view._monitors import is_monitor, read_monitor
from adjudge.view._sources import key_of
from support import golden
from view.looking import Visitor

WINDOW = {"kind": "window", "run": "a", "scorer": "good", "figures": {"rows": 4, "mean": 0.5}, "speaking": []}
WARNING = {
    "kind": "warning",
    "run": "a",
    "scorer": "good",
    "rule": "faults",
    "says": "rows have no score",
    "do": "look at the reasons",
    "figures": {"share": 0.5},
    "threshold": 0.1,
    "examples": ["env-died"],
    "rows": 4,
}


def write(path: Path, *lines: Any) -> Path:
    """Write a file of a monitor."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_a_real_monitor_is_shown(tmp_path: Path) -> None:
    """Its warnings come with what to do, its figures with their course; the list of runs links to it."""

    @reward(range=(0.0, 1.0))
    def gullible(final_response: str) -> float:
        return float(final_response.startswith("It is"))

    path = tmp_path / "monitor.jsonl"
    watched = monitor(gullible, path=path, warn=lambda _: None, window=64)
    for step in range(8):
        rows = [{"question": f"q {step} {n // 4}", "final_response": "It is"} for n in range(64)]
        watched.score_many(rows)
    watched.flush()
    with ViewServer([tmp_path], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        assert visitor.page("/?list=1").links("/monitors/") == [f"/monitors/{key_of(path)}"]
        page = visitor.page(f"/monitors/{key_of(path)}")
        assert "512 rollouts 8 windows" in page.text
        assert "from window to window" in page.text
        assert page.all("polyline")
        assert visitor.get(f"/runs/{key_of(path)}").status == 404


def test_it_alone_is_opened_at_once_and_followed(tmp_path: Path) -> None:
    """The only file of a viewer is its first page, and a new line changes what the page asks for."""
    path = write(tmp_path / "m.jsonl", WINDOW, WARNING)
    with ViewServer([path], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        place = f"/monitors/{key_of(path)}"
        assert visitor.get("/").headers["location"] == place
        assert "rows have no score" in visitor.page(place).text
        before = visitor.get(f"{place}/version").text
        write(path, WINDOW, WARNING, WINDOW)
        assert visitor.get(f"{place}/version").text != before


def test_trainings_of_a_file_are_kept_apart(tmp_path: Path) -> None:
    """A training that continued is a run of its own: the last is shown, the others are links."""
    path = write(tmp_path / "m.jsonl", WINDOW, {**WINDOW, "run": "b", "figures": {"rows": 1, "mean": 0.25}})
    found = read_monitor(path)
    assert [(name, run.series["mean"]) for name, run in found.items()] == [("a", [0.5]), ("b", [0.25])]
    with ViewServer([path], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        page = visitor.page(f"/monitors/{key_of(path)}")
        assert "0.2500" in page.text
        assert page.links("/monitors/") == [f"/monitors/{key_of(path)}?run=a"]


def test_other_lines_are_not_a_monitors(tmp_path: Path) -> None:
    """Rows and scores stay what they are."""
    assert not is_monitor(write(tmp_path / "a.jsonl", {"id": 1, "final_response": '"kind": "window"'}))
    assert not is_monitor(tmp_path / "missing.jsonl")
    assert is_monitor(write(tmp_path / "m.jsonl", WINDOW))


def test_no_line_of_a_strangers_file_is_more_than_text(tmp_path: Path) -> None:
    """Hostile texts, wrong types, broken lines and numbers that are none: the page is there and runs nothing."""
    lines: list[Any] = [WINDOW]
    for row in golden("hostile"):
        text = row["input"] * row.get("repeat", 1)
        lines.append({**WARNING, "rule": text, "says": text, "do": text, "examples": [text], "figures": {text: 1.0}})
        lines.append({**WINDOW, "figures": {text: 0.5, "mean": 1e308}, "speaking": [text], "scorer": text})
    wrong: list[Any] = [[], "x", {"mean": "1"}, {"mean": None}, {"mean": True}]
    lines += [{**WINDOW, "figures": figures} for figures in wrong]
    lines += [{**WARNING, "examples": "x", "threshold": "y", "rows": []}, 7, None, [WINDOW], {**WINDOW, "run": 3}]
    path = write(tmp_path / "m.jsonl", *lines)
    with path.open("a") as file:
        file.write('{"kind": "window", "run": "a", "figures": {"mean": NaN}}\n{"kind": "wind')
    with ViewServer([path], cache=tmp_path / "cache") as server:
        page = Visitor(server).page(f"/monitors/{key_of(path)}")
        assert not [each for kind, each in page.elements if kind == "script" and "src" not in each]
        assert not [name for _, each in page.elements for name in each if name.startswith("on")]
        assert "nan" not in page.text.lower().split()
