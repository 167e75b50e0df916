"""What the pages show."""

import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import adjudge
from adjudge.errors import RunError, UsageError
from adjudge.runs import RunConfig, open_run
from adjudge.view import ViewServer
from adjudge.view._sources import open_source
from cli.command import adjudge as command
from support import ROOT
from view.looking import QUICK, Visitor, key, make_run, noted, rows_of

GOLDEN = ROOT / "tests" / "golden"


def travel(case: Any) -> dict[str, Any]:
    """Answer with a tool."""
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "capital"}'}}
    return {
        "messages": [
            {"role": "user", "content": case.question},
            {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "Paris is a city."},
            {"role": "assistant", "content": "Paris"},
        ]
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of runs and other files."""
    folder = tmp_path_factory.mktemp("pages")
    make_run(folder / "new.run", rows_of(130))
    make_run(folder / "base.run", rows_of(130, skill=2))
    rows = [{key: value for key, value in row.items() if key != "final_response"} for row in rows_of(3)]
    adjudge.evaluate(rows, agent=travel, scorers=[noted], run=folder / "agent.run", config=QUICK)
    for name in ("scenarios.run", "stopped.run"):
        shutil.copy(GOLDEN / "runs" / name, folder)
    shutil.copy(GOLDEN / "inspect" / "small.eval", folder)
    (folder / "data.jsonl").write_text('{"id": 1, "question": "not a result"}\n')
    (folder / "scores.jsonl").write_text(
        '{"id": "q1", "scorer": "f1", "value": 0.25, "status": "scored", "reason": null, "parts": {"em": 0.0}}\n'
        '{"id": "q2", "scorer": "f1", "value": null, "status": "error", "reason": "died: no answer", "parts": {}}\n'
    )
    (folder / "broken.run").write_bytes(b"SQLite format 3\0 and nothing else")
    return folder


@pytest.fixture(scope="module")
def visitor(folder: Path) -> Iterator[Visitor]:
    """Somebody who looks at the folder."""
    with ViewServer([folder], cache=folder / "cache") as server:
        yield Visitor(server)


def test_the_list_shows_what_can_be_looked_at(visitor: Visitor, folder: Path) -> None:
    """Runs, scores and logs are listed with their figures; what is damaged says so; data is left out."""
    page = visitor.page("/")
    for name in ("new.run", "base.run", "agent.run", "scenarios.run", "small.eval", "scores.jsonl"):
        assert page.links(f"/runs/{key(folder / name)}"), name
    assert "broken.run" in page.text
    assert not page.links(key(folder / "broken.run"))
    assert "data.jsonl" not in page.text
    assert re.search(r"new\.run .* 0\.6615", page.text)  # 86 of 130


def test_a_run_that_was_only_judged_names_its_judge(folder: Path) -> None:
    """The judge of a run of `adjudge judge run` is the one that it is a run of; a run of plain scorers has none."""
    assert open_source(folder / "stopped.run").about.judge == "openai:m"
    assert open_source(folder / "new.run").about.judge is None


def test_two_that_are_chosen_are_compared(visitor: Visitor, folder: Path) -> None:
    """The newer of two chosen runs is held against the older one."""
    base, new = key(folder / "base.run"), key(folder / "new.run")
    found = visitor.get(f"/?list=1&run={new}&run={base}")
    assert (found.status, found.headers["location"]) == (303, f"/compare?base={base}&new={new}")
    page = visitor.page(f"/compare?base={base}&new={new}&by=tags")
    assert "better" in page.text
    assert "tag=odd" in page.text
    assert page.links("/compare/row?")
    both = visitor.page(f"/compare/row?base={base}&new={new}&id=q2")
    assert ("del", {}) in both.elements
    assert ("ins", {}) in both.elements


@pytest.mark.parametrize(("count", "words"), [(1, "1 run is chosen."), (3, "3 runs are chosen.")])
def test_others_than_two_are_not_compared(visitor: Visitor, folder: Path, count: int, words: str) -> None:
    """Who chooses one run, or three, reads what to do, and the runs stay chosen."""
    chosen = [key(folder / name) for name in ("new.run", "base.run", "agent.run")][:count]
    page = visitor.page("/?list=1" + "".join(f"&run={one}" for one in chosen))
    assert f"{words} Choose two runs, then Compare two." in page.text
    assert {one["value"] for one in page.all("input") if "checked" in one} == set(chosen)


def test_images_that_are_not_loaded_are_named(tmp_path: Path) -> None:
    """An image that has only an address, and an SVG, is not loaded, and does not vanish either."""
    web, svg, png = "https://example.org/a.png", "data:image/svg+xml;base64,AAAA", "data:image/png;base64,AAAA"

    def agent(case: Any) -> dict[str, Any]:
        parts = [{"type": "image_url", "image_url": {"url": one}} for one in (svg, png)]
        return {"messages": [{"role": "user", "content": parts}, {"role": "assistant", "content": "Paris"}]}

    rows = [{"id": at, "question": "?", "answer": "Paris", "image": one} for at, one in enumerate((web, png, ""))]
    run = tmp_path / "a.run"
    adjudge.evaluate(rows, agent=agent, scorers=[noted], run=run, config=QUICK)
    with ViewServer([run], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        for page in (f"/runs/{key(run)}/rows/0", f"/runs/{key(run)}/label?row=0"):
            found = visitor.page(page)
            assert f"an image at {web} (not loaded)" in found.text
            assert f"an image at {svg} (not loaded)" in found.text
            assert {one["src"] for one in found.all("img")} == {png}
        for number in (1, 2):
            assert visitor.page(f"/runs/{key(run)}/rows/{number}").text.count("(not loaded)") == 1


def test_a_run_has_its_figures_and_rows(visitor: Visitor, folder: Path) -> None:
    """A mean never comes without its interval and the three counts; the table has one page of rows."""
    page = visitor.page(f"/runs/{key(folder / 'new.run')}")
    assert re.search(r"0\.6615 0\.57\d\d \.\. 0\.73\d\d ", page.text)
    assert "130 scored 0 unscored 0 error" in page.text
    assert len(page.links("/rows/")) == 50
    assert "even 65" in page.text


def test_the_columns_of_the_table_can_be_chosen(visitor: Visitor, folder: Path) -> None:
    """The table has the columns that were chosen, also those of the rows themselves, and so have its links."""
    place = f"/runs/{key(folder / 'new.run')}"
    names = ("question", "response", "score:qa_f1_reward", "score:noted", "time")
    usual = visitor.page(f"{place}?{urlencode({'columns': names}, doseq=True)}")
    offered = {one["value"]: "checked" in one for one in usual.all("input") if one.get("name") == "columns"}
    assert offered == {
        **dict.fromkeys(names, True),
        **dict.fromkeys(("tokens", "cost", "column:note", "column:tags"), False),
    }
    assert all("columns" not in one for one in usual.links("/rows/"))
    page = visitor.page(f"{place}?columns=column:note&columns=score:noted&columns=nothing")
    assert "# id noted note 1 q0 0 note 0 2 q1" in page.text
    assert all("columns=column%3Anote&columns=score%3Anoted" in one for one in page.links("/rows/"))


def test_pages_have_every_row_once(visitor: Visitor, folder: Path) -> None:
    """Going on from page to page comes to every row once, in any order."""
    for sort in ("number", "-value", "seconds"):
        path, seen = f"/runs/{key(folder / 'agent.run' if sort == 'seconds' else folder / 'new.run')}?sort={sort}", []
        while path:
            page = visitor.page(path)
            seen += [link.partition("/rows/")[2].partition("?")[0] for link in page.links("/rows/")]
            following = (one.get("href") or "" for one in page.all("a") if one.get("rel") == "next")
            path = next(following, "").partition("#")[0]
        assert sorted(map(int, seen)) == list(range(3 if sort == "seconds" else 130))


def test_a_row_shows_all_of_it(visitor: Visitor, folder: Path) -> None:
    """A row has its question, its conversation with folded calls, its scores with parts and reasons."""
    page = visitor.page(f"/runs/{key(folder / 'agent.run')}/rows/1")
    shown = (
        "Capital of country 1?",
        "search",
        '"query": "capital"',
        "Paris is a city.",
        "note 1",
        "Call of the agent",
    )
    for words in shown:
        assert words in page.text, words
    assert all("open" not in one for one in page.all("details"))


def test_next_and_previous_stay_within_the_filter(visitor: Visitor, folder: Path) -> None:
    """From a row that a filter found, the next one is the next that it finds."""
    page = visitor.page(f"/runs/{key(folder / 'new.run')}/rows/3?scorer=1&verdict=wrong&tag=odd")
    links = {one.get("rel"): one.get("href") or "" for one in page.all("a")}
    assert "/rows/9?" in links["next"]
    assert "prev" not in links


def test_prompt_reply_and_attempts_are_shown(visitor: Visitor, folder: Path) -> None:
    """What a judge was asked, and what came back as it came, is on the page of the row."""
    page = visitor.page(f"/runs/{key(folder / 'stopped.run')}/rows/0")
    assert "You grade answers to questions." in page.text
    assert "The reply as it came" in page.text


def test_a_scenario_shows_expected_against_called(visitor: Visitor, folder: Path) -> None:
    """The page of a scenario's repeat has the expectation, the calls in order and the other repeats."""
    page = visitor.page(f"/runs/{key(folder / 'scenarios.run')}/rows/0")
    assert "expected called tool search search any order" in page.text
    assert page.links("/rows/1")
    table = visitor.page(f"/runs/{key(folder / 'scenarios.run')}").text
    assert "Gate" in table
    assert "unscored" in table
    assert "Scenarios scenario passed repeats" in table
    assert "capital 2 of 2 passed passed" in table


def test_a_conversation_shows_where_it_is_given_up(tmp_path: Path) -> None:
    """Of a conversation all turns are shown, and after two that are not correct the others count as misses."""
    answers = ["Paris", "Lyon", "I don't know", "Paris"]
    turns = [
        {
            "session_id": "s",
            "interaction_id": f"s{at}",
            "turn_idx": at,
            "is_ego": True,
            "domain": 1,
            "query": f"Question {at}?",
            "ground_truth": "Paris",
            "agent_response": answer,
            "image_quality": 0,
            "query_category": 0,
            "dynamism": 0,
            "total_turn_count": 4,
            "interaction_id_history": [],
        }
        for at, answer in enumerate(answers)
    ]
    (tmp_path / "turns.jsonl").write_text("".join(f"{json.dumps(turn)}\n" for turn in turns))
    call = ("crag", "evaluate", "turns.jsonl", "--judge", "local:0", "--out", "out")
    assert command(*call, cwd=tmp_path).returncode == 0
    run = tmp_path / "out" / "evaluate.run"
    with ViewServer([run], cache=tmp_path / "cache") as server:
        text = Visitor(server).page(f"/runs/{key(run)}/rows/1").text
    assert "correct Question 0? wrong Question 1? missing Question 2? Two turns in a row were not correct" in text
    assert "correct Question 3? counts as a miss" in text


def test_a_page_follows_a_run(tmp_path: Path) -> None:
    """While a run goes on, its page has the rows that are done, and says when there are more."""
    go_on = threading.Event()

    def slow(case: Any) -> str:
        if case.id == "q2":
            assert go_on.wait(60)
        return "Paris"

    rows = [{key: value for key, value in row.items() if key != "final_response"} for row in rows_of(4)]
    run = tmp_path / "slow.run"
    config = RunConfig(cache="off", workers=1)
    more = {"agent": slow, "scorers": [noted], "run": run, "config": config}
    work = threading.Thread(target=adjudge.evaluate, args=(rows,), kwargs=more)
    work.start()
    try:
        until(lambda: scored(run) == 2)
        with ViewServer([run], cache=tmp_path / "cache") as server:
            visitor, path = Visitor(server), f"/runs/{key(run)}"
            page = visitor.page(path)
            assert "running" in page.text
            assert any(one.get("data-follow") == f"{path}/version" for one in page.all("div"))
            before = visitor.get(f"{path}/version").text
            go_on.set()
            until(lambda: visitor.get(f"{path}/version").text.startswith("4 at rest"))
            assert before.startswith("2 running")
            after = visitor.page(path)
            assert len(after.links("/rows/")) == 4
            assert "running" not in after.text
    finally:
        go_on.set()
        work.join()


def test_a_file_that_takes_the_name_of_another_is_shown_with_its_own_scores(tmp_path: Path) -> None:
    """When another run, or another file of scores, takes the name of one that is open, the page has its scores."""
    run, scores = tmp_path / "a.run", tmp_path / "a.jsonl"
    line = '{"id": "q1", "scorer": "%s", "value": 1.0, "status": "scored", "reason": null, "parts": {}}\n'
    make_run(run, rows_of(3))
    scores.write_text(line % "old")
    with ViewServer([run, scores], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        assert "qa_f1_reward" in visitor.page(f"/runs/{key(run)}").text
        assert "old" in visitor.page(f"/runs/{key(scores)}").text
        adjudge.evaluate(rows_of(2), scorers=["contains_reward"], run=tmp_path / "b.run", config=QUICK)
        (tmp_path / "b.run").replace(run)
        scores.write_text(line % "other")
        listed = visitor.page("/?list=1").text
        page, others = visitor.page(f"/runs/{key(run)}"), visitor.page(f"/runs/{key(scores)}")
    for text in (listed, page.text):
        assert "contains_reward" in text
        assert "qa_f1_reward" not in text
    assert len(page.links("/rows/")) == 2
    assert "other" in others.text
    assert "old" not in others.text


def scored(run: Path) -> int:
    """Return how many rows of a run have a score; none while its file is being made."""
    try:
        return open_run(run).counts["scored"]
    except (RunError, UsageError) as error:
        if error.code not in ("not-a-run", "cannot-read"):
            raise
        return 0


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    ends = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_a_calibration_is_shown_and_corrects_a_score(tmp_path: Path) -> None:
    """A calibration has its confusion and its reliability; a run that was given it shows the corrected score."""
    rows = [
        {"id": at, "question": f"What is {at}?", "reference": str(at), "response": f"It is {at + (at % 3 == 0)}."}
        for at in range(1, 40)
    ]
    labels = [{**row, "label": int(at % 3 != 2 or at == 5)} for at, row in enumerate(rows)]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "labels.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in labels))
    measured = command("judge", "calibrate", "labels.jsonl", "--judge", "local:0", "--run", "c.run", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
    file = tmp_path / "calibration" / "local-0.json"
    call = ("judge", "run", "rows.jsonl", "--judge", "local:0", "--calibration", str(file), "--run", "a.run")
    done = command(*call, cwd=tmp_path)
    said = re.search(r"corrected ([-.0-9]+) ", done.stdout.decode())
    assert said is not None
    with ViewServer([tmp_path / "a.run", file.parent], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        page = visitor.page(f"/runs/{key(tmp_path / 'a.run')}")
        shown = re.search(r"by the judge's error rates ([-.0-9]+) ", page.text)
        assert shown is not None
        assert abs(float(shown[1]) - float(said[1])) < 0.001
        assert visitor.page("/?list=1").links("/calibrations/")
        text = visitor.page(f"/calibrations/{key(file)}").text
        assert "called right called wrong" in text
        assert "expected calibration error" in text


def test_a_log_and_scores_have_rows_too(visitor: Visitor, folder: Path) -> None:
    """Samples of a log show what was said, lines of scores their reason."""
    assert len(visitor.page(f"/runs/{key(folder / 'small.eval')}").links("/rows/")) == 2
    assert visitor.page(f"/runs/{key(folder / 'small.eval')}/rows/0").all("section")
    assert "died: no answer" in visitor.page(f"/runs/{key(folder / 'scores.jsonl')}/rows/1").text


def test_a_sample_shows_what_happened_in_it(visitor: Visitor, folder: Path) -> None:
    """A row of a log of Inspect has its calls of tools and models, changes of state and scores, each folded."""
    page = visitor.page(f"/runs/{key(folder / 'small.eval')}/rows/0")
    assert 'tool get_weather {"city":"Rome"}' in page.text
    assert "15 changes: /messages/0/source" in page.text
    assert "includes: C" in page.text
    assert "You are the concierge agent." in page.text, "a long text is kept apart, and is put back"
    assert "attachment://" not in page.text


def test_an_error_of_a_sample_is_whole(tmp_path: Path) -> None:
    """The error of a sample is shown with its traceback, and that of a tool where it happened."""
    last = "ValueError: " + "x" * 5000 + " the end"
    error = {"message": last, "traceback": f"Traceback (most recent call last):\n{last}", "traceback_ansi": ""}
    when = "2026-01-01T00:00:0%d+00:00"
    events = [
        {
            "event": "tool",
            "timestamp": when % 1,
            "function": "f",
            "arguments": {},
            "error": {"message": "no city"},
        },
        {"event": "error", "timestamp": when % 3, "error": error},
        "not an event",
        {"event": 7, "timestamp": "never"},
    ]
    sample = {"id": "1", "epoch": 1, "input": "?", "target": "x", "messages": [], "scores": {}, "events": events}
    header = {"task": "t", "model": "m", "created": "2026-01-01", "dataset": {}, "config": {}}
    log = {"version": 2, "status": "error", "eval": header}
    metadata = {"about": {"attachments": "two letters"}}
    log["samples"] = [
        {**sample, "error": error, "metadata": metadata},
        {**sample, "id": "2", "scores": {"f1": {"value": 0.5}}},
    ]
    (tmp_path / "log.json").write_text(json.dumps(log))
    with ViewServer([tmp_path / "log.json"], cache=tmp_path / "cache") as server:
        page = Visitor(server).page(f"/runs/{key(tmp_path / 'log.json')}/rows/0")
    assert page.text.count("x the end") >= 3
    assert "Traceback (most recent call last):" in page.text
    assert "tool f {} – no city" in page.text
    assert "two letters" in page.text
    assert "2.0 s error" in page.text


@pytest.mark.parametrize("name", ["new.run", "agent.run", "stopped.run", "scenarios.run", "small.eval", "scores.jsonl"])
def test_a_row_is_there_as_json(visitor: Visitor, folder: Path, name: str) -> None:
    """All that is known of a row is one JSON text, in which no character hides or turns another."""
    place = f"/runs/{key(folder / name)}/rows/0"
    answer = visitor.get(f"{place}/json")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.text.isascii()
    found = json.loads(answer.text)
    assert found["row"]["number"] == 0
    assert isinstance(found["replies"], list)
    assert visitor.page(place).links("/json") == [f"{place}/json"]


def test_what_is_not_there_says_so(visitor: Visitor, folder: Path) -> None:
    """Unknown runs and rows, and senseless filters, are pages that say so, or nothing at all."""
    name = key(folder / "new.run")
    for path in ("/runs/none", f"/runs/{name}/rows/999999", f"/compare?base={name}", "/compare/row?id=1"):
        assert visitor.get(path).status == 404, path
    senseless = "scorer=99&status=x&verdict=y&low=nan&high=1e999&sort=z&after=q_9999999999999999&mark=m"
    assert visitor.get(f"/runs/{name}?{senseless}").status == 200


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("low=0,5", "The value '0,5' is not a number"),
        ("high=abc", "The value 'abc' is not a number"),
        ("low=1_0", "The value '1_0' is not a number"),
        ("words=%25", "'%' has no letters or digits"),
        ("words=%F0%9F%98%80", "has no letters or digits"),
    ],
)
def test_a_filter_that_cannot_be_is_said_to_be_wrong(visitor: Visitor, folder: Path, query: str, words: str) -> None:
    """A bound that is not a number, or a search without a word, finds nothing, and the page says why."""
    page = visitor.page(f"/runs/{key(folder / 'new.run')}?{query}")
    assert words in page.text
    assert "0 of 130 rows" in page.text
    typed = query.partition("=")[2]
    assert "%" in typed or typed in [one.get("value") for one in page.all("input")]


def test_a_search_ignores_accents(tmp_path: Path) -> None:
    """Accents of Latin, Greek and Cyrillic letters do not matter, neither in a row nor in a search."""
    run = make_run(tmp_path / "a.run", [{**rows_of(1)[0], "question": "naïve Δέλτα"}])
    with ViewServer([run], cache=tmp_path / "cache") as server:
        visitor = Visitor(server)
        for words in ("naive", "NAÏVE", "δελτα", "δέλτα", "Δέλ"):
            assert "1 of 1 row " in visitor.page(f"/runs/{key(run)}?{urlencode({'words': words})}").text


@pytest.mark.parametrize("number", ["9" * 20, "9" * 6000, "99999", "-1", "1e3", "%D9%A3"])
def test_a_row_that_cannot_be_is_not_found(visitor: Visitor, folder: Path, number: str) -> None:
    """A number that no row has, however long, is a page that says so."""
    answer = visitor.get(f"/runs/{key(folder / 'new.run')}/rows/{number}")
    assert answer.status == 404
    assert "<main" in answer.text


def test_a_log_that_did_not_end_well_says_so(tmp_path: Path) -> None:
    """What a reader of any comparison with a file must know is on its page as well."""
    sample = {"id": "1", "epoch": 1, "input": "?", "target": "x", "messages": [], "scores": {"f1": {"value": 0.5}}}
    header = {"task": "t", "model": "m", "created": "2026-01-01", "dataset": {}, "config": {}}
    log = {"version": 2, "status": "cancelled", "eval": header, "samples": [sample]}
    (tmp_path / "log.json").write_text(json.dumps(log))
    with ViewServer([tmp_path / "log.json"], cache=tmp_path / "cache") as server:
        page = Visitor(server).page(f"/runs/{key(tmp_path / 'log.json')}")
    assert "did not end well, its status is 'cancelled'" in page.text


def test_files_of_one_name_show_their_folder(tmp_path: Path) -> None:
    """Two files of one name are told apart in the list; one whose name is its own needs no folder."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        make_run(tmp_path / folder / "same.run", rows_of(3))
    make_run(tmp_path / "one" / "other.run", rows_of(3))
    with ViewServer([tmp_path / "one", tmp_path / "two"], cache=tmp_path / "cache") as server:
        text = Visitor(server).page("/?list=1").text
    assert text.count("/one ") == text.count("/two ") == 1
