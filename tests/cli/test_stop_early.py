"""`--threshold` and `--stop-early`, as a person and CI call them."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge import open_run
from adjudge.testing import ChatServer
from cli.checking import write_scenarios
from cli.command import PATIENCE, adjudge, said, write
from cli.judging import KEY, arguments, begin, by_number, lines, write_rows
from sinks.junit_rules import check_junit

AGENT = ("--agent", "agent:answer", "--run", "check.run", "--stop-early")


def decided(output: bytes) -> tuple[int, int, int]:
    """Return the numbers of a line that says how a run was decided early."""
    found = re.search(rb"after ([\d,]+) of ([\d,]+) \w+; ([\d,]+) were spared", output)
    assert found is not None, output
    counted, total, spared = (int(one.replace(b",", b"")) for one in found.groups())
    assert counted + spared == total
    return counted, total, spared


class TestJudgeRun:
    """`adjudge judge run`, where two of three rows are right."""

    @pytest.mark.parametrize(("least", "code"), [("0.5", 0), ("openai:m=0.5", 0), ("0.8", 1)])
    def test_threshold(self, tmp_path: Path, least: str, code: int) -> None:
        """A threshold alone judges every row, and the exit code is 1 where the mean is below it."""
        write_rows(tmp_path / "rows.jsonl", 30)
        with ChatServer(by_number) as server:
            done = adjudge(*arguments(server, "--threshold", least), cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
        assert done.returncode == code, done.stderr
        assert len(lines(tmp_path / "out.jsonl")) == 30
        word = "FAIL" if code else "pass"
        assert f"{word}: openai:m 0.6667 (n 30, 95 % interval" in done.stdout.decode()

    def test_a_finished_run_is_not_stopped(self, tmp_path: Path) -> None:
        """Where every row has its score already, all of them decide, whatever the first ones would have shown."""
        write_rows(tmp_path / "rows.jsonl", 60)
        with ChatServer(by_number) as server:
            whole = adjudge(*arguments(server, "--threshold", "0.7"), cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            early = arguments(server, "--threshold", "0.7", "--stop-early")
            again = adjudge(*early, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            assert server.counts.calls == 60
        assert (whole.returncode, again.returncode) == (1, 1)
        assert b"decided early" not in again.stdout
        assert len(lines(tmp_path / "out.jsonl")) == 60

    @pytest.mark.parametrize("least", ["80", "-1"])
    def test_a_threshold_outside_the_range(self, tmp_path: Path, least: str) -> None:
        """What no score can reach, or miss, is a wrong call and not a bad agent."""
        write_rows(tmp_path / "rows.jsonl", 3)
        with ChatServer(by_number) as server:
            done = adjudge(*arguments(server, "--threshold", least), cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            assert server.counts.calls == 0
        assert done.returncode == 2
        assert f"the threshold of openai:m is {least}, and its scores lie between 0 and 1" in done.stderr.decode()

    @pytest.mark.parametrize(("least", "code", "verdict"), [("0.4", 0, "PASS"), ("0.9", 1, "FAIL")])
    def test_stop_early(self, tmp_path: Path, least: str, code: int, verdict: str) -> None:
        """With --stop-early rows are spared, the output has the rows that count, and the screen says how many."""
        write_rows(tmp_path / "rows.jsonl", 200)
        early = ("--threshold", least, "--stop-early", "--workers", "4")
        with ChatServer(by_number) as server:
            done = adjudge(*arguments(server, *early), cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            calls = server.counts.calls
        assert done.returncode == code, done.stderr
        assert f"decided early: {verdict} after" in done.stdout.decode()
        counted, total, _ = decided(done.stdout)
        assert total == 200
        assert counted <= calls < 200
        assert len(lines(tmp_path / "out.jsonl")) == counted
        # Everything that reads the run says the same, and resuming it asks nobody.
        shown = adjudge("show", "a.run", cwd=tmp_path)
        assert decided(shown.stdout) == decided(done.stdout)
        assert b"done: 200 of 200 rows" in shown.stdout
        listed = adjudge("runs", ".", cwd=tmp_path)
        assert f"{200 - counted} spared" in listed.stdout.decode()
        resumed = adjudge("resume", "a.run", "--out", "again.jsonl", cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
        assert resumed.returncode == code
        assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()

    def test_kill_and_resume(self, tmp_path: Path) -> None:
        """A run that is killed on its way to the decision comes to the same one, with the same rows."""
        write_rows(tmp_path / "rows.jsonl", 300)
        early = ("--threshold", "0.63", "--stop-early", "--workers", "8")
        with ChatServer(by_number, latency_s=0.1) as server:
            whole = adjudge(*arguments(server, *early, run="whole.run"), cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            before = server.counts.calls
            process = begin(tmp_path, *arguments(server, *early, out="cut.jsonl"))
            deadline = time.monotonic() + PATIENCE
            while server.counts.calls < before + 30 and time.monotonic() < deadline:
                time.sleep(0.01)
            process.kill()
            process.communicate(timeout=PATIENCE)
            assert open_run(tmp_path / "a.run").early_stop is None
            resumed = adjudge("resume", "a.run", "--out", "again.jsonl", cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
        assert (whole.returncode, resumed.returncode) == (0, 0), resumed.stderr
        assert decided(resumed.stdout) == decided(whole.stdout)
        assert decided(whole.stdout)[0] > 100
        assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()

    def test_undecided(self, tmp_path: Path) -> None:
        """Where the endpoint is down nothing is decided: exit code 3, neither 0 nor 1."""
        write_rows(tmp_path / "rows.jsonl", 10)
        with ChatServer() as server:
            named = arguments(server, "--threshold", "0.1", "--stop-early", "--deadline", "2")
        done = adjudge(*named, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
        assert done.returncode == 3
        assert b"were spared" not in done.stdout

    def test_stopped(self, tmp_path: Path) -> None:
        """A run that a budget stopped passes and fails nothing, whatever its mean is so far."""
        write_rows(tmp_path / "rows.jsonl", 30)
        for least in ("0.1", "0.9"):
            options = ("--threshold", least, "--max-calls", "29", "--workers", "1", "--max-unscored", "50%")
            with ChatServer(by_number) as server:
                named = arguments(server, *options, run=f"{least}.run")
                done = adjudge(*named, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
            assert done.returncode == 3
            assert b"open: openai:m" in done.stdout

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--stop-early"], "give a threshold"),
            (["--stop-early", "--threshold", "0.5", "--canaries", "5%"], "canaries"),
            (["--threshold", "0.5", "--threshold", "0.6"], "two thresholds"),
            (["--threshold", "f1=0.5"], "no score is called 'f1'"),
            (["--threshold", "high"], "is not a threshold"),
            (["--threshold", "nan"], "must be a number"),
        ],
    )
    def test_wrong_call(self, tmp_path: Path, options: list[str], words: str) -> None:
        """A wrong call is exit code 2 with one line that says why, before anything is judged."""
        write_rows(tmp_path / "rows.jsonl", 3)
        done = adjudge("judge", "run", "rows.jsonl", "--judge", "local:0", "--run", "a.run", *options, cwd=tmp_path)
        assert done.returncode == 2
        assert words in said(done)
        assert not (tmp_path / "a.run").exists()

    def test_stream(self, tmp_path: Path) -> None:
        """Standard input cannot be sampled."""
        row = json.dumps({"id": 1, "question": "Sky?", "reference": "blue", "response": "blue"}).encode()
        options = ("--judge", "local:0", "--threshold", "0.5", "--stop-early")
        done = adjudge("judge", "run", "-", *options, cwd=tmp_path, stdin=row)
        assert done.returncode == 2
        assert "standard input cannot stop early" in said(done)

    def test_dry_run(self, tmp_path: Path) -> None:
        """An estimate is that of all rows, and says that fewer may do."""
        write_rows(tmp_path / "rows.jsonl", 30)
        with ChatServer() as server:
            named = arguments(server, "--threshold", "0.5", "--stop-early", "--dry-run")
            done = adjudge(*named, cwd=tmp_path, env={"OPENAI_API_KEY": KEY})
        assert "how many of these rows an early decision spares" in done.stdout.decode()


class TestEvaluate:
    """`adjudge evaluate`, with one agent and several."""

    def test_agents(self, tmp_path: Path) -> None:
        """Each agent stops for itself, the report says what each found, and differences after a stop are not shown."""
        (tmp_path / "my_agents.py").write_text(
            "def good(question):\n    return question\n\n\ndef bad(question):\n    return 'no'\n"
        )
        write(tmp_path / "cases.jsonl", [{"id": n, "question": f"q{n}", "answer": f"q{n}"} for n in range(100)])
        named = ("--agent", "my_agents:good", "--agent", "my_agents:bad", "--scorer", "qa_em_reward")
        early = ("--threshold", "0.5", "--stop-early", "--json", "out.json", "--run", "a.run", "--workers", "2")
        done = adjudge("evaluate", "cases.jsonl", *named, *early, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        good, bad = json.loads((tmp_path / "out.json").read_bytes())["agents"]
        assert [one["thresholds"][0]["verdict"] for one in (good, bad)] == ["pass", "fail"]
        assert good["spared"] == 100 - good["rows"] > 0
        assert bad["scores"]["qa_em_reward"]["difference"] is None
        assert "FAIL: qa_em_reward of my_agents:bad 0.0000" in done.stdout.decode()


class TestCheck:
    """`adjudge check --stop-early`: the gate is decided by fewer scenarios."""

    def report(self, folder: Path) -> dict[str, Any]:
        """Return what `--json out.json` wrote."""
        found: dict[str, Any] = json.loads((folder / "out.json").read_bytes())
        return found

    @pytest.mark.parametrize(
        ("wrong", "gate", "code"), [(0, "workflow = 0.5", 0), (60, "workflow = 0.9", 1), (60, "", 1)]
    )
    def test_reports(self, tmp_path: Path, wrong: int, gate: str, code: int) -> None:
        """Every report has the scenarios that ran, and says how many were spared."""
        questions = {f"s{n}": "nothing" if n < wrong else f"q{n}" for n in range(100)}
        write_scenarios(tmp_path, questions)
        (tmp_path / "gate.toml").write_text(gate)
        files = ("--json", "out.json", "--junit", "out.xml", "--markdown", "out.md", "--gate", "gate.toml")
        done = adjudge("check", "scenarios", *AGENT, *files, "--workers", "4", cwd=tmp_path)
        assert done.returncode == code, done.stderr
        counted, total, spared = decided(done.stdout)
        whole = self.report(tmp_path)
        assert (total, whole["spared"], len(whole["results"])) == (100, spared, counted)
        assert whole["verdict"] == ("fail" if code else "pass")
        for one in whole["results"]:
            assert one["question"] == questions[one["id"]]
        cases = check_junit((tmp_path / "out.xml").read_bytes()).iter("testcase")
        assert [one.findtext("system-out") for one in cases if one.get("name") == "gate: spared"] == [
            f"value: {spared}"
        ]
        assert decided((tmp_path / "out.md").read_bytes()) == (counted, total, spared)
        asked = (tmp_path / "asked").read_text().splitlines()
        assert counted <= len(asked) < total
        # Spared scenarios did not fail: a run of what failed leaves them out.
        failed = open_run(tmp_path / "check.run")
        again = adjudge("check", "scenarios", *AGENT[:2], "--last-failed", "check.run", cwd=tmp_path)
        ran = sum(not row.scores[0].value for row in failed.rows() if row.scores)
        assert again.returncode == (1 if ran else 2)

    def test_resumed(self, tmp_path: Path) -> None:
        """The same command with the same run file asks nobody again, and decides the same."""
        write_scenarios(tmp_path, {f"s{n}": "nothing" if n % 9 == 0 else f"q{n}" for n in range(80)})
        (tmp_path / "gate.toml").write_text("workflow = 0.6")
        command = ("check", "scenarios", *AGENT, "--gate", "gate.toml", "--json", "out.json")
        first = adjudge(*command, cwd=tmp_path)
        one, asked = self.report(tmp_path), (tmp_path / "asked").read_text()
        again = adjudge(*command, cwd=tmp_path)
        assert (first.returncode, again.returncode) == (0, 0)
        assert self.report(tmp_path) == one
        assert (tmp_path / "asked").read_text() == asked

    def test_repeats(self, tmp_path: Path) -> None:
        """All repeats of a scenario count, or none; what was seen of a scenario is not cut in the middle."""
        write_scenarios(tmp_path, {f"s{n}": f"q{n}" for n in range(60)})
        (tmp_path / "gate.toml").write_text("workflow = 0.5")
        named = (*AGENT, "--gate", "gate.toml", "--repeat", "3", "--json", "out.json")
        done = adjudge("check", "scenarios", *named, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        repeats: dict[str, list[int]] = {}
        for one in self.report(tmp_path)["results"]:
            repeats.setdefault(one["id"], []).append(one["repeat"])
        assert set(map(tuple, repeats.values())) == {(1, 2, 3)}
        assert len(repeats) < 60

    def test_tags(self, tmp_path: Path) -> None:
        """A pass needs the thresholds of every tag; a fail by one of them leaves the others open."""
        write_scenarios(tmp_path, {f"s{n}": f"q{n}" for n in range(100)})
        toml = tmp_path / "scenarios" / "all.toml"
        parts = toml.read_text().split("[[scenarios]]\n")[1:]
        rare = [f'[[scenarios]]\n{part}tags = ["{"rare" if n < 4 else "common"}"]\n' for n, part in enumerate(parts)]
        toml.write_text("".join(rare))
        (tmp_path / "gate.toml").write_text("workflow = 0.5\n[tags.rare]\nworkflow = 1.0\n")
        command = ("check", "scenarios", *AGENT, "--gate", "gate.toml", "--json", "out.json")
        assert adjudge(*command, cwd=tmp_path).returncode == 0
        # Every run of the tag had to pass, so every one was needed.
        assert sum(one["tags"] == ["rare"] for one in self.report(tmp_path)["results"]) == 4
        rules = "workflow = 0.5\n[tags.common]\nworkflow = 1.0\n[tags.rare]\nworkflow = 1.0\n"
        (tmp_path / "gate.toml").write_text(rules)
        toml.write_text(toml.read_text().replace('question = "q', 'question = "nothing" #'))
        (tmp_path / "check.run").unlink()
        done = adjudge(*command, cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        verdicts = {one["name"]: one["verdict"] for one in self.report(tmp_path)["gate"]}
        assert verdicts["tags.common.workflow"] == "fail"
        assert "undecided" not in verdicts.values()

    @pytest.mark.parametrize(("least", "code"), [(0.6, 0), (0.999, 1)])
    def test_lower_end(self, tmp_path: Path, least: float, code: int) -> None:
        """A lower end is that of all scenarios of the kind; what all looks together do not show is a fail."""
        write_scenarios(tmp_path, {f"s{n}": f"q{n}" for n in range(40)})
        (tmp_path / "gate.toml").write_text(f"workflow = {{ min = {least}, lower_end = true }}")
        done = adjudge("check", "scenarios", *AGENT, "--gate", "gate.toml", "--json", "out.json", cwd=tmp_path)
        assert done.returncode == code, done.stderr
        whole = self.report(tmp_path)
        (workflow,) = (one for one in whole["gate"] if one["name"] == "workflow")
        assert (workflow["low"] >= least) == (code == 0)
        assert "at any time" in workflow["reason"]
        assert (whole["spared"] > 0) == (code == 0)

    def test_retry_failed(self, tmp_path: Path) -> None:
        """What ended in an error is asked again in the same order, and the runs that count are those of a good run."""
        write_scenarios(tmp_path, {f"s{n}": "raise" if n % 4 == 0 else f"q{n}" for n in range(60)})
        (tmp_path / "gate.toml").write_text("workflow = 0.6\nmax_unscored = 0.5\n")
        command = ("check", "scenarios", *AGENT, "--gate", "gate.toml", "--json", "out.json", "--accept-changes")
        assert adjudge(*command, cwd=tmp_path).returncode == 0
        first = self.report(tmp_path)
        assert first["passes"]["undecided"] > 0
        (tmp_path / "agent.py").write_text((tmp_path / "agent.py").read_text().replace('== "raise"', "is None"))
        assert adjudge(*command, "--retry-failed", cwd=tmp_path).returncode == 0
        again = self.report(tmp_path)
        assert again["passes"]["undecided"] == 0
        assert again["spared"] > first["spared"]

    def test_agent_down(self, tmp_path: Path) -> None:
        """An agent that is down is exit code 3, with every scenario asked."""
        write_scenarios(tmp_path, {f"s{n}": "raise" for n in range(12)})
        done = adjudge("check", "scenarios", *AGENT, cwd=tmp_path)
        assert done.returncode == 3
        assert b"were spared" not in done.stdout

    def test_scorer_without_range(self, tmp_path: Path) -> None:
        """A threshold on a number without a range is refused before the agent is asked."""
        write_scenarios(tmp_path, {"s1": "q"}, scorers=["mine:length"])
        (tmp_path / "mine.py").write_text(
            "from adjudge.rewards import reward\n\n\n@reward\ndef length(final_response):\n    return 9.0\n"
        )
        (tmp_path / "gate.toml").write_text("scorers = { length = 5 }")
        done = adjudge("check", "scenarios", *AGENT, "--gate", "gate.toml", cwd=tmp_path)
        assert done.returncode == 2
        assert "scorers.length has no range" in said(done)
        assert not (tmp_path / "asked").exists()
