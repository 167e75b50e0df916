"""Scenarios, run against scripted agents with a scripted model as the judge of quality."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import get_current_span

from adjudge.errors import RunError, RunStopped, UsageError
from adjudge.judges import QUALITY, RubricJudge
from adjudge.model import Case, Trajectory
from adjudge.rewards import reward
from adjudge.runs import RunConfig
from adjudge.scenarios import Scenario, arun_scenario, run_scenario, run_scenarios
from adjudge.testing import ChatServer, scores
from adjudge.traces import load
from scenarios.agents import Scripted, did, http_agent

SQL = Scenario(
    "sql",
    "Which text-to-SQL approach leads?",
    agents_should_include=["research"],
    agents_should_exclude=["clarification"],
    tools_should_include=["pdf_retrieval"],
    tools_should_exclude=["web_search"],
    expected_answer_criteria="1. Identify a specific text-to-SQL approach\n2. Mention accuracy",
)
PASS = did("DIN-SQL leads with 85.3 %.", ("orchestrator", "research"), ("pdf_retrieval",))
OFF = RunConfig(cache="off", deadline=20)


def judge(server: ChatServer, key: str = "k") -> RubricJudge:
    """Return a judge that asks the scripted model."""
    return RubricJudge("model", base_url=server.base_url, api_key=key)


def good(call: Any) -> str:
    """Score everything with .8."""
    return scores(call, 0.8)


class TestWorkflow:
    """`result['workflow']` is the plain dict; reasons and status stand beside it."""

    def test_pass(self) -> None:
        """The documented example of a PASS gives exactly its dict."""
        result = run_scenario(SQL, Scripted([PASS]))
        assert result["workflow"] == {
            "pass": True,
            "agents": {
                "pass": True,
                "included": ["research"],
                "excluded": ["clarification"],
                "missing": [],
                "unexpected": [],
            },
            "tools": {
                "pass": True,
                "included": ["pdf_retrieval"],
                "excluded": ["web_search"],
                "missing": [],
                "unexpected": [],
            },
        }
        assert (result["pass"], result["status"], result["reasons"]) == (True, "scored", [])
        assert result["quality"] is result["average_quality"] is result["clarification"] is None

    def test_fail(self) -> None:
        """The documented example of a FAIL gives its lists, and the reason in words."""
        scenario = {"id": "both", "question": "?", "tools_should_include": ["pdf_retrieval", "web_search"]}
        result = run_scenario(scenario, Scripted([did(tools=("pdf_retrieval",))]))
        tools = result["workflow"]["tools"]
        assert (tools["pass"], tools["included"], tools["missing"]) == (False, ["pdf_retrieval"], ["web_search"])
        assert (result["pass"], result["status"]) == (False, "scored")
        assert result["reasons"] == ["missing: tool 'web_search' is expected and was not called"]

    def test_incomplete(self) -> None:
        """An incomplete record is unscored, neither PASS nor FAIL."""
        result = run_scenario(SQL, Scripted([did(complete=False)]))
        assert (result["pass"], result["status"], result["workflow"]["pass"]) == (None, "unscored", None)
        assert result["reasons"][0].startswith("incomplete-trace: ")

    def test_an_agent_that_says_nothing_of_its_tools(self) -> None:
        """A bare text shows neither agents nor tools: undecided; a mapping that names them is enough."""
        assert run_scenario(SQL, lambda question: "DIN-SQL")["pass"] is None
        named = {"response": "DIN-SQL", "agents_called": ["research"], "tools_used": ["pdf_retrieval"]}
        assert run_scenario(SQL, lambda question: named)["pass"] is True

    def test_an_answer_that_leaves_something_out(self) -> None:
        """What an answer does not say is not known: no PASS and no FAIL rests on it."""
        no_agents = {"response": "DIN-SQL", "tools_used": ["pdf_retrieval"]}
        result = run_scenario(SQL, lambda question: no_agents)
        assert (result["pass"], result["workflow"]["tools"]["pass"]) == (None, True)
        assert result["reasons"][0].startswith("incomplete-trace: the record cannot show which agents were called")
        excluded = {"id": "x", "question": "?", "agents_should_exclude": ["clarification"]}
        assert run_scenario(excluded, lambda question: no_agents)["pass"] is None
        assert run_scenario(excluded, lambda question: {**no_agents, "agents_called": []})["pass"] is True
        turns = {**excluded, "question": "", "turns": ["?", "And then?"]}
        answers = iter([{**no_agents, "agents_called": []}, no_agents])
        assert run_scenario(turns, lambda question: next(answers))["pass"] is None

    def test_names_of_tools_show_no_arguments(self) -> None:
        """A rule on arguments is undecided where an answer has only the names of its tools."""
        rules = {"tools_arguments": {"search": {"subset": {"q": "x"}}}}
        scenario = {"id": "s", "question": "?", "tools_should_include": ["search"], "workflow": rules}
        result = run_scenario(scenario, lambda question: {"response": "!", "tools_used": ["search"]})
        assert (result["pass"], result["status"]) == (None, "unscored")
        assert result["reasons"][0].startswith("incomplete-trace: the record does not show the arguments of tool")

    def test_messages_are_read_as_traces_are(self) -> None:
        """Messages in an answer give what the same messages give as a trace, and what stands beside them counts."""
        handoff = {"id": "1", "type": "function", "function": {"name": "transfer_to_research", "arguments": "{}"}}
        search = {"id": "2", "type": "function", "function": {"name": "pdf_retrieval", "arguments": '{"q": "x"}'}}
        messages = [
            {"role": "assistant", "name": "orchestrator", "content": None, "tool_calls": [handoff]},
            {"role": "tool", "tool_call_id": "1", "content": "ok"},
            {"role": "assistant", "name": "research", "content": None, "tool_calls": [search]},
            {"role": "tool", "tool_call_id": "2", "content": "DIN-SQL, 85.3 %"},
            {"role": "assistant", "content": "DIN-SQL"},
        ]
        for answer in (messages, {"messages": messages}, load(messages)):
            result = run_scenario(SQL, lambda question, answer=answer: answer)
            assert (result["pass"], result["response"], result["reasons"]) == (True, "DIN-SQL", [])
            saved = run_scenario(SQL, trajectory=answer)
            assert (saved["pass"], saved["response"], saved["reasons"]) == (True, "DIN-SQL", [])
        assert run_scenario(SQL, trajectory=json.dumps(messages))["response"] == "DIN-SQL"
        named = {"messages": messages[2:], "agents_called": ["orchestrator", "research"], "response": "Yes."}
        result = run_scenario(SQL, lambda question: named)
        assert (result["pass"], result["response"]) == (True, "Yes.")

    def test_clarification(self) -> None:
        """Asking back is part of the pass, and stands beside the workflow."""
        scenario = Scenario("vague", "What did it cost?", clarification_expected=True)
        asked = run_scenario(scenario, Scripted([did("Which year do you mean?")]))
        assert asked["clarification"] == {"pass": True, "expected": True, "asked": True, "by": "reply"}
        answered = run_scenario(scenario, Scripted([did("It cost 5 euros.")]))
        assert (answered["pass"], answered["workflow"]["pass"], answered["clarification"]["pass"]) == (
            False,
            True,
            False,
        )
        assert answered["reasons"] == ["clarification-missing: the user should have been asked back and was not"]


class TestQuality:
    """`result['quality']` is three numbers and the reasoning, or no number at all."""

    def test_scored(self) -> None:
        """The numbers, their mean, and everything that the judge needs in its prompt."""
        with ChatServer(good) as server:
            result = run_scenario(SQL, Scripted([PASS]), judge=judge(server), config=OFF)
            (call,) = server.calls
        assert set(result["quality"]) == {*QUALITY, "reasoning"}
        assert [result["quality"][name] for name in QUALITY] == [0.8, 0.8, 0.8]
        assert result["average_quality"] == pytest.approx(0.8)
        assert result["status"] == "scored"
        for text in (SQL.question, "2. Mention accuracy", "what pdf_retrieval found", "DIN-SQL leads with 85.3 %."):
            assert f"| {text}" in call.prompt

    def test_garbage(self) -> None:
        """A reply that cannot be read is asked for once more; then the quality is unscored, never zeros."""
        with ChatServer("Ten out of ten!") as server:
            result = run_scenario(SQL, Scripted([PASS]), judge=judge(server), config=OFF)
            assert server.counts.calls == 2
        assert result["quality"] == {**dict.fromkeys(QUALITY), "reasoning": None}
        assert (result["status"], result["average_quality"]) == ("unscored", None)
        assert (result["pass"], result["workflow"]["pass"]) == (True, True)
        assert result["reasons"][0].startswith("quality: unreadable: ")

    @pytest.mark.parametrize(
        "numbers",
        [
            {"answer_quality": 1, "factual_correctness": 1},
            {"answer_quality": 1, "factual_correctness": 1, "completeness": 8},
            {"answer_quality": 1, "factual_correctness": True, "completeness": 1},
            {"answer_quality": None, "factual_correctness": 1, "completeness": 1},
        ],
        ids=["missing", "out-of-range", "bool", "null"],
    )
    def test_a_set_that_is_not_complete(self, numbers: dict[str, Any]) -> None:
        """Two numbers of three are none."""
        with ChatServer(json.dumps({"reasoning": "x", **numbers})) as server:
            result = run_scenario(SQL, Scripted([PASS]), judge=judge(server), config=OFF)
        assert (result["status"], result["quality"]["answer_quality"]) == ("unscored", None)

    def test_the_second_answer_counts(self) -> None:
        """Garbage first, numbers then (one of them written as a text): scored."""
        numbers = {"answer_quality": "0.9", "factual_correctness": 1.0, "completeness": 0.5, "reasoning": "Good."}
        with ChatServer(["?", json.dumps(numbers)]) as server:
            result = run_scenario(SQL, Scripted([PASS]), judge=judge(server), config=OFF)
        quality = {"answer_quality": 0.9, "factual_correctness": 1.0, "completeness": 0.5, "reasoning": "Good."}
        assert (result["quality"], result["status"]) == (quality, "scored")

    def test_a_failing_judge(self) -> None:
        """A judge that breaks is an error of the quality; what the workflow says stays."""

        class Broken:
            name, version = "broken", "1"

            async def ajudge(self, question: str, reference: Any, response: str | None) -> Any:
                raise ValueError("no")

        result = run_scenario(SQL, Scripted([PASS]), judge=Broken())
        assert (result["status"], result["pass"]) == ("error", True)
        assert result["reasons"] == ["quality: raised: ValueError: no"]
        assert result["quality"]["completeness"] is None

    def test_judges_that_give_no_scores(self) -> None:
        """A judge of verdicts, other scores, or none that is known is refused before anything is asked."""
        agent = Scripted([PASS])
        other = RubricJudge("m", dimensions={"tone": "is it polite?"})
        for wrong in ("local", "opnai:m", other, 3):
            with pytest.raises(UsageError):
                run_scenario(SQL, agent, judge=wrong)
        assert agent.cases == []

    def test_the_prompt_has_the_levels(self) -> None:
        """The prompt has the six levels of each of the three rubrics."""
        from adjudge.prompts import load_prompt

        prompt = load_prompt("evaluation/quality/v1")
        text = prompt.messages({"question": "", "criteria": [], "sources": [], "response": ""}, form="schema")[0].text
        levels = {
            "answer_quality": "excellent good adequate poor very-poor unacceptable",
            "factual_correctness": "perfect mostly-correct some-issues significant-issues major-issues "
            "completely-wrong",
            "completeness": "complete mostly-complete partially-complete incomplete minimal does-not-answer",
        }
        for name, words in levels.items():
            table = text[text.index(f"\n{name}:") :]
            found = re.findall(r"^  ([01]\.[0-9])  ([a-z ]+):", table, re.MULTILINE)[:6]
            assert [value for value, _ in found] == ["1.0", "0.8", "0.6", "0.4", "0.2", "0.0"]
            assert [word.replace(" ", "-") for _, word in found] == words.split()


class TestAgents:
    """Whatever the agent does is data; it sees the question and nothing of what is expected."""

    def test_failures(self) -> None:
        """An agent that raises is an error with its reason, and no verdict."""
        with ChatServer(good) as server:
            result = run_scenario(SQL, Scripted([ValueError("broken")]), judge=judge(server), config=OFF)
            assert server.counts.calls == 0
        assert (result["status"], result["pass"], result["workflow"]["pass"]) == ("error", None, None)
        assert result["reasons"] == ["agent-failed: raised: ValueError: broken"]
        assert result["quality"] == {**dict.fromkeys(QUALITY), "reasoning": None}
        assert re.fullmatch("[0-9a-f]{32}", result["trace_id"])

    def test_deadline(self) -> None:
        """An agent that takes longer than the scenario allows is an error."""

        async def hangs(question: str) -> str:
            await asyncio.sleep(60)
            return question

        result = run_scenario(Scenario("slow", "?", deadline=0.05), hangs)
        assert result["status"] == "error"
        assert result["reasons"] == ["agent-failed: deadline: the agent did not end within 0.05 seconds"]

    def test_what_the_agent_sees(self) -> None:
        """The agent is shown the question, its session and which repeat it is; no criteria, no references."""
        agent = Scripted([PASS])
        scenario = Scenario("s", "Why?", references=["secret"], expected_answer_criteria="secret", tags=["secret"])
        result = run_scenario(scenario, agent)
        (case,) = agent.cases
        assert "secret" not in repr(case)
        assert case.metadata == {"session_id": result["trace_id"], "scenario": "s", "repeat": 1}

    def test_http(self) -> None:
        """An agent behind HTTP gets its session, a new trace id each run, as its `traceparent` too."""
        reply = {"response": "DIN-SQL", "agents_called": ["research"], "tools_used": ["pdf_retrieval"]}
        with http_agent(reply) as (url, seen):
            results = [run_scenario(SQL, url) for _ in range(2)]
        assert [result["pass"] for result in results] == [True, True]
        for result, request in zip(results, seen, strict=True):
            assert re.fullmatch("[0-9a-f]{32}", result["trace_id"])
            assert request["session_id"] == result["trace_id"]
            assert request["traceparent"].split("-")[1] == result["trace_id"]
        assert results[0]["trace_id"] != results[1]["trace_id"]

    def test_turns(self) -> None:
        """The turns of a user are asked in one session, each with the history; what was called counts over all."""
        scenario = Scenario(
            "turns",
            turns=["What did it cost?", "The 2023 one."],
            agents_should_include=["clarification", "research"],
            clarification_expected=True,
            workflow={"agents_order": "in_order"},  # type: ignore[arg-type]  # a mapping becomes one
        )
        agent = Scripted([did("Which year?", ("clarification",)), did("5 euros.", ("research",))])
        with ChatServer(good) as server:
            result = run_scenario(scenario, agent, judge=judge(server), config=OFF)
            (call,) = server.calls
        assert (result["pass"], result["response"]) == (True, "5 euros.")
        assert [case.question for case in agent.cases] == ["What did it cost?", "The 2023 one."]
        assert len({case.metadata["session_id"] for case in agent.cases}) == 1
        assert [message.text for message in agent.histories[1]] == ["What did it cost?", "Which year?"]
        assert "The 2023 one." in call.prompt

    def test_agents_that_repeat_the_turns_before(self) -> None:
        """An agent that returns the whole conversation at every turn has each call counted once."""

        def whole(question: str, history: list[dict[str, Any]]) -> list[dict[str, Any]]:
            messages: list[dict[str, Any]] = []
            for said in [*history, {"role": "user", "content": question}]:
                messages.append(said)
                if said["role"] == "user":
                    messages.append({"role": "tool", "name": "search", "content": "found"})
            return [*messages, {"role": "assistant", "content": "yes"}]

        scenario = Scenario("s", turns=["a", "b", "c"], workflow={"tools_count": {"search": 3}})  # type: ignore[arg-type]
        assert run_scenario(scenario, whole)["reasons"] == []

    def test_saved_trajectories(self) -> None:
        """What an agent did before is judged in its place, in any form of a record; one that is missing is an error."""
        assert run_scenario(SQL, trajectory=PASS)["pass"] is True
        messages = [{"role": "tool", "name": "search", "content": "x"}, {"role": "assistant", "content": "y"}]
        scenario = Scenario("s", turns=["a", "b"], tools_should_include=["search"])
        done = run_scenarios([scenario, SQL], trajectories={"s": messages})
        assert [result["pass"] for result in done.results] == [True, None]
        assert done.results[1]["reasons"][0].startswith("agent-failed: no-trajectory: ")
        repeated = run_scenarios(SQL, trajectories={"sql": [PASS, did()]}, repeats=2)
        assert [result["pass"] for result in repeated.results] == [True, False]
        with pytest.raises(UsageError, match="give an agent"):
            run_scenario(SQL)
        kept = run_scenario(SQL, trajectory=Trajectory(trace_id="0af7651916cd43dd8448eb211c80319c"))
        assert kept["trace_id"] == "0af7651916cd43dd8448eb211c80319c"


@reward
def brevity(final_response: str | None) -> float:
    """1 for a short response."""
    return float(len(final_response or "") < 40)


@reward
def fails(final_response: str | None) -> float:
    """Break."""
    raise ValueError("broken")


class TestScorers:
    """Any scorer can stand in a scenario, registered or one's own."""

    def test_scorers(self) -> None:
        """Scorers get the response, the references and the metadata, and their arguments before these."""
        scenario = Scenario(
            "s",
            "Who?",
            references=["Jane Austen"],
            scorers=["qa_f1_reward", {"name": "contains_reward", "arguments": {"answer": "Emma"}}, brevity],
        )
        result = run_scenario(scenario, Scripted([did("Jane Austen")]))
        values = {name: score["value"] for name, score in result["scores"].items()}
        assert values == {"qa_f1_reward": 1.0, "contains_reward(answer='Emma')": 0.0, "brevity": 1.0}
        assert (result["status"], result["pass"]) == ("scored", False)
        assert result["reasons"] == ["contains_reward(answer='Emma'): below: it is 0, not 1"]

    def test_a_scorer_that_breaks(self) -> None:
        """It is an error of that scorer, said in words; the others are scored, and the workflow has its verdict."""
        result = run_scenario(Scenario("s", "Who?", scorers=[fails, brevity]), Scripted([did()]))
        assert (result["status"], result["pass"]) == ("error", True)
        assert result["scores"]["brevity"]["value"] == 1.0
        assert result["reasons"] == ["fails: raised: ValueError: broken"]


class TestRuns:
    """Many scenarios are one run: at once, as often as they say, resumable."""

    def test_repeats(self) -> None:
        """Every repeat is a result of its own, in order, with a trace of its own, and the counts add up."""
        agent = Scripted([PASS, did(), ValueError("x"), PASS])
        done = run_scenarios([SQL, Scenario("any", "?")], agent, repeats=2, config=RunConfig(workers=1))
        assert [(result["id"], result["repeat"]) for result in done.results] == [
            ("sql", 1),
            ("sql", 2),
            ("any", 1),
            ("any", 2),
        ]
        assert len({result["trace_id"] for result in done.results}) == 4
        assert sum(done.counts.values()) == sum(done.passes.values()) == 4
        assert done.passes["undecided"] == done.counts["error"] == 1

    def test_together(self) -> None:
        """Scenarios wait together, not one for the other."""
        barrier = asyncio.Barrier(8)

        async def waits(question: str) -> str:
            async with asyncio.timeout(60):
                await barrier.wait()
            return question

        done = run_scenarios([Scenario(f"s{number}", "?") for number in range(8)], waits)
        assert done.passes["passed"] == 8

    def test_resume(self, tmp_path: Path) -> None:
        """A run that is stopped by a refused key goes on with what it has: nothing is asked of the agent twice."""
        agent = Scripted([PASS])
        file = tmp_path / "check.run"
        with ChatServer(good, key="right") as server:
            with pytest.raises(RunStopped):
                run_scenarios([SQL], agent, judge=judge(server, "wrong"), run=file, config=OFF)
            first = run_scenarios([SQL], agent, judge=judge(server, "right"), run=file, config=OFF)
            again = run_scenarios([SQL], agent, judge=judge(server, "right"), run=file, config=OFF)
        assert len(agent.cases) == 1
        assert first.results == again.results
        assert (first.results[0]["status"], first.results[0]["trace_id"]) == (
            "scored",
            agent.cases[0].metadata["session_id"],
        )

    def test_a_scenario_that_was_changed(self, tmp_path: Path) -> None:
        """A run goes on only with the scenarios that it began with."""
        file = tmp_path / "check.run"
        run_scenarios([Scenario("s", "Why?", tools_should_include=["a"])], Scripted([did()]), run=file)
        with pytest.raises(RunError, match="name another run file"):
            run_scenarios([Scenario("s", "Why?", tools_should_include=["b"])], Scripted([did()]), run=file)

    def test_inside_an_event_loop(self) -> None:
        """There is an awaitable face; the other one says so instead of standing still."""

        async def inside() -> dict[str, Any]:
            with pytest.raises(UsageError, match="inside an event loop"):
                run_scenario(SQL, Scripted([PASS]))
            return await arun_scenario(SQL, Scripted([PASS]))

        assert asyncio.run(inside())["pass"] is True

    @pytest.mark.parametrize(
        "text", ["\x1b[31mred", "=1+1", "{{sources}}", "<script>", "../../x", "\ud800", "a\u2028b", "| x\n\n{}"]
    )
    def test_hostile_texts(self, text: str) -> None:
        """Whatever an agent writes comes back as it was written, and nothing else happens."""
        agent = Scripted([did(text, (text,), (text,))])
        scenario = Scenario("../../s", "{{question}}", agents_should_include=[text], tools_should_include=[text])
        with ChatServer(good) as server:
            result = run_scenario(scenario, agent, judge=judge(server), config=OFF)
        assert (result["id"], result["response"], result["pass"]) == ("../../s", text, True)
        assert result["workflow"]["tools"]["included"] == [text]

    def test_sessions_of_functions(self) -> None:
        """A function that wants the case finds its session there."""
        seen: list[str] = []

        def agent(case: Case) -> str:
            seen.append(case.metadata["session_id"])
            return "yes"

        assert run_scenario(Scenario("s", "?"), agent)["trace_id"] == seen[0]


class TestTraces:
    """The trace of a run is the agent's own."""

    def test_a_trace_of_its_own(self) -> None:
        """An agent that says under which trace it worked has its scores there; what is no name is not one."""
        plain = {"response": "!", "agents_called": [], "tools_used": []}
        for answer in ({**plain, "trace_id": "trace-7"}, {"messages": [], "trace_id": "trace-7"}):
            assert (
                run_scenario({"id": "a", "question": "?"}, lambda question, answer=answer: answer)["trace_id"]
                == "trace-7"
            )
        for odd in (None, "", 7, ["x"]):
            result = run_scenario({"id": "a", "question": "?"}, lambda question, odd=odd: {**plain, "trace_id": odd})
            assert re.fullmatch("[0-9a-f]{32}", result["trace_id"])

    def test_spans_of_a_function(self) -> None:
        """Spans that a function makes with OpenTelemetry are in the trace that the scores go to, one a run."""
        exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        tracer = provider.get_tracer("mine")

        def traced(question: str) -> dict[str, Any]:
            with tracer.start_as_current_span("answer"):
                return {"response": question, "agents_called": [], "tools_used": []}

        async def also_traced(question: str) -> dict[str, Any]:
            return traced(question)

        for agent in (traced, also_traced):
            exporter.clear()
            run = run_scenarios([{"id": "a", "turns": ["1", "2"]}, {"id": "b", "question": "3"}], agent)
            traces = [f"{span.context.trace_id:032x}" for span in exporter.get_finished_spans() if span.context]
            first, second = (result["trace_id"] for result in run.results)
            assert first != second
            assert sorted(traces) == sorted([first, first, second])
        assert not get_current_span().get_span_context().is_valid


_QUESTION = "Refund order 7, I am bob@mail.com"
STORED = [
    (_QUESTION, True),
    (f" {_QUESTION}\n", True),
    (f"{_QUESTION}\n\nContext: EU", None),
    ("Refund order 7, I am [EMAIL]", None),
    (_QUESTION.lower(), None),
]


def _called(tool: str) -> list[dict[str, Any]]:
    call = {"id": tool, "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return [
        {"role": "assistant", "name": "bot", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": tool, "content": "ok"},
        {"role": "assistant", "name": "bot", "content": "done"},
    ]


@pytest.mark.parametrize(("stored", "passed"), STORED)
def test_a_question_that_a_thread_stores_otherwise(stored: str, passed: bool | None) -> None:
    """Where the question is not found and turns may be before it, what they make a difference to is undecided."""
    asked = {"role": "user", "content": stored}
    thread = [{"role": "user", "content": "What is the rate?"}, *_called("rate"), asked, *_called("refund")]
    scenario = {"id": "a", "question": _QUESTION, "tools_should_include": ["refund"]}
    result = run_scenario(scenario, lambda _: {"response": "done", "messages": thread})
    assert result["pass"] is passed, result["reasons"]
    barred = {"id": "a", "question": _QUESTION, "tools_should_exclude": ["refund"]}
    assert run_scenario(barred, lambda _: {"response": "done", "messages": thread})["pass"] is False
    # Of one turn, and of turns that called the same, nothing is in doubt.
    for whole in (thread[4:], [asked, asked, *thread[4:]]):
        same = run_scenario(scenario, lambda _, whole=whole: {"response": "done", "messages": whole})
        assert same["pass"] is True, same["reasons"]


def test_an_answer_that_contains_itself() -> None:
    """Such an answer is an error of its scenario alone, and the others keep their verdicts."""

    def answer(question: str) -> Any:
        endless: list[Any] = [{"role": "user", "content": question}]
        endless.append({"role": "assistant", "content": endless})
        return endless if question == "bad" else {"response": "hi", "agents_called": [], "tools_used": ["search"]}

    scenarios = [{"id": one, "question": one, "tools_should_include": ["search"]} for one in ("good", "bad")]
    good, bad = run_scenarios(scenarios, answer).results
    assert (good["pass"], bad["pass"]) == (True, None)
    assert bad["reasons"] == [
        "agent-failed: bad-answer: its answer contains itself, or is nested too deeply to be written down"
    ]


def test_what_an_answer_says_and_what_its_messages_show() -> None:
    """Agents and tools that an answer names are joined with those of its messages: none of them hides another."""
    said = {"response": "done", "messages": [{"role": "user", "content": "Q?"}, *_called("delete")]}
    said |= {"agents_called": ["desk"], "tools_used": ["search"]}
    for kind, names in (("agents", ["desk", "bot"]), ("tools", ["delete", "search"])):
        for name in names:
            scenario = {"id": "a", "question": "Q?", f"{kind}_should_exclude": [name]}
            assert run_scenario(scenario, lambda _: said)["pass"] is False
        scenario = {"id": "a", "question": "Q?", f"{kind}_should_include": names}
        assert run_scenario(scenario, lambda _: said)["pass"] is True
