"""`adjudge check` as CI calls it: the exit code, the table, the files, and nothing that a row wrote at work in them."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from adjudge.sinks import Outbox
from adjudge.testing import ChatServer, ScoreServer, scores
from cli.checking import served, write_scenarios
from cli.command import COMMAND, PATIENCE, adjudge, said, start
from sinks.junit_rules import check_junit

AGENT = ("--agent", "agent:answer", "--run", "check.run")
ANSWER = {"response": "x", "agents_called": [], "tools_used": ["search"]}
KEYS = {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"}


def report(folder: Path) -> dict[str, Any]:
    """Return what `--json out.json` wrote."""
    found: dict[str, Any] = json.loads((folder / "out.json").read_bytes())
    return found


class TestExitCodes:
    """0 pass, 1 the gate failed, 2 the call is wrong, 3 undecided."""

    @pytest.mark.parametrize("status", [0, 1])
    def test_an_agent_that_ends_the_process(self, tmp_path: Path, status: int) -> None:
        """An agent that ends the process from inside decides nothing, whatever exit code it asks for."""
        (tmp_path / "agent.py").write_text(f"import os\n\ndef answer(question):\n    os._exit({status})\n")
        (tmp_path / "s.toml").write_text('[[scenarios]]\nid = "a"\nquestion = "?"\n')
        done = adjudge("check", "s.toml", "--agent", "agent:answer", "--junit", "junit.xml", cwd=tmp_path)
        assert (done.returncode, b"os._exit" in done.stderr) == (3, True), said(done)
        assert not (tmp_path / "junit.xml").exists()

    @pytest.mark.parametrize(("tool", "code"), [("search", 1), ("none", 0)])
    def test_an_agent_that_ends_the_process_after_the_verdict(self, tmp_path: Path, tool: str, code: int) -> None:
        """The exit code is that of the verdict, whatever an agent does while Python shuts down."""
        ends = f"import atexit, os\n\natexit.register(lambda: os._exit({1 - code}))\n\n"
        (tmp_path / "agent.py").write_text(f"{ends}def answer(question):\n    return {ANSWER}\n")
        (tmp_path / "s.toml").write_text(f'id = "a"\nquestion = "?"\ntools_should_exclude = ["{tool}"]\n')
        done = adjudge("check", "s.toml", *AGENT, cwd=tmp_path)
        assert done.returncode == code, (done.stdout, done.stderr)

    @pytest.mark.parametrize(
        ("questions", "gate", "code", "word"),
        [
            (["a", "b"], "", 0, "PASS"),
            (["a", "nothing"], "", 1, "FAIL"),
            (["a", "nothing"], "workflow = 0.5", 0, "PASS"),
            (["a", "nothing"], "min_rows = 3", 3, "UNDECIDED"),
            (["a", "raise"], "", 3, "UNDECIDED"),
            (["a", "nothing", "raise"], "", 3, "UNDECIDED"),
            (["a", "b", "raise"], "max_unscored = 0.5", 0, "PASS"),
            (["a", "nothing", "raise"], "max_unscored = 0.5", 1, "FAIL"),
        ],
    )
    def test_verdicts(self, tmp_path: Path, questions: list[str], gate: str, code: int, word: str) -> None:
        """The exit code is the gate's verdict, and the screen says why."""
        write_scenarios(tmp_path, {f"s{number}": one for number, one in enumerate(questions)})
        (tmp_path / "gate.toml").write_text(gate)
        options = ["--gate", "gate.toml"] if gate else []
        done = adjudge("check", "scenarios", *AGENT, *options, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert f"gate: {word} (exit code {code})" in done.stdout.decode()

    @pytest.mark.parametrize(
        ("questions", "gate", "told"),
        [
            (["a", "nothing"], "workflow = 0.5", ", although 1 failed of 2 runs: the gate allows that"),
            (["a", "raise", "b"], "max_unscored = 0.5", ", although 1 undecided of 3 runs: the gate allows that"),
            (["a", "raise", "nothing"], "max_unscored = 0.5\nworkflow = 0.5", ", although 1 failed and 1 undecided of"),
            (["a"], "workflow = 0.5", "\n"),
        ],
    )
    def test_what_a_gate_allows(self, tmp_path: Path, questions: list[str], gate: str, told: str) -> None:
        """A gate may let failures pass, since its file says so; the verdict then says how many, everywhere."""
        write_scenarios(tmp_path, {f"s{number}": one for number, one in enumerate(questions)})
        (tmp_path / "gate.toml").write_text(gate)
        env = {"GITHUB_STEP_SUMMARY": "summary.md"}
        done = adjudge("check", "scenarios", *AGENT, "--gate", "gate.toml", "--github", cwd=tmp_path, env=env)
        assert done.returncode == 0
        assert f"gate: PASS (exit code 0){told}" in done.stdout.decode()
        assert f"gate: PASS (exit code 0){told.strip()}" in (tmp_path / "summary.md").read_text()

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ((), "give an agent, or the traces of what it did"),
            (("--agent", "agent:answer", "--traces", "."), "give an agent, or the traces"),
            (("--agent", "agent:anwser"), "agent has no 'anwser'; did you mean 'answer'?"),
            (("--agent", "agent:answer", "--gate", "gate.toml"), "a gate has no 'quallity'; did you mean 'quality'?"),
            (("--agent", "agent:answer", "--judge", "local"), "gives verdicts, not scores"),
            (("--agent", "agent:answer", "--otlp-endpoint", "x"), "the endpoint must be PORT or HOST:PORT"),
            (("--traces", "nowhere"), "no such file or folder"),
            (("--agent", "agent:answer", "--junit", "no/where.xml"), "cannot be written: there is no folder"),
            (("--agent", "agent:answer", "--json", "scenarios"), "cannot be written: it is a folder"),
            (("--agent", "agent:answer", "--json", "x", "--junit", "x"), "x cannot be written twice"),
            (("--agent", "agent:answer", "--langfuse", "--outbox", "agent.py"), "is damaged, or not an outbox"),
        ],
    )
    def test_wrong_calls(self, tmp_path: Path, options: tuple[str, ...], told: str) -> None:
        """A wrong call is 2 and one line, before anything is asked."""
        write_scenarios(tmp_path, {"s1": "a"})
        (tmp_path / "gate.toml").write_text("quallity = 1")
        done = adjudge("check", "scenarios", *options, cwd=tmp_path)
        assert (done.returncode, told in said(done)) == (2, True), done.stderr
        assert not (tmp_path / "asked").exists()

    def test_stopped(self, tmp_path: Path) -> None:
        """A run file of other scenarios is no pass and no fail."""
        write_scenarios(tmp_path, {"s1": "a"})
        assert adjudge("check", "scenarios", *AGENT, cwd=tmp_path).returncode == 0
        write_scenarios(tmp_path, {"s1": "b"})
        done = adjudge("check", "scenarios", *AGENT, cwd=tmp_path)
        assert (done.returncode, "other scorers or judge" in said(done)) == (2, True)

    @pytest.mark.parametrize("both", [True, False])
    def test_a_reader_that_goes_away(self, tmp_path: Path, both: bool) -> None:
        """Whoever stops reading, as `head` does, changes no verdict, and the reports are there all the same."""
        write_scenarios(tmp_path, {"good": "a", "bad": "nothing"})
        read, write = os.pipe()
        os.close(read)
        errors = write if both else subprocess.DEVNULL
        command = [*COMMAND, "check", "scenarios", *AGENT, "--json", "out.json"]
        done = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=errors, timeout=PATIENCE, check=False)
        os.close(write)
        assert done.returncode == report(tmp_path)["exit_code"] == 1

    def test_a_terminal_of_few_characters(self, tmp_path: Path) -> None:
        """A terminal that lacks the characters of an id changes no verdict."""
        write_scenarios(tmp_path, {"größe → 大": "a"})
        done = adjudge("check", "scenarios", *AGENT, cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
        assert done.returncode == 0, done.stderr

    @pytest.mark.parametrize(("tools", "code"), [(["pdf_retrieval"], 0), ([], 1), (None, 3)])
    def test_traces(self, tmp_path: Path, tools: list[str] | None, code: int) -> None:
        """Saved traces give the same three verdicts; plain texts cannot show tools."""
        write_scenarios(tmp_path, {"good": "a"})
        called = [{"role": "tool", "name": name, "content": "x"} for name in tools or ()]
        messages = [{"role": "user", "content": "a"}, *called, {"role": "assistant", "content": "b"}]
        (tmp_path / "traces").mkdir()
        (tmp_path / "traces" / "good.json").write_text(json.dumps(["a", "b"] if tools is None else messages))
        assert adjudge("check", "scenarios", "--traces", "traces", cwd=tmp_path).returncode == code


class TestAgents:
    """An agent behind an address; its own faults are nobody's FAIL."""

    @pytest.mark.parametrize("fault", ["500", "404", "garbage", "reset", "hang"])
    def test_faults(self, tmp_path: Path, fault: str) -> None:
        """An agent that fails, hangs or talks nonsense leaves its scenario open, the others are decided."""
        write_scenarios(tmp_path, {"good": "a", "bad": fault})
        with (tmp_path / "scenarios" / "all.toml").open("a") as file:
            file.write("deadline = 1.5\n")  # of the last scenario
        with served() as address:
            done = adjudge("check", "scenarios", "--agent", address, "--json", "out.json", cwd=tmp_path)
        assert done.returncode == 3, done.stderr
        good, bad = report(tmp_path)["results"]
        assert (good["pass"], bad["pass"], bad["status"]) == (True, None, "error")
        assert bad["reasons"][0].startswith("agent-failed: ")

    def test_pass_and_fail(self, tmp_path: Path) -> None:
        """What the agent did decides."""
        with served() as address:
            write_scenarios(tmp_path, {"good": "a"})
            assert adjudge("check", "scenarios", "--agent", address, cwd=tmp_path).returncode == 0
            write_scenarios(tmp_path, {"good": "a", "bad": "nothing"})
            assert adjudge("check", "scenarios", "--agent", address, cwd=tmp_path).returncode == 1

    def test_nobody_there(self, tmp_path: Path) -> None:
        """An agent that is not running is 3, not 1."""
        write_scenarios(tmp_path, {"good": "a"}, deadline=1.5)
        assert adjudge("check", "scenarios", "--agent", "http://127.0.0.1:9/", cwd=tmp_path).returncode == 3


class TestShown:
    """The table: how each scenario ended, and why, in 80 columns."""

    def test_table(self, tmp_path: Path) -> None:
        """Every scenario has its outcome and its reason, on lines that fit."""
        write_scenarios(tmp_path, {"good": "a", "bad": "nothing", "down": "raise", "a" * 90: "b"})
        done = adjudge("check", "scenarios", *AGENT, cwd=tmp_path, env={"COLUMNS": "80"})
        lines = [line.rstrip() for line in done.stdout.decode().splitlines()]
        assert lines[1] == "pass       good"
        assert lines[2].startswith("FAIL       bad")
        assert "missing: tool 'pdf_retrieval'" in lines[2]
        assert any(line.startswith("undecided  down") and "agent-failed: " in line for line in lines)
        assert all(len(line) <= 80 for line in lines)
        assert "4 runs: 2 passed, 1 failed, 1 undecided" in lines

    def test_repeats(self, tmp_path: Path) -> None:
        """Repeats stand in one row, with how many passed, and what k tries give."""
        write_scenarios(tmp_path, {"good": "a", "bad": "nothing"})
        done = adjudge("check", "scenarios", *AGENT, "--repeat", "3", cwd=tmp_path)
        shown = done.stdout.decode()
        assert done.returncode == 1
        assert re.search(r"pass       good +3 of 3", shown)
        assert re.search(r"FAIL       bad +0 of 3  missing: tool", shown)
        assert "pass@3 0.5000   pass^3 0.5000" in shown
        assert len((tmp_path / "asked").read_text().splitlines()) == 6

    def test_quality(self, tmp_path: Path) -> None:
        """A judge behind an address scores the quality, and the gate can want it."""
        write_scenarios(tmp_path, {"good": "a"})
        (tmp_path / "gate.toml").write_text("quality = { overall = 0.9 }")
        with ChatServer(lambda call: scores(call, 0.8)) as server:
            judge = ("--judge", "openai:m", "--base-url", server.base_url)
            done = adjudge(
                *("check", "scenarios", *AGENT, *judge, "--gate", "gate.toml"),
                cwd=tmp_path,
                env={"OPENAI_API_KEY": "k"},
            )
        assert done.returncode == 1, done.stderr
        shown = " ".join(done.stdout.decode().split())
        assert re.search(r"FAIL quality.overall: 0.8000 \(n 1, [^)]*\) is below 0.9", shown)

    def test_a_judge_that_fails(self, tmp_path: Path) -> None:
        """A judge that cannot be read leaves the check open, though every workflow passed."""
        write_scenarios(tmp_path, {"good": "a"})
        with ChatServer("Great!") as server:
            judge = ("--judge", "openai:m", "--base-url", server.base_url)
            done = adjudge("check", "scenarios", *AGENT, *judge, cwd=tmp_path, env={"OPENAI_API_KEY": "k"})
        assert done.returncode == 3, done.stderr
        assert b"undecided  good" in done.stdout


HOSTILE = {
    "../../etc/passwd": "a",
    "<script>alert(1)</script>": "nothing",
    "::error file=x::pwned": "nothing",
    "=cmd|' /C calc'!A0": "nothing",
    "{{7*7}} ${jndi:ldap://x} `id` [a](javascript:b) | x": "raise",
    "]]> &xxe; \u202e": "nothing",
}
HOSTILE_AGENT = """
BAD = "\\x1b]0;owned\\x07\\x1b[2J :::error::x ##[command]y ]]> <b> | ` \\ud800 %0A"


def answer(question):
    if question == "raise":
        raise RuntimeError(BAD)
    tools = [BAD, "::set-env name=X::y"] if question == "nothing" else ["pdf_retrieval"]
    return {"response": BAD, "agents_called": ["orchestrator"], "tools_used": tools}
"""


class TestHostile:
    """Ids, answers and errors are text in every output, and never paths."""

    def test_everywhere(self, tmp_path: Path) -> None:
        """No escape sequence, no command of a CI system, no mark-up, and no file beside those that were asked for."""
        folder = tmp_path / "deep" / "er"
        folder.mkdir(parents=True)
        write_scenarios(folder, HOSTILE)
        (folder / "agent.py").write_text(HOSTILE_AGENT)
        before = {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts}
        outputs = ("--junit", "j.xml", "--json", "out.json", "--markdown", "out.md", "--github")
        done = adjudge(
            *("check", "scenarios", *AGENT, *outputs),
            cwd=folder,
            env={"GITHUB_STEP_SUMMARY": "summary.md", "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"},
        )
        assert done.returncode == 3, done.stderr
        made = {path.name for path in set(tmp_path.rglob("*")) - before if "__pycache__" not in path.parts}
        assert made == {"check.run", "j.xml", "out.json", "out.md", "summary.md"}
        files = ("j.xml", "out.json", "out.md", "summary.md")
        for text in (done.stdout, done.stderr, *((folder / name).read_bytes() for name in files)):
            assert b"\x1b" not in text
            assert b"\x07" not in text
        lines = (done.stdout + done.stderr).decode().splitlines()
        commands = [line for line in lines if re.match(r"\s*::", line) or "##[" in line]
        about = r"(file=scenarios/all\.toml,line=[0-9]+,)?title=[^:]*"
        assert all(re.match(rf"::(error|warning) {about}::", line) for line in commands)
        check_junit((folder / "j.xml").read_bytes())
        assert "<script>" not in (folder / "out.json").read_text()
        assert [one["id"] for one in report(folder)["results"]] == list(HOSTILE)

    def test_junit_keeps_to_the_schema(self, tmp_path: Path) -> None:
        """The report has the elements, attributes and order that readers of JUnit files take, and its counts add up."""
        write_scenarios(tmp_path, {**HOSTILE, "good": "a"})
        adjudge("check", "scenarios", *AGENT, "--junit", "j.xml", cwd=tmp_path)
        check_junit((tmp_path / "j.xml").read_bytes())


class TestAnnotations:
    """Annotations stand where the scenario is written, below the repository."""

    def test_places(self, tmp_path: Path) -> None:
        """The file and the line of the id, as GitHub names files; the gate's own come first."""
        write_scenarios(tmp_path, {"one": "a", "two": "nothing"})
        text = "scenarios:\n  - question: nothing\n    id: three\n    tools_should_include: [pdf_retrieval]\n"
        (tmp_path / "scenarios" / "b,%0A::x.yaml").write_text(text)
        env = {"GITHUB_WORKSPACE": str(tmp_path.parent)}
        done = adjudge("check", str(tmp_path / "scenarios"), *AGENT, "--github", cwd=tmp_path, env=env)
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("::")]
        assert [line.partition("title=")[0] for line in lines] == [
            "::error ",
            f"::error file={tmp_path.name}/scenarios/all.toml,line=6,",
            f"::error file={tmp_path.name}/scenarios/b%2C%250A%3A%3Ax.yaml,line=3,",
        ]


class TestRuns:
    """Killed, interrupted, repeated: nothing that was done is done again."""

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    def test_kill_and_resume(self, tmp_path: Path, number: signal.Signals) -> None:
        """After any end the same command goes on; what was in flight is asked again, nothing else."""
        write_scenarios(tmp_path, {f"s{n:02}": f"sleep 0.1 {n}" for n in range(40)})
        process = start("check", "scenarios", *AGENT, "--workers", "2", cwd=tmp_path)
        asked = tmp_path / "asked"
        deadline = time.monotonic() + PATIENCE
        while not asked.exists() or len(asked.read_text().splitlines()) < 12:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
        assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
        done = adjudge("check", "scenarios", *AGENT, "--workers", "2", "--json", "out.json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert report(tmp_path)["passes"] == {"passed": 40, "failed": 0, "undecided": 0}
        assert 40 <= len(asked.read_text().splitlines()) <= 44

    def test_retry_failed(self, tmp_path: Path) -> None:
        """`--retry-failed` asks again about what ended in an error, and about nothing else."""
        write_scenarios(tmp_path, {"good": "a", "down": "raise"})
        assert adjudge("check", "scenarios", *AGENT, cwd=tmp_path).returncode == 3
        mended = (tmp_path / "agent.py").read_text().replace("if question ==", "if False and question ==")
        (tmp_path / "agent.py").write_text(mended)
        assert adjudge("check", "scenarios", *AGENT, "--retry-failed", cwd=tmp_path).returncode == 2
        assert adjudge("check", "scenarios", *AGENT, "--accept-changes", cwd=tmp_path).returncode == 3
        assert adjudge("check", "scenarios", *AGENT, "--retry-failed", cwd=tmp_path).returncode == 0
        assert (tmp_path / "asked").read_text().splitlines().count("a") == 1

    def test_workers_change_nothing(self, tmp_path: Path) -> None:
        """One worker and eight give the same verdict, table and report, but for ids and times."""
        write_scenarios(tmp_path, {f"s{n}": "nothing" if n % 3 else "a" for n in range(12)})
        seen = []
        for workers in ("1", "8"):
            run = ("--agent", "agent:answer", "--run", f"{workers}.run", "--workers", workers)
            done = adjudge("check", "scenarios", *run, "--json", "out.json", cwd=tmp_path)
            results = [{**one, "trace_id": 0, "seconds": 0} for one in report(tmp_path)["results"]]
            seen.append((done.returncode, done.stdout, results))
        assert seen[0] == seen[1]


class TestLangfuse:
    """Scores reach the dashboard through the outbox; the gate does not wait for it."""

    def test_delivered(self, tmp_path: Path) -> None:
        """Every score of every run goes to its trace, under the names that dashboards know."""
        write_scenarios(tmp_path, {"good": "a", "bad": "nothing"}, tags=["sql"])
        with ScoreServer(keys=("pk", "sk")) as server:
            env = {**KEYS, "LANGFUSE_HOST": server.host}
            done = adjudge("check", "scenarios", *AGENT, "--langfuse", "--json", "out.json", cwd=tmp_path, env=env)
            taken = list(server.scores.values())
        assert done.returncode == 1
        assert b"langfuse: 2 delivered, 0 pending, 0 rejected" in done.stderr
        traces = {one["trace_id"]: one["id"] for one in report(tmp_path)["results"]}
        assert {(traces[one["traceId"]], one["name"], one["value"]) for one in taken} == {
            ("good", "workflow_pass", 1.0),
            ("bad", "workflow_pass", 0.0),
        }
        assert {one["metadata"]["scenario_id"] for one in taken} == {"good", "bad"}
        assert all(one["metadata"]["tags"] == ["sql"] for one in taken)

    @pytest.mark.parametrize("host", ["http://a:secret@127.0.0.1", "a:secret@127.0.0.1", "127.0.0.1:9"])
    def test_bad_address(self, tmp_path: Path, host: str) -> None:
        """An address that could not be called, or has a password in it, is refused before anything is asked."""
        write_scenarios(tmp_path, {"s1": "a"})
        done = adjudge("check", "scenarios", *AGENT, "--langfuse", cwd=tmp_path, env={**KEYS, "LANGFUSE_HOST": host})
        assert done.returncode == 2
        assert "URL" in said(done)
        assert "secret" not in said(done)
        assert [path.name for path in tmp_path.iterdir() if path.name in ("asked", "adjudge.outbox")] == []

    def test_another_sender(self, tmp_path: Path) -> None:
        """Where another process is sending the outbox, the scores are kept and the exit code is the gate's."""
        write_scenarios(tmp_path, {"s1": "a"})
        env = {**KEYS, "LANGFUSE_HOST": "http://127.0.0.1:9"}
        with Outbox(tmp_path / "o.outbox") as outbox, outbox.sending():
            done = adjudge("check", "scenarios", *AGENT, "--langfuse", "--outbox", "o.outbox", cwd=tmp_path, env=env)
        assert done.returncode == 0
        assert b"0 delivered, 1 pending" in done.stderr
        assert b"is being sent by another process" in done.stderr

    def test_receiver_down(self, tmp_path: Path) -> None:
        """A dashboard that is down changes no verdict; `adjudge resend` delivers everything once."""
        write_scenarios(tmp_path, {f"s{n}": "a" for n in range(5)})
        env = {**KEYS, "LANGFUSE_HOST": "http://127.0.0.1:9"}
        done = adjudge("check", "scenarios", *AGENT, "--langfuse", "--outbox", "o.outbox", cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        assert b"0 delivered, 5 pending, 0 rejected; adjudge resend o.outbox sends the rest" in done.stderr
        with ScoreServer(keys=("pk", "sk")) as server:
            for _ in range(2):
                sent = adjudge("resend", "o.outbox", "--host", server.host, cwd=tmp_path, env=KEYS)
                assert sent.returncode == 0, sent.stderr
            assert len(server.arrivals) == len(server.scores) == 5


class TestReports:
    """What cannot be written is said, keeps no other report back, and is 3; what goes to standard output is alone."""

    @pytest.mark.parametrize("question", ["a", "nothing"])
    @pytest.mark.parametrize("broken", ["--junit", "--json", "--markdown", "summary"])
    def test_no_room(self, tmp_path: Path, broken: str, question: str) -> None:
        """One report on a full disk: the others are there, the file is named, the exit code is 3."""
        write_scenarios(tmp_path, {"s1": question})
        there = {"--junit": "j.xml", "--json": "out.json", "--markdown": "out.md", "summary": "summary.md"}
        places = {**there, broken: "/dev/full"}
        options = [*(word for kind in there if kind != "summary" for word in (kind, places[kind])), "--github"]
        env = {"GITHUB_STEP_SUMMARY": places["summary"]}
        done = adjudge("check", "scenarios", *AGENT, *options, cwd=tmp_path, env=env)
        assert done.returncode == 3
        assert "error: /dev/full: No space left on device" in done.stderr.decode()
        assert all((tmp_path / name).is_file() == (kind != broken) for kind, name in there.items())

    def test_standard_output(self, tmp_path: Path) -> None:
        """A report on standard output is the only thing there."""
        write_scenarios(tmp_path, {"s1": "nothing"})
        done = adjudge("check", "scenarios", *AGENT, "--json", "-", "--github", cwd=tmp_path)
        assert (done.returncode, json.loads(done.stdout)["verdict"]) == (1, "fail")
        assert b"gate: FAIL (exit code 1)" in done.stderr
        assert b"::error " in done.stderr

    def test_hint(self, tmp_path: Path) -> None:
        """`--retry-failed` is offered where something ended in an error, and only there."""
        write_scenarios(tmp_path, {"s1": "raise"})
        assert b"--retry-failed" in adjudge("check", "scenarios", *AGENT, cwd=tmp_path).stderr
        (tmp_path / "agent.py").write_text("def answer(question): return 'no tools'")
        done = adjudge("check", "scenarios", *AGENT[:2], "--run", "other.run", cwd=tmp_path)
        assert (done.returncode, b"--retry-failed" in done.stderr) == (3, False)

    def test_resume(self, tmp_path: Path) -> None:
        """`adjudge resume` of a check says which command resumes it."""
        write_scenarios(tmp_path, {"s1": "a"})
        adjudge("check", "scenarios", *AGENT, cwd=tmp_path)
        done = adjudge("resume", "check.run", cwd=tmp_path)
        assert done.returncode == 2
        assert "run the same adjudge check with --run check.run" in said(done)
