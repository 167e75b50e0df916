"""A run with thresholds ends once its cases have decided them, the same way whatever came back first."""

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import RunError, RunStopped, UsageError
from adjudge.judges import Calibration, LLMJudge
from adjudge.model import ChatReply, ChatRequest
from adjudge.rewards import reward
from adjudge.runs import RunConfig, RunResult, RunTask, evaluate, merge_runs, open_run, rescore_run
from adjudge.runs._plan import Plan, make_job
from adjudge.runs._run import run_session
from adjudge.runs._store import Store
from adjudge.testing import ChatCall, ChatServer, Fault, verdict
from runs.doubles import AskingJudge, Fatal, Model, rows

COUNT = 200


def config(least: float = 0.5, **more: Any) -> RunConfig:
    """Return a config that stops early, at a threshold on the judge's mean."""
    return RunConfig(**{"cache": "off", "thresholds": {"asking": least}, "stop_early": True, **more})


def number_in(prompt: str) -> int:
    """Return the number that a prompt asks about."""
    found = re.search(r"What is (\d+) \+ 1", prompt)
    assert found is not None
    return int(found[1])


def is_right(number: int) -> bool:
    """Eight of ten answers are right."""
    return number * 7 % 10 < 8


def say(prompt: str) -> str:
    """Judge by the number in the prompt."""
    return "CORRECT" if is_right(number_in(prompt)) else "WRONG"


def judged(folder: Path, name: str = "a.run", *, judge: Any = None, cases: Any = None, **more: Any) -> RunResult:
    """Judge rows until the threshold is decided."""
    named = {"config": config(), **more}
    return evaluate(
        list(rows(COUNT)) if cases is None else cases,
        judge=judge or AskingJudge(Model(say)),
        run=folder / name,
        **named,
    )


class Uneven(Model):
    """Answers right ones at once and wrong ones late."""

    answered = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer one request."""
        await asyncio.sleep(0.0 if is_right(number_in(request.messages[-1].text)) else 0.03)
        reply = await super().complete(request)
        self.answered += 1
        return reply


class TestDecided:
    """A threshold that the first cases settle spares the other ones."""

    def test_pass(self, tmp_path: Path) -> None:
        """Spared rows are neither scored nor failed, nothing else counts them, and the counts add up."""
        result = judged(tmp_path)
        early = result.summary.early
        assert early is not None
        assert early.verdict == "pass"
        assert early.spared > COUNT // 2
        assert result.counts == {"scored": COUNT - early.spared, "unscored": 0, "error": 0, "spared": early.spared}
        assert result.summary.rows == len(early.cases) == len(list(result.scores))
        assert [one.verdict for one in result.findings] == ["pass"]

    def test_fail(self, tmp_path: Path) -> None:
        """A mean below the threshold fails, with the interval that says so."""
        (finding,) = judged(tmp_path, config=config(0.95)).findings
        assert finding.verdict == "fail"
        assert finding.estimate is not None
        assert finding.estimate.high is not None
        assert finding.estimate.high < 0.95
        assert finding.reason.endswith("is below 0.95")

    def test_only_that_interval(self, tmp_path: Path) -> None:
        """The summary of a run that stopped early shows only intervals that hold at any time, or none."""
        result = judged(tmp_path, scorers=["qa_f1_reward"])
        other, tally = result.summary.tallies
        assert tally.mean is not None
        assert other.mean is not None
        assert tally.mean.method == "anytime"
        assert tally.mean.low is not None
        assert tally.mean.low > 0.5
        assert (other.mean.low, other.mean.high) == (None, None)

    def test_not_decided(self, tmp_path: Path) -> None:
        """Where every case was needed, the result is that of a run that may not stop early."""
        result = judged(tmp_path, config=config(0.8))
        plain = judged(tmp_path, "b.run", config=config(0.8, stop_early=False))
        assert result.summary.early is None
        assert result.summary == plain.summary
        assert result.findings == plain.findings
        assert [one.verdict for one in result.findings] == ["pass"]
        assert result.counts == {"scored": COUNT, "unscored": 0, "error": 0}

    def test_several(self, tmp_path: Path) -> None:
        """A pass needs every threshold, a fail only one, and what it left open is not decided."""

        @reward(range=(0.0, 1.0))
        def half(final_response: str) -> float:
            return float(int(final_response) % 2)

        both = {"asking": 0.5, "half": 0.3}
        result = judged(tmp_path, scorers=[half], config=config(thresholds=both))
        assert result.summary.early is not None
        assert {one.name: one.verdict for one in result.findings} == {"asking": "pass", "half": "pass"}
        result = judged(tmp_path, "b.run", scorers=[half], config=config(thresholds={"asking": 0.75, "half": 0.9}))
        assert {one.name: one.verdict for one in result.findings} == {"asking": None, "half": "fail"}


class TestOrder:
    """The order of decisions does not depend on which call came back first."""

    @pytest.mark.parametrize("least", [0.5, 0.72, 0.95])
    def test_workers(self, tmp_path: Path, least: float) -> None:
        """One worker and many, with wrong answers that come late, count the same cases and find the same."""
        found = [
            judged(tmp_path, f"{workers}.run", judge=AskingJudge(Uneven(say)), config=config(least, workers=workers))
            for workers in (1, 64)
        ]
        assert found[0].summary == found[1].summary
        assert open_run(found[0].file).early_stop == open_run(found[1].file).early_stop

    def test_seed(self, tmp_path: Path) -> None:
        """The seed gives the order, so that two runs over the same cases count common ones."""
        limits = [config(0.5, seed=0), config(0.5, seed=1), config(0.3, seed=0)]
        one, other, fewer = (judged(tmp_path, f"{at}.run", config=each).summary.early for at, each in enumerate(limits))
        assert one is not None
        assert other is not None
        assert fewer is not None
        assert one.cases != other.cases
        assert set(fewer.cases) < set(one.cases)

    def test_server(self, tmp_path: Path) -> None:
        """On real connections, where wrong answers take a second try, every number of workers decides the same."""
        results = []
        for workers in (1, 64):
            with ChatServer(_Late()) as server:
                judge = LLMJudge("m", base_url=server.base_url, api_key="k")
                limits = config(thresholds={"openai:m": 0.55}, workers=workers)
                results.append(judged(tmp_path, f"{workers}.run", judge=judge, config=limits))
        assert results[0].summary == results[1].summary
        assert results[0].summary.early is not None


class _Late:
    """A model that says at once what is right, and only when asked again what is wrong."""

    def __init__(self) -> None:
        self.seen: Counter[int] = Counter()

    def __call__(self, call: ChatCall) -> str | Fault:
        """Answer a call."""
        number = number_in(call.prompt)
        self.seen[number] += 1
        if is_right(number):
            return verdict(call, "CORRECT")
        return verdict(call, "WRONG") if self.seen[number] > 1 else Fault("503", retry_after_ms=120)


class TestInFlight:
    """Calls in flight when the run is decided end as those of any run that is stopped."""

    def test_replies_are_kept(self, tmp_path: Path) -> None:
        """Every reply that came is in the file, also those that came too late to count."""
        model = Uneven(say)
        result = judged(tmp_path, judge=AskingJudge(model), config=config(workers=64))
        assert result.summary.early is not None
        replies = [one for one in open_run(result.file).replies() if one.reply is not None]
        assert len(replies) == model.answered > len(result.summary.early.cases)

    def test_a_call_that_hangs(self, tmp_path: Path) -> None:
        """A call that does not come back holds no decision up, unless its row is needed for it."""
        early = judged(tmp_path).summary.early
        assert early is not None
        last = next(number for number in range(COUNT) if number not in early.cases)

        class Hanging(Model):
            async def complete(self, request: ChatRequest) -> ChatReply:
                if number_in(request.messages[-1].text) == last:
                    await asyncio.sleep(3600)
                return await super().complete(request)

        # Every row is in flight, this one too.
        result = judged(tmp_path, "b.run", judge=AskingJudge(Hanging(say)), config=config(workers=COUNT))
        assert result.summary.early == early


class TestClusters:
    """What belongs together is looked at together."""

    def test_conversations(self, tmp_path: Path) -> None:
        """A conversation is one cluster, wherever its turns are in the file, and is counted whole or not at all."""
        cases = [{**row, "conversation_id": f"c{index % 50}"} for index, row in enumerate(rows(COUNT))]
        early = judged(tmp_path, cases=cases).summary.early
        assert early is not None
        assert early.spared
        seen = Counter(number % 50 for number in early.cases)
        assert set(seen.values()) == {4}
        estimate = early.findings[0].estimate
        assert estimate is not None
        assert estimate.clusters == len(seen)

    def test_groups(self, tmp_path: Path) -> None:
        """Of a conversation and a group with one name, each is a cluster of its own."""
        cases = [
            {**row, ("conversation_id" if index % 2 else "group_id"): index // 4}
            for index, row in enumerate(rows(COUNT))
        ]
        early = judged(tmp_path, cases=cases).summary.early
        assert early is not None
        assert set(Counter((number % 2, number // 4) for number in early.cases).values()) == {2}

    def test_agent_conversation(self, tmp_path: Path) -> None:
        """Turns that an agent answers one after the other are asked in their order, whatever the order of all."""
        asked: list[tuple[int, int]] = []

        def agent(case: Any) -> str:
            asked.append((case.conversation_id, case.turn))
            return str(case.id)

        cases = [
            {"id": number, "question": "?", "answer": str(number), "conversation_id": number // 3, "turn": number % 3}
            for number in range(150)
        ]
        limits = config(thresholds={"": 0.5}, workers=4)
        result = evaluate(cases, agent=agent, scorers=["qa_em_reward"], run=tmp_path / "a.run", config=limits)
        assert result.summary.early is not None
        turns: dict[int, list[int]] = {}
        for conversation, turn in asked:
            turns.setdefault(conversation, []).append(turn)
        assert all(found == [0, 1, 2][: len(found)] for found in turns.values())
        assert len(turns) < 50


class TestFaults:
    """A fault never becomes a pass or a fail."""

    @pytest.mark.parametrize("least", [0.05, 0.95])
    def test_everything_fails(self, tmp_path: Path, least: float) -> None:
        """Where the model is down nothing is decided, however low or high the threshold is."""
        result = judged(tmp_path, judge=AskingJudge(Model(lambda _: RuntimeError("down"))), config=config(least))
        assert result.counts == {"scored": 0, "unscored": 0, "error": COUNT}
        assert [one.verdict for one in result.findings] == [None]

    @pytest.mark.parametrize("least", [0.05, 0.95])
    def test_any_share_may_be_missing(self, tmp_path: Path, least: float) -> None:
        """That holds even where all rows may lack a score: they count as the worst for a pass, the best for a fail."""
        limits = config(least, max_unscored=1.0)
        result = judged(tmp_path, judge=AskingJudge(Model(lambda _: RuntimeError("down"))), config=limits)
        assert [one.verdict for one in result.findings] == [None]

    def test_too_many_missing(self, tmp_path: Path) -> None:
        """While more rows than allowed have no score nothing is decided, and the run goes through all of them."""

        def some(prompt: str) -> str:
            return "dunno" if number_in(prompt) % 2 == 0 else "CORRECT"

        assert judged(tmp_path, judge=AskingJudge(Model(some)), config=config(0.2)).summary.early is None
        allowed = judged(tmp_path, "b.run", judge=AskingJudge(Model(some)), config=config(0.2, max_unscored=0.9))
        assert allowed.summary.early is not None
        assert allowed.summary.early.verdict == "pass"

    def test_missing_counts_as_worst(self, tmp_path: Path) -> None:
        """Rows without a score are needed to be right for a pass, so more rows are asked."""

        def some(prompt: str) -> str:
            return "dunno" if number_in(prompt) % 5 == 0 else say(prompt)

        limits = config(max_unscored=0.5)
        with_missing = judged(tmp_path, judge=AskingJudge(Model(some)), config=limits).summary.early
        without = judged(tmp_path, "b.run", config=limits).summary.early
        assert with_missing is not None
        assert without is not None
        assert len(with_missing.cases) > len(without.cases)

    def test_refused_key(self, tmp_path: Path) -> None:
        """A refused key stops the run and decides nothing; with a good one it goes on to the decision."""
        model = Model(lambda prompt: Fatal("no") if number_in(prompt) == 7 else say(prompt))
        with pytest.raises(RunStopped):
            judged(tmp_path, judge=AskingJudge(model), config=config(0.72))
        assert open_run(tmp_path / "a.run").early_stop is None
        resumed = judged(tmp_path, config=config(0.72))
        assert resumed.summary == judged(tmp_path, "b.run", config=config(0.72)).summary


class TestResume:
    """A run that was interrupted comes to the same decision."""

    @pytest.mark.parametrize("calls", [1, 20, 45])
    def test_budget(self, tmp_path: Path, calls: int) -> None:
        """A budget that is spent decides nothing; with more, the same cases count as in a run of one session."""
        whole = judged(tmp_path, "whole.run", config=config(0.72))
        with pytest.raises(RunStopped):
            judged(tmp_path, config=config(0.72, max_calls=calls))
        assert judged(tmp_path, config=config(0.72)).summary == whole.summary

    def test_again(self, tmp_path: Path) -> None:
        """A run that was decided asks nobody when it is resumed, and says the same."""
        first = judged(tmp_path)
        model = Model(say)
        again = judged(tmp_path, judge=AskingJudge(model))
        assert model.calls == 0
        assert again.summary == first.summary
        assert again.counts == first.counts

    def test_to_the_end(self, tmp_path: Path) -> None:
        """Without stop_early, the same run file is worked through to the end."""
        assert judged(tmp_path).summary.early is not None
        whole = judged(tmp_path, config=config(stop_early=False))
        plain = judged(tmp_path, "b.run", config=config(stop_early=False))
        assert whole.summary == plain.summary
        assert open_run(tmp_path / "a.run").early_stop is None

    def test_other_threshold(self, tmp_path: Path) -> None:
        """With another threshold the same file is decided again, from the same order."""
        assert judged(tmp_path).summary.early is not None
        again = judged(tmp_path, config=config(0.95))
        assert again.summary == judged(tmp_path, "b.run", config=config(0.95)).summary


class TestReading:
    """A run file says which cases were spared."""

    def test_spared(self, tmp_path: Path) -> None:
        """Spared cases have no scores, even where an answer came after the decision."""
        run = open_run(judged(tmp_path, config=config(workers=64)).file)
        early = run.early_stop
        assert early is not None
        with Store.read(run.file) as store:
            assert len(store.scores(0, COUNT)) > len(early.cases)
        spared = [case.id for case in run.spared()]
        assert len(spared) == early.spared
        assert [row.case.id for row in run.rows() if row.scores is None] == spared
        assert not {row.id for row in run.scores()} & set(spared)

    def test_state(self, tmp_path: Path) -> None:
        """A run that was decided is done, with its spared rows counted apart."""
        state = judged(tmp_path).file
        run = open_run(state)
        assert run.state.state == "done"
        assert run.state.done == COUNT
        assert run.counts["spared"] == run.state.counts["spared"] > 0  # type: ignore[index]

    def test_rescore(self, tmp_path: Path) -> None:
        """Scoring it again scores what counted, and warns that the sample was not chosen for that."""
        file = judged(tmp_path).file
        early = open_run(file).early_stop
        assert early is not None
        done = rescore_run(str(file), scorers=["qa_f1_reward"], run=str(tmp_path / "again.run"))
        assert done.summary is not None
        assert done.summary.rows == len(early.cases)
        assert any("decided early" in warning for warning in done.warnings)

    def test_merge(self, tmp_path: Path) -> None:
        """A run that was decided early is not a shard; one that needed all its cases is."""
        files = [judged(tmp_path, f"{n}.run", cases=list(rows(100, 100 * n))).file for n in range(2)]
        with pytest.raises(UsageError, match=r"0\.run was decided early.*without --stop-early"):
            merge_runs(tmp_path / "all.run", files)
        for n in range(2):
            judged(tmp_path, f"{n}.run", cases=list(rows(100, 100 * n)), config=config(stop_early=False))
        assert merge_runs(tmp_path / "all.run", files).cases == COUNT

    @pytest.mark.parametrize(
        "change",
        [
            {"total": 5},
            {"cases": []},
            {"cases": [3, 2]},
            {"cases": [-1, 2]},
            {"cases": [0, COUNT]},
            {"cases": "all"},
            {"verdict": "maybe"},
            {"findings": 7},
        ],
    )
    def test_damaged(self, tmp_path: Path, change: dict[str, Any]) -> None:
        """A decision that does not fit the file's cases is damage, named with the file."""
        from adjudge.runs._records import EARLY, write_meta

        file = judged(tmp_path).file
        with Store.write(file) as store:
            store.commit([write_meta(EARLY, {**store.meta(EARLY), **change})])
        with pytest.raises(RunError, match=r"a\.run: its early decision"):
            _ = open_run(file).summary


class TestRefused:
    """What could not be right is refused before anything is asked."""

    @pytest.mark.parametrize(
        ("limits", "words"),
        [
            ({"thresholds": {}}, "give a threshold"),
            ({"thresholds": {"asknig": 0.5}}, "did you mean"),
            ({"thresholds": {"": 0.5}}, "name the score"),
            ({"thresholds": (("asking", 0.5), ("asking", 0.6))}, "two thresholds"),
            ({"thresholds": {"asking": float("nan")}}, "must be a number"),
            ({"thresholds": {"open": 0.5}}, "open has no range"),
        ],
    )
    def test_thresholds(self, tmp_path: Path, limits: dict[str, Any], words: str) -> None:
        """A threshold needs a score that there is, once, with a number, and to stop early, a range."""

        @reward(name="open")
        def free(final_response: str) -> float:
            return float(final_response)

        model = Model(say)
        with pytest.raises(UsageError, match=words):
            judged(tmp_path, judge=AskingJudge(model), scorers=[free], config=config(**limits))
        assert model.calls == 0
        assert not (tmp_path / "a.run").exists()

    def test_no_range_in_the_end(self, tmp_path: Path) -> None:
        """Without stop_early a score needs no range."""

        @reward(name="open")
        def free(final_response: str) -> float:
            return float(final_response)

        limits = config(thresholds={"open": 50}, stop_early=False)
        (finding,) = judged(tmp_path, scorers=[free], config=limits).findings
        assert finding.verdict == "pass"

    def test_canaries(self) -> None:
        """Canaries and early stopping exclude one another."""
        with pytest.raises(UsageError, match="canaries"):
            config(canaries=0.1)

    def test_stream(self, tmp_path: Path) -> None:
        """Rows of standard input come in one order, so they cannot be sampled."""
        job = make_job(scorers=["qa_f1_reward"])
        limits = config(thresholds={"": 0.5})
        with pytest.raises(UsageError, match="standard input"):
            asyncio.run(run_session(RunTask(tmp_path / "a.run", job, Plan(), limits, "-")))

    def test_calibration(self, tmp_path: Path) -> None:
        """A corrected mean needs all rows."""
        known = Calibration("asking", "1", 0, {}, None, None)
        job = make_job(judge=AskingJudge())
        with pytest.raises(UsageError, match="corrected mean"):
            asyncio.run(run_session(RunTask(tmp_path / "a.run", job, Plan(), config(), (), calibration=known)))


def test_no_cases(tmp_path: Path) -> None:
    """A run without cases decides nothing."""
    result = judged(tmp_path, cases=[])
    assert [one.verdict for one in result.findings] == [None]
