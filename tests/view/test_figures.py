"""The figures of a page are those that the command which made the run prints."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.crag import score_results
from adjudge.model import Score
from adjudge.runs import open_run
from adjudge.statistics import Mean
from adjudge.view import ViewServer, write_report
from adjudge.view._figures import RunFigures
from adjudge.view._index import RowIndex
from adjudge.view._queries import Query
from adjudge.view._sources import ViewRow, open_source
from cli.command import adjudge as command
from view.looking import QUICK, Page, RowsSource, Visitor, key, noted


def figures_of(path: Path, cache: Path) -> RunFigures:
    """Sum up a file."""
    index = RowIndex(open_source(path), cache)
    index.refresh()
    try:
        return index.figures()
    finally:
        index.close()


def made_index(folder: Path, columns: Sequence[Mapping[str, Any]], values: Sequence[Sequence[float]]) -> RowIndex:
    """Return the index of rows with these columns, and these values by scorer."""
    names = [f"scorer {at}" for at in range(len(values[0]))]
    rows = [
        ViewRow(at, f"id{at}", one, scores=dict(zip(names, map(Score.scored, each), strict=True)))
        for at, (one, each) in enumerate(zip(columns, values, strict=True))
    ]
    index = RowIndex(RowsSource(folder / "x.run", rows, names, judged=len(names) - 1), folder)
    index.refresh()
    return index


def ends(mean: Mean | None) -> tuple[float, float, float]:
    """Return a mean with its interval."""
    assert mean is not None
    assert mean.low is not None
    assert mean.high is not None
    return mean.value, mean.low, mean.high


@pytest.fixture
def early(tmp_path: Path) -> Path:
    """Make a run that was decided after a few of its 400 cases."""
    (tmp_path / "rows.jsonl").write_text(
        "".join(
            f'{{"id": "q{at}", "question": "?", "reference": "Paris", "response": "Paris", "tags": ["all"]}}\n'
            for at in range(400)
        )
    )
    given = ("rows.jsonl", "--judge", "local:0", "--threshold", "0.3", "--stop-early", "--run", "early.run")
    assert command("judge", "run", *given, cwd=tmp_path).returncode == 0
    return tmp_path / "early.run"


def test_a_run_that_was_decided_early_says_so(early: Path, tmp_path: Path) -> None:
    """Page, list, row and report have the decision, the interval that holds at any time, and what was spared."""
    summary = open_run(early).summary
    decision = summary.early
    assert decision is not None
    assert decision.spared
    expected = ends(summary.tallies[0].mean)
    found = figures_of(early, tmp_path / "cache")
    assert ends(found.scorers[0].mean) == pytest.approx(expected)
    assert found.rows == len(decision.cases)
    assert found.slices[0].mean is not None
    assert found.slices[0].mean.low is None
    write_report(early, out=tmp_path / "a.html")
    spared = next(at for at in range(400) if at not in decision.cases)
    with ViewServer([early], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        pages = [visitor.page(f"/runs/{key(early)}"), visitor.page("/?list=1")]
        row = visitor.page(f"/runs/{key(early)}/rows/{spared}")
    pages.append(Page((tmp_path / "a.html").read_text(encoding="utf-8")))
    interval = f"{expected[1]:.4f} .. {expected[2]:.4f} at any time"
    for page in pages:
        assert interval in page.text
        assert f"{decision.spared} spared" in page.text
        assert "to do" not in page.text
    for page in (pages[0], pages[2]):
        assert decision.headline in page.text
    assert "This row was spared" in row.text


def test_rows_that_came_before_the_decision_go_with_it(early: Path, tmp_path: Path) -> None:
    """Rows that a viewer has read, and that the decision left out afterwards, are not part of the figures."""
    source = open_source(early)
    decision = source.early
    assert decision is not None
    index = RowIndex(source, tmp_path / "cache")
    rows = [ViewRow(at, f"q{at}", scores={"local:0": Score.scored(0.0)}) for at in range(400)]
    index._add_batch(rows)
    index.refresh()
    assert index.size == len(decision.cases)
    index.close()


def test_slices_allow_for_clusters(tmp_path: Path) -> None:
    """The interval of a tag that all rows have is that of the run, which allows for rows that belong together."""
    rows = [
        {"id": f"{group} {at}", "final_response": "P" if group % 3 else "x", "group_id": group, "tags": ["all"]}
        for group in range(12)
        for at in range(8)
    ]
    adjudge.evaluate(rows, scorers=[noted], run=tmp_path / "a.run", config=QUICK)
    found = figures_of(tmp_path / "a.run", tmp_path / "cache")
    assert ends(found.slices[0].mean) == ends(found.scorers[0].mean)
    assert found.slices[0].mean is not None
    assert found.slices[0].mean.method == "clustered"
    assert ends(found.slices[0].mean) == pytest.approx(ends(open_run(tmp_path / "a.run").summary.tallies[0].mean))


def test_long_tags_stay_apart(tmp_path: Path) -> None:
    """Tags that are alike in their first hundred characters are two, on the page and in the filter."""
    tags = [f"{'t' * size}{end}" for size in (90, 900) for end in "AB"]
    index = made_index(tmp_path, [{"tags": [tag]} for tag in tags], [(1.0,)] * 4)
    assert len(index.figures().slices) == len(index.figures().offered) == 4
    for tag in index.figures().offered:
        assert len(index.page(Query.of({"tag": tag}, 1)).numbers) == 1
    index.close()


def test_more_tags_than_are_shown_are_counted(tmp_path: Path) -> None:
    """A card of slices that leaves some out says how many, and the filter has all of them."""
    rows = [{"id": f"q{at}", "final_response": "P", "tags": [f"tag {at}"]} for at in range(211)]
    run = tmp_path / "a.run"
    adjudge.evaluate(rows, scorers=[noted], run=run, config=QUICK)
    with ViewServer([run], cache=tmp_path / "cache") as server:
        page = Visitor(server).page(f"/runs/{key(run)}")
    assert "11 more tags are not shown here" in page.text
    assert {one["value"] for one in page.all("option")} >= {f"tag {at}" for at in range(211)}


def test_the_numbers_of_crag_are_those_of_its_command(tmp_path: Path) -> None:
    """The page of a CRAG run has the accuracy, the rates and the intervals that `adjudge crag` prints."""
    labels = [[2, 1, 0], [2, 2], [0, 0, 2, 2], [1, 1], [2]]  # right, missing, wrong
    rows: list[ViewRow] = []
    turns = []
    for session, codes in enumerate(labels):
        for turn, code in enumerate(codes):
            score = Score.scored(float(code == 2), parts={"miss": float(code == 1)})
            columns = {"session_id": f"s{session}", "turn_idx": turn}
            rows.append(ViewRow(len(rows), f"{session} {turn}", columns, scores={"crag_turn": score}))
            turns.append(
                {
                    **dict.fromkeys(("domain", "query_category", "dynamism", "image_quality")),
                    "session_id": f"s{session}",
                    "turn_idx": turn,
                    "is_exact_match": False,
                    "is_ego": False,
                    "is_correct": code == 2,
                    "is_semantically_correct": code == 2,
                    "is_miss": code == 1,
                    "status": "scored",
                }
            )
    index = RowIndex(RowsSource(tmp_path / "x.run", rows, ["crag_turn"]), tmp_path)
    index.refresh()
    found, expected = index.figures(), score_results(turns)["all"]
    index.close()
    assert list(found.rates) == ["accuracy", "missing", "hallucination rate", "truthfulness score"]
    for name, mean in found.rates.items():
        interval = expected["intervals"][name.replace(" ", "_")]
        assert ends(mean) == (expected[name.replace(" ", "_")], interval["low"], interval["high"])
    assert ends(found.scorers[0].mean) == ends(found.rates["accuracy"])


def test_marks_are_about_the_chosen_score(tmp_path: Path) -> None:
    """Flaky are the repeats that differ in the chosen score; a scorer disagrees where it is on the other side."""
    columns = [{"group_id": "g"}, {"group_id": "g"}, {"group_id": "h"}, {"group_id": "h"}]
    index = made_index(tmp_path, columns, [(0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 1.0)])
    assert [index.page(Query(at, mark="flaky")).numbers for at in range(3)] == [[0, 1], [2, 3], []]
    assert [index.page(Query(at, mark="disagree")).numbers for at in range(3)] == [[0], [2], [0, 2]]
    assert index.figures().scorers[2].marks == {"disagree": 2}
    index.close()


@pytest.mark.parametrize("values", [(1e308, 1e308, -1e308, 1.7e308), (1e308, -1e308), (1e308,), (1e308, 1e308)])
def test_the_largest_numbers_are_shown(tmp_path: Path, values: tuple[float, ...]) -> None:
    """Scores whose sum is beyond a float have a mean, bars and pages, in the list, alone and as a report."""
    file = tmp_path / "scores.jsonl"
    line = '{"id": "q%d", "scorer": "f1", "value": %r, "status": "scored", "reason": null, "parts": {}}\n'
    file.write_text("".join(line % one for one in enumerate(values)))
    write_report(file, out=tmp_path / "a.html")
    found = figures_of(file, tmp_path / "cache").scorers[0]
    assert found.mean is not None
    assert found.mean.value == pytest.approx(sum(one / len(values) for one in values))
    assert sum(one.count for one in found.bins) == len(values)
    with ViewServer([file], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        listed, page = visitor.page("/?list=1"), visitor.page(f"/runs/{key(file)}")
    assert "JSON" not in listed.text
    assert f"{len(values)} row" in page.text
    for one in (listed, page):
        assert not re.search("[0-9]{40}", one.source), "hundreds of digits are no number for a reader"
