"""One run, however it was recorded, is one Trajectory."""

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import TrajectoryError, UsageError
from adjudge.model import Trajectory, from_json, to_json
from adjudge.traces import FORMATS, load, missing
from adjudge.traces._load import detect
from adjudge.workflow import check_workflow
from support import GOLDEN
from traces.encodings import ENCODINGS, TRACE, chat, genai, inspect_log, langfuse_pages, observations, written
from traces.story import expected

FILES = sorted(path for path in (GOLDEN / "traces").iterdir() if path.suffix != ".md")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_encoding_is_the_same_trajectory(path: Path) -> None:
    """Messages, calls, agents, answer and completeness are identical in all encodings."""
    assert missing(path) == ()
    assert load(path) == expected()


def test_there_are_enough_encodings() -> None:
    """At least eight encodings are compared, five of them emitted by SDKs, and no format is left out."""
    assert len([path for path in FILES if path.name.startswith("sdk-")]) >= 5
    assert len(FILES) >= 13
    found = {detect(json.loads(path.read_bytes()), path.name) for path in FILES if path.suffix == ".json"}
    assert found | {"otlp-protobuf", "atif"} == set(FORMATS)  # ATIF cannot say that an agent hands over


@pytest.mark.parametrize("name", ENCODINGS)
def test_golden_files_are_what_their_tool_writes(name: str) -> None:
    """A golden file that no SDK wrote is written by `tests/traces/encodings.py`, byte by byte."""
    assert (GOLDEN / "traces" / f"{name}.json").read_text(encoding="utf-8") == written(name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_content_is_read_like_its_file(path: Path) -> None:
    """A path as text, a path, and the file's content give the same, with and without the format's name."""
    content = path.read_bytes()
    kind = detect(json.loads(content) if path.suffix == ".json" else content, path.name)
    found = [load(str(path)), load(content), load(path, format=kind), load(content, kind)]
    if path.suffix == ".json":
        found += [load(content.decode()), load(json.loads(content)), load(json.loads(content), kind)]
    assert all(each == expected() for each in found)


def test_json_lines_are_a_list() -> None:
    """A document a line, as the collector writes and as exports come, is the list of them."""
    lines = "\n".join(json.dumps(item) for item in observations())
    assert load(lines) == expected()
    assert load(f"{json.dumps(genai())}\n{json.dumps({'resourceSpans': []})}\n".encode()) == expected()


def test_a_length_before_each_protobuf_message() -> None:
    """The collector's protobuf files, with a length before each message, are read too."""
    content = (GOLDEN / "traces" / "sdk-opentelemetry.pb").read_bytes()
    assert load(len(content).to_bytes(4, "big") + content) == expected()


def test_a_trajectory_is_itself() -> None:
    """A Trajectory, and its own JSON, come back as they are."""
    story = expected()
    assert load(story) is story
    assert load(to_json(story)) == story
    assert from_json(Trajectory, to_json(story)) == story


def test_texts_alone_cannot_show_tools() -> None:
    """A list of plain texts has no calls to show, which is not the same as none."""
    assert load(["2+2?", "4"]).tool_calls is None
    assert load([["2+2?"], ["4"]]).final_response == "4"


SERVER = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "POST /chat", "endTimeUnixNano": "2"}
EMPTY: list[Any] = [
    [],
    {"messages": []},
    [{"role": "user", "content": "2+2?"}],
    [{"role": "system", "content": "Be brief."}],
    {"resourceSpans": []},
    {"resourceSpans": [{"scopeSpans": [{"spans": [SERVER]}]}]},
]


@pytest.mark.parametrize("record", EMPTY)
def test_nothing_of_the_agent_is_there(record: Any) -> None:
    """A record without a word of the agent does not say that it did nothing: no verdict rests on it."""
    found = load(record)
    assert (found.complete, found.tool_calls, found.final_response) == (True, None, None)
    assert found.unknown.keys() == {"agents", "tools", "arguments", "answer"}
    for wanted in ({"tools_should_include": ["search"]}, {"agents_should_exclude": ["deleter"]}):
        assert check_workflow(wanted, found).passed is None


def test_a_format_that_cannot_be_told_is_asked_for() -> None:
    """Where the format cannot be told, the error names those that there are; an unknown name gets the closest."""
    with pytest.raises(TrajectoryError, match=r"with format= or --format \(chat, responses, otlp"):
        load({"what": "is this"})
    with pytest.raises(UsageError, match="did you mean 'langfuse'"):
        load([], format="langfus")
    with pytest.raises(UsageError, match="No such file"):
        load("nowhere/at-all.json")


def test_one_of_several_runs_is_chosen() -> None:
    """A record with several traces needs the id of one, and says which there are."""
    other = [
        {**item, "traceId": "b" * 32, "id": f"x{item['id']}", "parentObservationId": None} for item in observations()
    ]
    with pytest.raises(TrajectoryError, match="holds 2 runs"):
        load([*observations(), *other])
    assert load([*observations(), *other], trace=TRACE) == expected()
    with pytest.raises(TrajectoryError, match="has no run 'nobody'"):
        load(langfuse_pages(), trace="nobody")


def test_an_archive_of_inspect(tmp_path: Path) -> None:
    """An `.eval` archive is read like the JSON log; one that cannot be unpacked says what to do."""
    import zipfile

    log = inspect_log()
    assert isinstance(log, dict)
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "status": "success"}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(log["samples"][0]))
    assert load(tmp_path / "log.eval") == expected()
    (tmp_path / "broken.eval").write_bytes(b"PK\x03\x04broken")
    with pytest.raises(TrajectoryError, match="inspect log convert"):
        load(tmp_path / "broken.eval")


def test_agents_that_do_not_say_so_can_be_named() -> None:
    """Spans that are agents by their name only are made agents by `agents=`."""
    spans = [{**item, "type": "SPAN"} if item["type"] == "AGENT" else item for item in observations()]
    assert load(spans).agents_called == ()
    assert load(spans, agents=["orchestrator", "research"]) == expected()


def test_messages_keep_their_order_beside_the_chat_reader() -> None:
    """The chat format agrees with `Trajectory.from_messages` on calls and answer, but for handoffs."""
    plain = [{key: value for key, value in message.items() if key != "name"} for message in chat()]  # type: ignore[attr-defined]
    ours, theirs = load(plain), Trajectory.from_messages(plain)
    assert ours.tools_used == tuple(name for name in theirs.tools_used if name != "transfer_to_research")
    assert ours.tools_requested == tuple(name for name in theirs.tools_requested if name != "transfer_to_research")
    assert ours.agents_called == ("research",)
    assert "agents" in ours.unknown  # who handed over is not named
    assert ours.final_response == theirs.final_response
