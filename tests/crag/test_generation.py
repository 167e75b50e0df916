"""Phase 1: who is asked what, when and with which history; and what an agent's faults become."""

import asyncio
import threading
import time
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.crag import config
from adjudge.crag._agent import batches
from adjudge.crag.evaluator import CRAGEvaluator
from adjudge.errors import RowError, RunError, UsageError
from adjudge.runs import RunConfig
from adjudge.testing import ChatServer
from crag.worlds import PNG, Batches, answer_to, conversation, dataset

QUICK = RunConfig(deadline=1.0, cache="off")


def turns_of(agent: Any, data: Any, **options: Any) -> list[dict[str, Any]]:
    """Let the agent answer and return the turn data."""
    evaluator = CRAGEvaluator(data, agent, **options)
    evaluator.generate_agent_responses()
    assert evaluator.all_turn_data is not None
    return evaluator.all_turn_data


@pytest.mark.parametrize("columns", [False, True])
def test_both_layouts(columns: bool) -> None:
    """Turns come in order of the data set with all their fields, from either layout."""
    agent = Batches(3)
    turns = turns_of(agent, dataset(7, columns=columns))
    assert [turn["interaction_id"] for turn in turns] == [
        f"s{number:03}-{turn}" for number in range(7) for turn in range(number % 4 + 1)
    ]
    third = turns[2]
    assert third["session_id"] == "s001"
    assert (third["turn_idx"], third["total_turn_count"], third["is_ego"]) == (1, 2, True)
    assert third["interaction_id_history"] == ["s001-0"]
    assert (third["domain"], third["query_category"], third["dynamism"], third["image_quality"]) == (1, 1, 0, 1)
    assert all(turn["agent_response"] == answer_to(turn["query"]) for turn in turns)
    assert [turn["is_ego"] for turn in turns if turn["turn_idx"] == 0] == [bool(number % 3) for number in range(7)]


def test_batches_are_settled_by_the_data_set() -> None:
    """A batch has one turn of a conversation, turn n + 1 comes after turn n, and batches are the same every time."""
    agents = [Batches(3), Batches(3)]
    for agent in agents:
        turns_of(agent, dataset(9))
    assert agents[0].seen == agents[1].seen
    order: dict[str, int] = {}
    for batch in agents[0].seen:
        things = [query.removeprefix("What color is thing ").removesuffix("?").split(".") for query in batch]
        assert len({number for number, _ in things}) == len(things) <= 3
        for number, turn in things:
            assert order.get(number, -1) == int(turn) - 1
            order[number] = int(turn)
    assert [len(batch) for batch in agents[0].seen[:-3]] == [3] * (len(agents[0].seen) - 3)


@given(
    st.lists(st.integers(1, 6), max_size=20),
    st.integers(1, 6),
    st.sets(st.tuples(st.integers(0, 19), st.integers(0, 5))),
)
def test_every_turn_is_in_one_batch(lengths: list[int], size: int, done: set[tuple[int, int]]) -> None:
    """Each turn that is left is in one batch, after those before it; leaving some out moves no other."""
    conversations = [[f"{number}-{turn}" for turn in range(length)] for number, length in enumerate(lengths)]
    whole = list(batches(conversations, size))
    assert sorted(chain(*whole)) == sorted(chain(*conversations))
    at = {id_: index for index, batch in enumerate(whole) for id_ in batch}
    assert all(at[before] < at[after] for turns in conversations for before, after in pairwise(turns))
    assert all(len(batch) <= size for batch in whole)
    gone = {f"{number}-{turn}" for number, turn in done}
    left = [[id_ for id_ in batch if id_ not in gone] for batch in whole]
    assert list(batches(conversations, size, gone)) == [batch for batch in left if batch]


def test_history() -> None:
    """The history has the questions before and the agent's own answers, cut as they count."""

    def agent(query: str, image: Any, history: list[dict[str, Any]]) -> str:
        return f"{len(history)} " + "word " * 200

    turns = turns_of(agent, [conversation(1, 3)])
    cut = " ".join(["0", *["word"] * 74])
    assert turns[0]["agent_response"] == cut
    seen: list[Any] = []

    def other(query: str, image: Any, history: list[dict[str, Any]]) -> str:
        seen.append(history)
        return "x " * 80

    turns_of(other, [conversation(1, 3)])
    assert seen[1] == [
        {"role": "user", "content": "What color is thing 1.0?"},
        {"role": "assistant", "content": " ".join(["x"] * 75)},
    ]
    assert [len(history) for history in seen] == [0, 2, 4]
    assert turns[0]["tokenizer"] == "words-1, first 75"


@pytest.mark.parametrize(("asked", "given_"), [(0, 1), (-3, 1), (5, 5), (99, 16)])
def test_batch_size_is_clipped(asked: int, given_: int) -> None:
    """The agent's batch size is clipped to 1..MAX_BATCH_SIZE."""
    agent = Batches(asked)
    turns_of(agent, dataset(20, longest=1))
    assert max(map(len, agent.seen)) == given_


def test_batch_size_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """MAX_BATCH_SIZE is read when it is used; a bad one is an error that names it."""
    monkeypatch.setenv("MAX_BATCH_SIZE", "2")
    agent = Batches(9)
    turns_of(agent, dataset(5, longest=1))
    assert max(map(len, agent.seen)) == 2
    for bad in ("many", "0", "-1", "1.5", "٣", "9" * 30):
        monkeypatch.setenv("MAX_BATCH_SIZE", bad)
        with pytest.raises(UsageError, match="MAX_BATCH_SIZE"):
            _ = config.MAX_BATCH_SIZE
    monkeypatch.setenv("MAX_BATCH_SIZE", "")
    assert config.MAX_BATCH_SIZE == 16


class Optional(Batches):
    """An agent that takes the optional arguments too."""

    def batch_generate_response(
        self, queries: Any, images: Any, message_histories: Any, rag_context_list: Any = None, domains: Any = None
    ) -> list[str]:
        """Remember them, and answer."""
        self.contexts, self.domains = rag_context_list, domains
        return ["x"] * len(queries)


def test_optional_arguments() -> None:
    """An agent that takes `rag_context_list` and `domains` gets them, by name."""
    agent = Optional(4)
    turns_of(agent, [conversation(1, 1)], rag_context=lambda query, image: [query, image])
    assert agent.contexts == [["What color is thing 1.0?", None]]
    assert agent.domains == ["other"]
    turns_of(agent, [conversation(1, 1)])
    assert agent.contexts == [""]


async def awaiting(query: str, image: Any, history: Any) -> str:
    """Answer after a while."""
    await asyncio.sleep(0.001)
    return answer_to(query)


class AsyncBatches(Batches):
    """An agent whose batches are awaited."""

    async def batch_generate_response(self, queries: Any, images: Any, message_histories: Any) -> list[str]:  # type: ignore[override]
        """Answer after a while."""
        await asyncio.sleep(0.001)
        return [answer_to(query) for query in queries]


@pytest.mark.parametrize(
    "agent",
    [lambda q, i, h: answer_to(q), awaiting, answer_to, AsyncBatches(2), Batches],
    ids=["function", "async", "by-name", "async-batches", "class"],
)
def test_kinds_of_agents(agent: Any) -> None:
    """Functions, sync or async, positional or by name, and batch agents and their classes all give the same answers."""
    turns = turns_of(agent, dataset(6), num_workers=3)
    assert [turn["agent_response"] for turn in turns] == [answer_to(turn["query"]) for turn in turns]


def test_a_model_as_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model behind an endpoint is an agent too: it gets the image, and the history before the question."""
    with ChatServer("It is red.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        turns = turns_of("openai:m", [conversation(1, 2, image=PNG)])
        last = server.calls[-1].json["messages"]
    assert [turn["agent_response"] for turn in turns] == ["It is red.", "It is red."]
    assert [message["role"] for message in last] == ["user", "assistant", "user"]
    assert last[-1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


def test_images(tmp_path: Path) -> None:
    """Every turn gets the image of its conversation, loaded when asked; one that cannot be had is its own fault."""
    (tmp_path / "a.png").write_bytes(PNG)
    rows = [conversation(1, 2, image=PNG), conversation(2, 1, image=tmp_path / "a.png"), conversation(4, 1)]
    rows += [conversation(5, 2, image=b"no image"), conversation(7, 1, image=PNG)]
    agent = Batches(2)
    turns = turns_of(agent, rows)
    assert sum(image is not None for image in agent.images) == 4
    assert len(agent.images) == 5
    faults = {turn["interaction_id"]: turn["fault"] for turn in turns if "fault" in turn}
    assert list(faults) == ["s005-0", "s005-1"]
    assert all("bad-image: row 4: image" in fault for fault in faults.values())


class Faulty(Batches):
    """An agent that fails in one way, on batches that ask about one thing."""

    def __init__(self, way: str, size: int = 1) -> None:
        super().__init__(size)
        self.way = way

    def batch_generate_response(self, queries: Any, images: Any, message_histories: Any) -> Any:
        """Fail on thing 1.1, else answer."""
        answers: list[Any] = super().batch_generate_response(queries, images, message_histories)
        index = next((at for at, query in enumerate(queries) if "1.1" in query), None)
        if index is None:
            return answers
        if self.way == "raises":
            raise ZeroDivisionError("a fault")
        if self.way == "hangs":
            threading.Event().wait(5)
        if self.way == "exits":
            raise SystemExit(3)
        odd = {"number": 5, "none": None, "bytes": b"red", "empty": "", "list": ["red"]}
        if self.way in odd:
            answers[index] = odd[self.way]
        return {"few": answers[1:], "many": [*answers, "x"], "text": "red", "nothing": None}.get(self.way, answers)


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("raises", "batch-failed: raised: ZeroDivisionError: a fault"),
        ("hangs", "deadline: "),
        ("exits", "batch-failed: raised: RuntimeError: SystemExit"),
        ("few", "bad-batch: "),
        ("many", "bad-batch: "),
        ("text", "bad-batch: "),
        ("nothing", "bad-batch: "),
        ("number", "bad-answer: the agent answered with a int"),
        ("none", "bad-answer: the agent answered with a NoneType"),
        ("bytes", "bad-answer: "),
        ("list", "bad-answer: "),
    ],
)
def test_faults_of_agents(way: str, code: str, size: int) -> None:
    """A fault is typed on its turn, the conversation goes on with an empty answer in its history, nothing is lost."""
    agent = Faulty(way, size)
    turns = turns_of(agent, [conversation(1, 3), conversation(2, 3), conversation(4, 3)], config=QUICK)
    assert len(turns) == 9
    faults = {turn["interaction_id"]: turn["fault"] for turn in turns if "fault" in turn}
    whole_batch = way in ("raises", "hangs", "exits", "few", "many", "text", "nothing")
    assert set(faults) == ({"s001-1", "s002-1", "s004-1"} if size == 3 and whole_batch else {"s001-1"})
    assert all(fault.startswith(f"agent-failed: {code}") for fault in faults.values()), faults
    assert all(turn["agent_response"] == "" for turn in turns if "fault" in turn)
    after = next(history for history in agent.histories if len(history) == 4 and "1.0" in history[0]["content"])
    assert after[3] == {"role": "assistant", "content": ""}
    evaluator = CRAGEvaluator(eval_model_name="local", config=RunConfig(cache="off"))
    results, scores = evaluator.evaluate_agent_responses(turns)
    assert [row["interaction_id"] for row in results if row["status"] == "error"] == list(faults)
    assert scores["all"]["errors"] == len(faults)
    assert scores["all"]["total"] == 9 - len(faults)


def test_an_empty_answer_is_an_answer() -> None:
    """An agent that says nothing is wrong, at no cost, and its conversation goes on."""
    turns = turns_of(Faulty("empty"), [conversation(1, 3)])
    assert [turn["agent_response"] for turn in turns][1] == ""
    assert not any("fault" in turn for turn in turns)
    results, _ = CRAGEvaluator(eval_model_name="local").evaluate_agent_responses(turns)
    assert results[1]["status"] == "scored"
    assert not results[1]["is_correct"]
    assert not results[1]["is_miss"]


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (lambda q, i, h: 1 / 0, "raised: ZeroDivisionError"),
        (lambda q, i, h: time.sleep(3), "deadline: "),
        (lambda q, i, h: 5, "bad-answer: "),
    ],
)
def test_faults_of_functions(function: Any, code: str) -> None:
    """A function's faults are typed on their turns too."""
    turns = turns_of(function, [conversation(1, 2)], config=QUICK)
    assert [turn["fault"].startswith(f"agent-failed: {code}") for turn in turns] == [True, True]


def test_going_on(tmp_path: Path) -> None:
    """With the same run_dir nothing is asked twice, other data or agents are refused, and failures can be retried."""
    data = [conversation(number, 3) for number in (1, 2)]
    turns_of(Faulty("number"), data, run_dir=tmp_path)
    again = Faulty("number")
    turns = turns_of(again, data, run_dir=tmp_path)
    assert again.seen == []
    assert sum("fault" in turn for turn in turns) == 1
    with pytest.raises(RunError, match="other cases"):
        turns_of(Faulty("number"), data[:1], run_dir=tmp_path)
    with pytest.raises(RunError, match="other agent"):
        turns_of(Batches(), data, run_dir=tmp_path)
    with pytest.raises(RunError, match="words-1, first 75"):
        turns_of(Faulty("number"), data, run_dir=tmp_path, tokenizer=Letters())
    healed = Faulty("none of them")
    turns = turns_of(healed, data, run_dir=tmp_path, retry_failed=True)
    assert healed.seen == [["What color is thing 1.1?"]]
    assert not any("fault" in turn for turn in turns)


class Letters:
    """A tokenizer whose tokens are letters; the first of them is no content."""

    name = "letters"

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """Return the code points."""
        return [-1] * add_special_tokens + [ord(letter) for letter in text]

    def decode(self, tokens: list[int]) -> str:
        """Return the text."""
        return "".join(map(chr, tokens))


def test_other_tokenizers() -> None:
    """Any object with encode and decode cuts the responses, by content alone, and is named in what comes out."""
    turns = turns_of(lambda q, i, h: "abc" * 40, [conversation(1, 1)], tokenizer=Letters())
    assert turns[0]["agent_response"] == ("abc" * 40)[:75]
    assert turns[0]["tokenizer"] == "letters, first 75"
    with pytest.raises(UsageError, match="a tokenizer must have encode and decode, got int without encode"):
        turns_of(Batches(), [conversation(1, 1)], tokenizer=5)


def test_num_conversations() -> None:
    """Exactly so many whole conversations are asked, for any batch size."""
    for size in (1, 4, 16):
        turns = turns_of(Batches(size), dataset(9), num_conversations=1)
        assert [turn["session_id"] for turn in turns] == ["s000"]
        assert len({turn["session_id"] for turn in turns_of(Batches(size), iter(dataset(9)), num_conversations=5)}) == 5
    assert turns_of(Batches(), dataset(3), num_conversations=0) == []


def test_bad_calls() -> None:
    """What cannot work is refused before anybody is asked, in one line."""
    agent = Batches()
    calls: list[tuple[dict[str, Any], str]] = [
        ({"dataset": None, "agent": agent}, "needs a dataset"),
        ({"dataset": [], "agent": None}, "needs a agent"),
        ({"dataset": dataset(1), "agent": 5}, "an agent must be"),
        ({"dataset": dataset(1), "agent": Batches("four")}, "get_batch_size"),  # type: ignore[arg-type]
        ({"dataset": dataset(1), "agent": Faulty}, "the agent Faulty cannot be made: raised: TypeError"),
        ({"dataset": 5, "agent": agent}, "data set"),
    ]
    for options, words in calls:
        with pytest.raises(UsageError, match=words):
            CRAGEvaluator(**options).generate_agent_responses()
    for name, value in (("rule_scope", "al"), ("num_workers", 0), ("num_conversations", 1.5)):
        bad: dict[str, Any] = {name: value}
        with pytest.raises(UsageError, match=name):
            CRAGEvaluator(**bad)
    with pytest.raises(RowError, match=r"row 2: session_id 's001'"):
        turns_of(agent, [conversation(1, 1), conversation(1, 2)])
    assert agent.seen == []


def _look(query: str, image: Any, history: Any) -> str:
    del history
    return f"{query}: {image.size}"


def _use(query: str, image: Any, history: Any) -> str:
    del history
    return query if image else ""


def _ignore(query: str, image: Any, history: Any) -> str:
    del image, history
    return query


@pytest.mark.parametrize("agent", [_look, _use])
def test_withheld_images(agent: Any) -> None:
    """Images are not fetched from a URL: an agent that looks at such a one fails on that turn, with the reason."""
    data = [conversation(3, 1), conversation(4, 1, image=PNG)]
    evaluator = CRAGEvaluator(data, agent, eval_model_name=None)
    evaluator.generate_agent_responses()
    first, second = evaluator.all_turn_data or []
    assert "row 1: image: the row has only an image_url" in first["fault"]
    assert "allow_hosts" in first["fault"]
    assert "fault" not in second


def test_agents_that_need_no_image() -> None:
    """An agent that does not look at images is not disturbed by those that may not be fetched."""
    rows, scores = CRAGEvaluator(dataset_without_images(), _ignore, eval_model_name=None).evaluate_agent()
    assert {row["status"] for row in rows} == {"scored"}
    assert {row["is_ego"] for row in rows} == {True, False}
    assert 0 < scores["ego"]["total"] < scores["all"]["total"]


def dataset_without_images() -> list[dict[str, Any]]:
    """Return conversations whose images stand only at URLs, or nowhere."""
    return [conversation(number, 2) for number in range(6)]


def test_data_sets_of_several_splits() -> None:
    """Of several splits one must be given, and that is what the error says."""
    evaluator = CRAGEvaluator({"validation": dataset(1), "test": dataset(1)}, _ignore)
    with pytest.raises(
        UsageError, match=r"which split \(there are validation, test\): give one of them, dataset\[\.\.\.\]"
    ):
        evaluator.initialize_for_generation()


def test_a_blank_url_is_none() -> None:
    """A conversation whose `image_url` is white space is ego-centric like one that has none."""
    (turn,) = turns_of(_ignore, [{**conversation(3, 1), "image_url": "  "}])
    assert turn["is_ego"]
