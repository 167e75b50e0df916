"""An agent's calls are a run's calls: written down, counted, limited, and not paid twice."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.agents import ChatAgent, get_agent
from adjudge.errors import RunStopped
from adjudge.judges import LLMJudge, PanelJudge
from adjudge.model import Case, ChatModel, ChatRequest, Message, Trajectory, asking
from adjudge.runs import RunConfig, RunResult, evaluate
from adjudge.runs._ask import IMAGE_TOKENS, most_tokens
from adjudge.runs._reading import run_state
from adjudge.runs._sessions import answers_of, judge_file, rescore_run, resume_run
from adjudge.runs._store import Store
from adjudge.testing import ChatCall, ChatServer, Fault, verdict
from runs.doubles import AskingJudge, Model
from runs.test_run_file import OFF

CALLS = """SELECT seq, source, attempts, prompt_tokens, requests.body, replies.body
           FROM requests JOIN replies USING (number) ORDER BY number"""


def cases(count: int) -> list[Case]:
    """Give cases that an agent can be asked."""
    return [Case(f"c{n}", f"What is {n} + 1?", references=("42",)) for n in range(count)]


def told(path: Path, query: str = CALLS) -> list[Any]:
    """Ask a run file something."""
    with Store.read(path) as store:
        return store.rows(query)


def agent_of(server: ChatServer, **more: Any) -> ChatAgent:
    """Return a model as the agent."""
    return ChatAgent("m", base_url=server.base_url, api_key="none", **more)


def test_calls_are_in_the_file(tmp_path: Path) -> None:
    """A chat model under test is asked through the run: request, raw reply and tokens of each call are kept."""
    with ChatServer("It is 42.") as server:
        path = tmp_path / "a.run"
        result = evaluate(cases(12), agent=agent_of(server), scorers=["contains_reward"], run=path, config=OFF)
        assert server.counts.calls == 12
    assert result.counts["scored"] == 12
    calls = told(path)
    assert sorted(seq for seq, *_ in calls) == list(range(12))
    assert {source for _, source, *_ in calls} == {"call"}
    assert all(b"What is" in request and b"chatcmpl" in reply for *_, request, reply in calls)
    state = run_state(path)
    assert (state.calls, state.tokens > 100) == (12, True)


@pytest.mark.parametrize(
    "limits",
    [{"max_calls": 9}, {"max_tokens": 1500}, {"max_cost": 0.02, "price": (10.0, 20.0)}],
    ids=["calls", "tokens", "dollars"],
)
@pytest.mark.parametrize("workers", [1, 4])
def test_budgets(tmp_path: Path, limits: dict[str, Any], workers: int) -> None:
    """Calls of the agent and of the judge share one budget that is never gone over, over all sessions together."""
    agent, judge = Model(lambda prompt: "42", name="agent"), AskingJudge()
    path = tmp_path / "a.run"
    named: dict[str, Any] = {"agent": ChatAgent("agent", chat=agent, max_tokens=20), "judge": judge, "run": path}
    for _ in range(2):
        with pytest.raises(RunStopped, match="budget"):
            evaluate(cases(50), **named, config=RunConfig(cache="off", workers=workers, **limits))
        state = run_state(path)
        assert state.calls == agent.calls + judge.model.calls <= limits.get("max_calls", 60)
        assert state.tokens <= limits.get("max_tokens", 2000)
        assert state.cost <= limits.get("max_cost", 0.0)
    assert agent.calls > 0
    done = evaluate(cases(50), **named, config=OFF)
    assert done.counts["scored"] == 50
    assert (agent.calls, judge.model.calls) == (50, 50)


def test_other_agents_are_counted(tmp_path: Path) -> None:
    """An agent with means of its own counts one call an answer, over all sessions; its tokens are not known."""
    asked: list[str] = []

    def agent(question: str) -> str:
        asked.append(question)
        return "42"

    path = tmp_path / "a.run"
    config = RunConfig(cache="off", workers=3, max_calls=7)
    for _ in range(2):
        with pytest.raises(RunStopped, match="budget of 7 calls"):
            evaluate(cases(20), agent=agent, scorers=["contains_reward"], run=path, config=config)
        assert len(asked) == 7
    assert RunResult(path).counts["scored"] == 7
    assert {source for _, source, *_ in told(path)} == {"agent"}
    evaluate(cases(20), agent=agent, scorers=["contains_reward"], run=path, config=OFF)
    assert len(asked) == len(set(asked)) == 20
    assert run_state(path).calls == 20


def test_attempts_of_an_http_agent(tmp_path: Path) -> None:
    """What our client tries again for an agent behind an address counts, too, and is kept with its cause."""
    script: list[Fault | dict[str, str]] = [Fault("503", retry_after=0.01), {"response": "42"}]
    with ChatServer(script) as server:
        agent = get_agent(f"{server.base_url}/chat/completions")
        evaluate(cases(1), agent=agent, scorers=["contains_reward"], run=tmp_path / "a.run", config=OFF)
    ((_, source, attempts, *_),) = told(tmp_path / "a.run")
    assert (source, attempts, run_state(tmp_path / "a.run").calls) == ("agent", 2, 2)
    assert "503" in told(tmp_path / "a.run", "SELECT fault FROM attempts")[0][0]


DIES = """
import asyncio, os, sys
from adjudge.agents import ChatAgent
from adjudge.runs import RunConfig, evaluate
from adjudge.model import Case
sys.path.insert(0, sys.argv[3])
from runs.test_agent_calls import cases

class Dies(ChatAgent):
    answered = 0
    async def respond(self, case, history):
        found = await super().respond(case, history)
        Dies.answered += 1
        if Dies.answered > 5:
            os._exit(9)  # the replies are here, and nothing has been made of them yet
        return found

agent = Dies("m", base_url=sys.argv[2], api_key="none")
agent.name = "openai:m"
evaluate(cases(30), agent=agent, scorers=["contains_reward"], run=sys.argv[1], config=RunConfig(cache="off", workers=2))
"""


def test_killed_run_pays_no_answer_twice(tmp_path: Path) -> None:
    """After a kill between a reply and what the agent made of it, at most the calls in flight are made again."""
    path, tests = tmp_path / "a.run", str(Path(__file__).parent.parent)
    with ChatServer("42", latency_s=0.01, process=True) as server:
        done = subprocess.run([sys.executable, "-c", DIES, str(path), server.base_url, tests], check=False)
        assert done.returncode == 9
        Store.write(path).close()  # what was kept beside the file goes into it
        kept, before = len(told(path)), server.counts.calls
        assert kept >= 6
        assert before - kept <= 2
        assert before <= run_state(path).calls <= kept + 2  # calls in flight count as made
        result = evaluate(cases(30), agent=agent_of(server), scorers=["contains_reward"], run=path, config=OFF)
        assert result.counts["scored"] == 30
        assert server.counts.calls == before + 30 - kept


def test_answers_are_samples(tmp_path: Path) -> None:
    """Equal cases are each asked about, and no answer is taken from another run: only judges' replies are shared."""
    model, judge = Model(lambda prompt: f"{model.calls}"), AskingJudge(Model(lambda prompt: "WRONG"))
    config = RunConfig(cache=str(tmp_path / "cache.sqlite"), workers=4)
    equal = [Case(f"c{n}", "Same question?", references=("x",)) for n in range(8)]
    for name in ("a", "b"):
        agent = ChatAgent("agent", chat=model)
        evaluate(equal, agent=agent, judge=judge, run=tmp_path / f"{name}.run", config=config)
    assert model.calls == 16


def test_waiting_is_free(tmp_path: Path) -> None:
    """The time that an agent's call waits for a place is not its row's; an answer that does not come is an error."""

    class Slow(Model):
        async def complete(self, request: ChatRequest) -> Any:
            if "What is 3" in request.messages[-1].text:
                await asyncio.sleep(60)
            return await super().complete(request)

    config = RunConfig(cache="off", workers=1, deadline=1.0)
    agent = ChatAgent("agent", chat=Slow(lambda prompt: "42", pause=0.2))
    result = evaluate(cases(8), agent=agent, scorers=["contains_reward"], run=tmp_path / "a.run", config=config)
    assert result.counts == {"scored": 7, "unscored": 0, "error": 1}
    reason = "agent-failed: deadline: the agent gave no answer within 1 seconds"
    assert [row.score.reason for row in result.scores][3] == reason


def test_late_turn(tmp_path: Path) -> None:
    """A turn that takes too long fails alone: the rest of its conversation is asked."""

    async def agent(question: str, history: list[Any]) -> str:
        await asyncio.sleep(60 if question == "b" else 0)
        return question

    turns = [Case(name, name, references=(name,), conversation_id="c", turn=n) for n, name in enumerate("abc")]
    config = RunConfig(cache="off", deadline=1.0)
    result = evaluate(turns, agent=agent, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=config)
    assert [row.score.status for row in result.scores] == ["scored", "error", "scored"]


class Twice:
    """An agent of somebody's own that asks a model twice, through whoever runs it."""

    name = "twice"

    def __init__(self, chat: ChatModel) -> None:
        self.chats = {"one": chat}

    async def respond(self, case: Case, history: Sequence[Message]) -> Trajectory:
        """Think, then answer."""
        way = asking.get()
        assert way is not None
        ask = way(self.chats)
        thought = await ask(ChatRequest("one", (Message("user", f"Think: {case.question}"),)))
        reply = await ask(ChatRequest("one", (Message("user", f"{thought.text}, so?"),)))
        return Trajectory(final_response=reply.text)


def test_agents_of_your_own(tmp_path: Path) -> None:
    """Any agent with `chats` asks through the run: all its calls are kept, with one place in flight, too."""
    model = Model(lambda prompt: "42")
    config = RunConfig(cache="off", workers=1)
    evaluate(cases(5), agent=Twice(model), scorers=["contains_reward"], run=tmp_path / "a.run", config=config)
    assert (model.calls, model.most, len(told(tmp_path / "a.run"))) == (10, 1, 10)


def test_panel_of_one_model_at_two_places(tmp_path: Path) -> None:
    """A panel may ask one model at several endpoints: each is asked, and no reply is taken for another's."""

    def right(call: ChatCall) -> str:
        return verdict(call, "CORRECT")

    def wrong(call: ChatCall) -> str:
        return verdict(call, "WRONG")

    rows = [{"id": n, "question": f"{n}?", "reference": "1", "response": "It is 1."} for n in range(10)]
    config = RunConfig(cache=str(tmp_path / "cache.sqlite"))
    with ChatServer(right) as one, ChatServer(wrong) as two, ChatServer(wrong) as three:
        members = [LLMJudge("m", base_url=server.base_url, api_key="none") for server in (one, two, three)]
        for name in ("a", "b"):
            result = evaluate(rows, judge=PanelJudge(members), run=tmp_path / f"{name}.run", config=config)
            assert {row.score.value for row in result.scores} == {0.0}
            assert {row.score.reason for row in result.scores} == {"2 of 3 say WRONG; openai:m says CORRECT"}
        assert [server.counts.calls for server in (one, two, three)] == [10, 10, 10]
    assert run_state(tmp_path / "a.run").calls == 30
    assert run_state(tmp_path / "b.run").calls == 0


def test_interface_of_a_named_judge(tmp_path: Path) -> None:
    """A judge that speaks another interface is asked by it in a run, too."""
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "question": "1?", "reference": "1", "response": "It is 1."}\n')
    said = {"content": [{"type": "tool_use", "name": "reply", "input": {"reasoning": "", "verdict": "CORRECT"}}]}
    with ChatServer(said) as server:
        options = {"base_url": server.base_url, "api_key": "a-key"}
        finished = judge_file(
            str(tmp_path / "rows.jsonl"), "anthropic:m", options=options, config=OFF, run=str(tmp_path / "a.run")
        )
        (call,) = server.calls
    assert finished.exit_code == 0
    assert call.path.endswith("/messages")


def test_older_responses_are_not_judged(tmp_path: Path) -> None:
    """Where an agent answers, a response that the data set has under another name is not taken for its answer."""
    judge = AskingJudge()
    rows = [{"id": 1, "question": "1?", "reference": "x", "response": "stale", "prediction": "stale"}]
    path = evaluate(rows, agent=lambda question: "fresh", judge=judge, run=tmp_path / "a.run", config=OFF).file
    saved = [{"id": 1, "final_response": "fresh"}]
    evaluate(rows, trajectories=saved, judge=judge, run=tmp_path / "b.run", config=OFF)
    with Store.read(path) as store:
        evaluate(answers_of(store), judge=judge, run=tmp_path / "c.run", config=OFF)
    assert judge.model.prompts == ["1?|['x']|fresh"] * 3


def test_only_the_agents_answers_are_scored_again(tmp_path: Path) -> None:
    """A case that a stopped run's agent was not asked about is no answer of its, whatever its row holds."""
    rows = [{"id": n, "question": f"{n}?", "answer": "x", "response": "old"} for n in range(6)]
    path = tmp_path / "a.run"
    config = RunConfig(cache="off", workers=1, max_calls=2)
    with pytest.raises(RunStopped):
        evaluate(rows, agent=lambda question: "x", scorers=["qa_em_reward"], run=path, config=config)
    again = rescore_run(str(path), scorers=["qa_em_reward"], run=str(tmp_path / "b.run"), config=OFF)
    assert again.exit_code == 3
    scores = [row.score for row in RunResult(tmp_path / "b.run").scores]
    assert [score.status for score in scores] == ["scored"] * 2 + ["error"] * 4
    assert str(scores[-1].reason).startswith("not-run: the agent")


def test_names_are_enough_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was started from Python with nothing but names goes on by its file alone."""
    (tmp_path / "rows.jsonl").write_text(
        "".join(f'{{"id": {n}, "question": "{n}?", "answer": "42"}}\n' for n in range(9))
    )
    with ChatServer("42") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        config = RunConfig(cache="off", max_calls=4)
        named: dict[str, Any] = {"agent": "openai:m", "scorers": ["qa_em_reward"], "judge": "local"}
        with pytest.raises(RunStopped):
            evaluate(str(tmp_path / "rows.jsonl"), **named, run=tmp_path / "a.run", config=config)
        finished = resume_run(str(tmp_path / "a.run"), limits={"max_calls": 100})
        assert (finished.exit_code, server.counts.calls) == (0, 9)


def test_images_are_set_aside_for(tmp_path: Path) -> None:
    """A budget of tokens keeps room for images and schemas, which have tokens, too."""
    plain = ChatRequest("m", (Message("user", "What is this?"),))
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    shown = ChatRequest("m", (Message("user", ({"type": "text", "text": "What is this?"}, part)),))
    assert most_tokens(shown)[0] == most_tokens(plain)[0] + IMAGE_TOKENS
    assert most_tokens(replace(plain, schema={"type": "object"}))[0] > most_tokens(plain)[0]
