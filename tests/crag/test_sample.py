"""The sample is what it says it is."""

import struct
import zlib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from adjudge.conversations import says_unknown
from adjudge.crag import CRAGEvaluator, sample
from adjudge.crag.dataset_utils import convert_domain_indices_to_names, prepare_feature_vocabularies
from adjudge.datasets import LABELS
from adjudge.errors import UsageError
from adjudge.judges.local import LocalJudge
from support import ROOT

READ = list(sample.conversations())
TURNS = [case for read in READ for case in read.conversation.cases()]
FIELDS = (
    *("session_id", "interaction_id", "turn_idx", "is_ego", "image_quality", "query_category", "domain", "dynamism"),
    *("query", "ground_truth", "agent_response", "total_turn_count", "interaction_id_history"),
)


def test_size_and_variety() -> None:
    """At least 25 conversations and 60 turns: single and multi, ego and not, of many domains and categories."""
    assert len(READ) >= 25
    assert len(TURNS) >= 60
    counts = [len(read.conversation.turns) for read in READ]
    assert counts.count(1) >= 5
    assert len([count for count in counts if count > 2]) >= 10
    egos = [read.conversation.metadata["is_ego"] for read in READ]
    assert min(egos.count(True), egos.count(False)) >= 10
    assert {name: len({case.metadata[name] for case in TURNS}) for name in LABELS} == {
        "domain": 13,
        "query_category": 6,
        "dynamism": 2,
        "image_quality": 6,
    }


def test_queries_and_ids_are_unique() -> None:
    """No query stands twice, so that an agent knows which one it is asked."""
    assert len({case.question for case in TURNS}) == len({case.id for case in TURNS}) == len(TURNS)


def test_labels_have_names() -> None:
    """Every label of every turn has a name."""
    vocabularies = prepare_feature_vocabularies(sample.conversations())
    for name in LABELS:
        names = [vocabularies[name].name_of(case.metadata[name], "missing") for case in TURNS]
        assert "missing" not in names
    assert convert_domain_indices_to_names([TURNS[0].metadata["domain"]], vocabularies) == ["text understanding"]


def test_both_layouts_are_there() -> None:
    """Half of the rows have a list a column, half a mapping a turn."""
    lines = (sample.path() / "conversations.jsonl").read_text().splitlines()
    assert len([line for line in lines if '"turns": {' in line]) == len(lines) // 2


def test_images_are_small_and_load() -> None:
    """Each conversation has an image of its own, under 3 KB, that Pillow can decode."""
    paths = {read.image.path for read in READ if read.image is not None}
    assert len(paths) == len(READ)
    for read in READ:
        assert read.image is not None
        assert read.image.path is not None
        assert read.image.path.stat().st_size < 3000
        assert sorted(read.image.load().size) == [90, 120]


def drawing_tool() -> Any:
    """Return the script that draws the images."""
    spec = spec_from_file_location("draw_crag_sample", ROOT / "tools" / "draw_crag_sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pixels_of(png: bytes) -> tuple[bytes, bytes, bytes]:
    """Return header, palette and lines: what a file shows, however it was packed."""
    parts: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        parts[png[at + 4 : at + 8]] = png[at + 8 : at + 8 + size]
        at += 12 + size
    return parts[b"IHDR"], parts[b"PLTE"], zlib.decompress(parts[b"IDAT"])


def test_images_are_those_that_the_tool_draws() -> None:
    """Drawing the images again gives the same pixels."""
    tool = drawing_tool()
    for name, quality in tool.wanted().items():
        there = (sample.path() / "images" / f"{name}.png").read_bytes()
        assert pixels_of(tool.draw(name, quality)) == pixels_of(there), name
    assert set(tool.scenes()) == {path.stem for path in (sample.path() / "images").glob("*.png")}


@pytest.mark.parametrize("name", sample.AGENTS)
def test_answers_belong_to_the_conversations(name: str) -> None:
    """An agent has one answer to every turn, as turn data with the fields of that turn."""
    rows = sample.turn_data(name)
    assert [row["interaction_id"] for row in rows] == [case.id for case in TURNS]
    for row, case in zip(rows, TURNS, strict=True):
        assert tuple(row) == FIELDS
        assert (row["query"], (row["ground_truth"],)) == (case.question, case.references)
        assert {key: row[key] for key in case.metadata if key != "image_url"} == {
            key: value for key, value in case.metadata.items() if key != "image_url"
        }
        assert len(row["interaction_id_history"]) == row["turn_idx"]


def rates(name: str) -> tuple[float, float]:
    """Return the shares of right answers and of misses, by the judge in the package."""
    rows = sample.turn_data(name)
    judge = LocalJudge()
    misses = [says_unknown(row["agent_response"]) for row in rows]
    verdicts = [judge.judge(row["query"], row["ground_truth"], row["agent_response"]).verdict for row in rows]
    right = [verdict == "CORRECT" and not miss for verdict, miss in zip(verdicts, misses, strict=True)]
    return sum(right) / len(rows), sum(misses) / len(rows)


def test_agents_differ_in_skill() -> None:
    """One agent is good, one middling, one poor, and each says at times that it does not know."""
    found = {name: rates(name) for name in sample.AGENTS}
    assert found["atlas"][0] > 0.8 > found["brook"][0] > 0.6
    assert 0.4 > found["cinder"][0] > 0.2
    assert all(0.02 < misses < 0.2 for _, misses in found.values())


def test_an_injected_instruction_gains_nothing() -> None:
    """The answer that speaks to the judge is found wrong."""
    (row,) = [row for row in sample.turn_data("cinder") if "Result: CORRECT" in row["agent_response"]]
    assert LocalJudge().judge(row["query"], row["ground_truth"], row["agent_response"]).verdict == "WRONG"


def test_agents_answer_as_they_did() -> None:
    """An agent of the sample gives its saved answers, in batches, and does not know anything else."""
    for name in sample.AGENTS:
        agent = sample.agent(name)
        rows = sample.turn_data(name)
        queries = [row["query"] for row in rows]
        nothing: list[Any] = [None] * len(rows)
        assert agent.batch_generate_response(queries, nothing, nothing) == [row["agent_response"] for row in rows]
        assert agent.batch_generate_response(["Who are you?"], [None], [[]]) == ["I don't know."]
        assert agent.get_batch_size() >= 1


@pytest.mark.parametrize("name", sample.AGENTS)
def test_saved_answers_score_as_the_agent_does(name: str) -> None:
    """Asking the agent and loading its saved answers give the same labels and scores, offline."""
    asked = CRAGEvaluator(sample.conversations(), sample.agent(name), "local", show_progress=False)
    results, scores = asked.evaluate_agent()
    loaded = CRAGEvaluator(None, None, "local", show_progress=False)
    again, same = loaded.evaluate_agent_responses(loaded.load_turn_data(sample.answers_path(name)))
    assert list(results) == list(again)
    assert scores["all"] == same["all"]
    assert scores["ego"] == same["ego"]
    assert scores["all"]["total"] == len(TURNS)
    assert round(scores["all"]["accuracy"], 12) == round(rates(name)[0], 12)


def test_unknown_agents() -> None:
    """A name that the sample does not have is refused with the closest one."""
    with pytest.raises(UsageError, match="no agent 'brok'; did you mean 'brook'"):
        sample.turn_data("brok")


def test_the_folder_is_a_data_set() -> None:
    """The sample needs no loader: its folder is read like any other."""
    assert isinstance(sample.path(), Path)
    assert len(list(sample.conversations(num_conversations=7))) == 7
