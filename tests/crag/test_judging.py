"""Phase 2: what needs a judge, what a judge's failures become, and that nothing else changes a label."""

import asyncio
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adjudge.crag import config
from adjudge.crag._judging import judge_of
from adjudge.crag.evaluator import CRAGEvaluator
from adjudge.crag.llm_judge import LLMJudge
from adjudge.errors import DataError, RowError, RunError, RunStopped, UsageError
from adjudge.runs import RunConfig
from adjudge.testing import ChatCall, ChatServer, Fault
from crag.worlds import Batches, by_color, dataset

QUICK = RunConfig(deadline=20.0, cache="off")


def turn(number: int, response: str, truth: str = "red", **more: Any) -> dict[str, Any]:
    """Return one turn of a conversation of its own."""
    return {
        "session_id": f"s{number:03}",
        "query": f"Color {number}?",
        "ground_truth": truth,
        "agent_response": response,
    } | more


def answered(count: int) -> list[dict[str, Any]]:
    """Return the turns of some conversations with the answers of a middling agent."""
    evaluator = CRAGEvaluator(dataset(count), Batches(16))
    evaluator.generate_agent_responses()
    return evaluator.all_turn_data or []


def judged_by(server: ChatServer, turns: list[dict[str, Any]], **options: Any) -> tuple[Any, dict[str, Any]]:
    """Evaluate turns with the server as the judge."""
    options = {"eval_base_url": server.base_url, "eval_api_key": "key", "config": QUICK, **options}
    return CRAGEvaluator(eval_model_name="m", **options).evaluate_agent_responses(turns)


def test_only_what_needs_it_is_judged() -> None:
    """Misses and exact matches cost no call; what is left is asked once, with its reply in `api_response`."""
    turns = [turn(0, " RED "), turn(1, "I don’t  know"), turn(2, "It is crimson."), turn(3, "It is purple.")]
    turns.append(turn(4, "I do not know", truth="I don't know."))
    with ChatServer(by_color) as server:
        rows, scores = judged_by(server, turns)
        assert server.counts.calls == 2
        body = server.calls[0].json
    assert body["max_tokens"] == config.MAX_EVAL_TOKENS == 1024
    assert [row["is_correct"] for row in rows] == [True, False, True, False, True]
    assert [row["is_miss"] for row in rows] == [False, True, False, False, False]
    assert [row["is_exact_match"] for row in rows] == [True, False, False, False, False]
    assert [row["is_semantically_correct"] for row in rows] == [True, False, True, False, True]
    assert [row["api_response"] is None for row in rows] == [True, True, False, False, True]
    reply = rows[3]["api_response"]
    assert reply == {
        "accuracy": False,
        "verdict": "WRONG",
        "status": "scored",
        "reason": "as scripted: WRONG",
        "raw": reply["raw"],
        "judge": "openai:m",
        "prompt_hash": reply["prompt_hash"],
        "calls": 1,
    }
    assert "WRONG" in reply["raw"]
    assert scores["about"]["semantic_evaluation"] == "on"
    assert scores["about"]["judge"].startswith("openai:m ")


def test_the_judge_alone() -> None:
    """`LLMJudge.evaluate` gives the mapping that the column holds, and bounds attempts and tokens."""
    with ChatServer(by_color) as server:
        judge = LLMJudge("m", "key", server.base_url)
        found = judge.evaluate("Color 3?", "red", "It is purple.")
        rows, _ = judged_by(server, [turn(3, "It is purple.")])
    assert rows[0]["api_response"] == found
    with ChatServer(Fault("503", retry_after=0.01)) as server:
        found = LLMJudge("m", "key", server.base_url).evaluate("Color?", "red", "It is purple.")
        assert server.counts.calls == config.MAX_API_RETRIES == 3
    assert (found["status"], found["verdict"], found["accuracy"]) == ("error", None, None)


def test_attempts_are_bounded_in_a_run_too() -> None:
    """A call of the judge in an evaluation gets MAX_API_RETRIES attempts."""
    with ChatServer(Fault("503", retry_after=0.01)) as server:
        rows, _ = judged_by(server, [turn(0, "It is purple.")])
        assert server.counts.calls == 3
    assert rows[0]["status"] == "unscored"


def half_way(call: ChatCall) -> str | Fault:
    """Judge until the twentieth call, then fail."""
    return by_color(call) if call.number < 20 else Fault("500")


def test_outage_half_way(tmp_path: Path) -> None:
    """A judge that fails half-way leaves turns unscored, never wrong, and they can be asked again."""
    turns = answered(40)
    with ChatServer(by_color) as server:
        whole, expected = judged_by(server, turns)
    with ChatServer(half_way) as server:
        rows, scores = judged_by(server, turns, run_dir=tmp_path)
    missing = [row for row in rows if row["status"] == "unscored"]
    assert len(missing) == scores["all"]["unscored"] > 10
    assert not any(row["is_correct"] or row["is_miss"] for row in missing)
    assert all(row["api_response"]["status"] == "error" for row in missing)
    assert scores["all"]["total"] == len(turns) - len(missing)
    same = {row["interaction_id"]: row for row in whole}
    assert all(row == same[row["interaction_id"]] for row in rows if row["status"] == "scored")
    with ChatServer(by_color) as server:
        again, _ = judged_by(server, turns, run_dir=tmp_path)
        assert server.counts.calls == 0
        assert list(again) == list(rows)
        mended, scores = judged_by(server, turns, run_dir=tmp_path, retry_failed=True)
        assert server.counts.calls == len(missing)
    assert scores == expected
    assert list(mended) == list(whole)


def test_a_refused_key_stops() -> None:
    """A key that is refused stops the evaluation at once, and says how to go on where that is possible."""
    with ChatServer(Fault("401")) as server:
        with pytest.raises(RunStopped) as stopped:
            judged_by(server, answered(20))
        assert server.counts.calls <= 2
    assert stopped.value.code == "unauthorised"


@pytest.mark.parametrize("reply", ["INCORRECT", "CORRECT or WRONG?", "", Fault("refusal"), Fault("html")])
def test_unreadable_verdicts(reply: Any) -> None:
    """A verdict that cannot be read is none: the turn is unscored, and the evaluation ends well."""
    with ChatServer(reply) as server:
        rows, scores = judged_by(server, [turn(0, "It is purple."), turn(1, "red")])
    assert [row["status"] for row in rows] == ["unscored", "scored"]
    assert scores["all"]["total"] == 1
    assert scores["all"]["hallucination"] == 0


def test_workers_and_order_change_nothing(tmp_path: Path) -> None:
    """1 and 8 workers, and turns in any order, give the same files, byte for byte."""
    turns = answered(40)
    shuffled = random.Random(3).sample(turns, len(turns))  # noqa: S311 (no secret)
    with ChatServer(by_color, latency_s=0.02) as server:
        for folder, workers, given in (("1", 1, turns), ("8", 8, shuffled)):
            evaluator = CRAGEvaluator(
                eval_model_name="m", eval_base_url=server.base_url, num_workers=workers, config=QUICK
            )
            results, scores = evaluator.evaluate_agent_responses(given)
            evaluator.save_results(results, scores, tmp_path / folder)
        assert 1 < server.counts.max_in_flight <= 8
    for name in ("turn_evaluation_results_all.csv", "turn_evaluation_results_ego.csv", "scores_dictionary.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "8" / name).read_bytes()


def test_without_a_key() -> None:
    """For want of a key, semantic evaluation is off and a warning says so; generating alone does not warn."""
    turns = answered(8)
    evaluator = CRAGEvaluator(dataset(2), Batches())
    with pytest.warns(UserWarning, match=r"off: there is no key for gpt-4o; set OPENAI_API_KEY"):
        evaluator.initialize_evaluation()
    _, scores = evaluator.evaluate_agent_responses(turns)
    assert scores["about"]["semantic_evaluation"] == "off"
    assert scores["about"]["judge"] is None
    assert scores["all"]["correct"] == scores["all"]["correct_exact"]


@pytest.mark.parametrize(
    ("name", "judge"),
    [
        ("gpt-4o", "openai:gpt-4o"),
        (" openai:gpt-4o ", "openai:gpt-4o"),
        ("ft:gpt-4o:us::1", "openai:ft:gpt-4o:us::1"),
        ("llama3:8b", "openai:llama3:8b"),
        ("anthropic:claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("local", "local:1"),
        ("local:0", "local:0"),
        ("panel:local:0,openai:gpt-4o", "panel:local:0,openai:gpt-4o"),
        ("cascade:local,openai:gpt-4o", "cascade:local:1,openai:gpt-4o"),
    ],
)
def test_names_of_judges(name: str, judge: str) -> None:
    """A bare name, whatever stands in it, is a model behind an OpenAI-compatible endpoint; others say what they are."""
    found, why = judge_of(name, api_key="key")
    assert found is not None
    assert (found.name, why) == (judge, None)
    assert judge_of(found) == (found, None)
    for member in getattr(found, "members", (found,)):
        assert getattr(member, "attempts", 3) == 3


def test_what_switches_the_judge_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, or an address, from the arguments or the environment is enough; an empty one is none."""
    assert judge_of("m", api_key="", base_url="")[0] is None
    assert judge_of("m", base_url="http://localhost:1/v1")[0] is not None
    for variable in ("OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_BASE_URL"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "something")
            assert judge_of("m")[0] is not None
            assert judge_of("anthropic:m")[0] is None
    with pytest.raises(UsageError, match="does not name a model"):
        judge_of("")


def test_switched_off() -> None:
    """None as the model switches semantic evaluation off, without a warning, and the scores say so."""
    _, scores = CRAGEvaluator(eval_model_name=None).evaluate_agent_responses([turn(0, "crimson"), turn(1, "red")])
    assert scores["about"]["semantic_evaluation"] == "off"
    assert (scores["all"]["correct"], scores["all"]["hallucination"]) == (1, 1)


def test_the_local_judge() -> None:
    """`local` judges in the package: no key, no call."""
    rows, scores = CRAGEvaluator(eval_model_name="local:0").evaluate_agent_responses(
        [turn(0, "It is red."), turn(1, "It is blue.")]
    )
    assert [row["is_correct"] for row in rows] == [True, False]
    assert rows[0]["api_response"]["judge"] == "local:0"
    assert scores["about"]["judge"] == "local:0 8"
    assert "kappa" in scores["about"]["judge_agreement"]


def test_other_scorers() -> None:
    """Registered scorers are asked about every turn and aggregated beside the metrics; failed turns have no number."""

    def brevity(final_response: str, domain: int) -> float:
        """Like short answers."""
        return 1.0 if len(final_response) < 5 else 0.0

    turns = [turn(0, "red", domain=1), turn(1, "scarlet", domain=1), turn(2, "", domain=1, fault="agent-failed: x")]
    evaluator = CRAGEvaluator(eval_model_name="local", scorers=["qa_f1_reward", brevity])
    rows, scores = evaluator.evaluate_agent_responses(turns)
    assert {name: found["mean"] for name, found in scores["all"]["scorers"].items()} == {
        "qa_f1_reward": 0.5,
        "brevity": 0.5,
    }
    assert scores["all"]["scorers"]["brevity"]["errors"] == 1
    assert rows[2]["status"] == "error"


def test_rule_scope() -> None:
    """`all` applies the two-wrong rule before everything; by default it counts in the conversation score alone."""
    labels = ["red", "blue", "blue", "red", "red"]
    turns = [turn(0, label, turn_idx=index, interaction_id=str(index)) for index, label in enumerate(labels)]
    for scope, correct in (("conversation", 3), ("all", 1)):
        rows, scores = CRAGEvaluator(eval_model_name="local", rule_scope=scope).evaluate_agent_responses(turns)  # type: ignore[arg-type]
        assert scores["all"]["correct"] == correct == sum(row["is_correct"] for row in rows)
        assert scores["all"]["mean_multi_turn_conversation_score"] == pytest.approx(-0.2)
        assert scores["about"]["rule_scope"] == scope


def test_bad_turns(tmp_path: Path) -> None:
    """Turns that cannot be used are named: by their place, their field, or their double."""
    evaluator = CRAGEvaluator(eval_model_name="local")
    with pytest.raises(RowError, match=r"turn 2: there is no field 'ground_truth'"):
        evaluator.evaluate_agent_responses([turn(0, "x"), {"session_id": "s", "query": "?", "agent_response": ""}])
    with pytest.raises(DataError, match="session 's000' has two turns 0"):
        evaluator.evaluate_agent_responses([turn(0, "x", turn_idx=0), turn(0, "y", turn_idx=0)])
    with pytest.raises(DataError, match="interaction_id 'i' appears twice"):
        evaluator.evaluate_agent_responses([turn(n, "x", interaction_id="i") for n in (0, 1)])
    with pytest.raises(UsageError, match="nothing to evaluate"):
        evaluator.evaluate_agent_responses()
    with pytest.raises(UsageError, match="nothing to save"):
        evaluator.save_turn_data(tmp_path / "x.jsonl")
    (tmp_path / "turns.jsonl").write_text(f"{json.dumps(turn(0, 'x'))}\n{{cut\n{json.dumps(turn(1, 'x'))}\n")
    with pytest.raises(RowError, match="line 2"):
        evaluator.load_turn_data(tmp_path / "turns.jsonl")
    rows, scores = evaluator.evaluate_agent_responses([])
    assert len(rows) == 0
    assert scores["all"]["accuracy"] == 0.0
    assert scores["about"]["responses_cut"] is None


def test_another_judge_needs_another_folder(tmp_path: Path) -> None:
    """Going on with other turns, or another judge, is refused."""
    CRAGEvaluator(eval_model_name="local", run_dir=tmp_path).evaluate_agent_responses([turn(0, "crimson")])
    with pytest.raises(RunError, match=r"other scorers or judge .*: name another folder$"):
        CRAGEvaluator(eval_model_name=None, run_dir=tmp_path).evaluate_agent_responses([turn(0, "crimson")])
    with pytest.raises(RunError, match="other cases"):
        CRAGEvaluator(eval_model_name="local", run_dir=tmp_path).evaluate_agent_responses([turn(1, "crimson")])


def test_retried_answers_are_judged_anew(tmp_path: Path) -> None:
    """When a failed turn was answered after all, the turns are judged again, and the older run is kept."""
    failed = [turn(0, "crimson"), turn(1, "", fault="agent-failed: x")]
    CRAGEvaluator(eval_model_name="local", run_dir=tmp_path).evaluate_agent_responses(failed)
    evaluator = CRAGEvaluator(eval_model_name="local", run_dir=tmp_path, retry_failed=True)
    rows, _ = evaluator.evaluate_agent_responses([turn(0, "crimson"), turn(1, "red")])
    assert [row["status"] for row in rows] == ["scored", "scored"]
    assert (tmp_path / "evaluate.run.before").exists()


def test_inside_an_event_loop() -> None:
    """The evaluator works where an event loop runs already, as in a notebook."""

    async def cell() -> dict[str, Any]:
        evaluator = CRAGEvaluator(dataset(3), Batches(), eval_model_name="local")
        return evaluator.evaluate_agent()[1]

    assert asyncio.run(cell())["all"]["total"] == 6


def test_the_judge_alone_inside_an_event_loop() -> None:
    """`LLMJudge.evaluate` can be called where an event loop runs, in a notebook say, like everything else here."""

    async def cell(judge: LLMJudge) -> Any:
        return judge.evaluate("Color?", "red", "crimson")

    with ChatServer() as server:
        assert asyncio.run(cell(LLMJudge("m", "key", server.base_url)))["verdict"] == "CORRECT"


def test_progress_is_told() -> None:
    """Callbacks are told how many turns are done, and of how many."""
    told: list[tuple[int, int]] = []
    evaluator = CRAGEvaluator(dataset(5), Batches(), eval_model_name="local")
    evaluator.generate_agent_responses(lambda done, total: told.append((done, total)))
    assert told[-1] == (11, 11)
    evaluator.evaluate_agent_responses(progress_callback=lambda done, total: told.append((-done, total)))
    assert told[-1] == (-11, 11)


def test_the_tier_is_said_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores by `local` say which tier judged and how far to trust it; another tier does not go on with their run."""
    turns = [turn(0, "It is crimson."), turn(1, "It is red.")]
    _, scores = CRAGEvaluator(eval_model_name="local", run_dir=tmp_path).evaluate_agent_responses(turns)
    assert scores["about"]["judge"].startswith("local:1 ")
    assert "local judge, tier 1; agreement with people" in scores["about"]["judge_agreement"]
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(RunError, match=r"local:1 \d+, not .*local:0 \d+"):
        CRAGEvaluator(eval_model_name="local", run_dir=tmp_path).evaluate_agent_responses(turns)


def test_saved_turns_need_nothing_else(tmp_path: Path) -> None:
    """Evaluating saved turns loads no tokenizer, no agents, no data set library and no HTTP client."""
    (tmp_path / "turns.jsonl").write_text(json.dumps(turn(0, "crimson")) + "\n")
    code = f"""
import sys
from adjudge.crag.evaluator import CRAGEvaluator
evaluator = CRAGEvaluator(dataset=None, agent=None, eval_model_name="local:0")
results, scores = evaluator.evaluate_agent_responses(evaluator.load_turn_data({str(tmp_path / "turns.jsonl")!r}))
evaluator.save_results(results, scores, {str(tmp_path / "results")!r})
unwanted = ("adjudge.crag._agent", "adjudge.crag._generate", "adjudge.agents._functions",
            "datasets", "pyarrow", "pandas", "PIL", "numpy", "tokenizers", "transformers", "aiohttp", "openai")
print([name for name in unwanted if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
