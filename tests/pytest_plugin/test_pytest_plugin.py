"""Scenarios as tests of pytest, in processes of their own: the same verdicts as `adjudge check`, with its reasons."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = """
from pathlib import Path

def answer(question):
    Path("asked").open("a").write(question + chr(10))
    if question == "raise":
        raise RuntimeError("the agent is down")
    if question == "text":
        return "Paris"
    return {"response": "Paris", "agents_called": ["research"], "tools_used": ["search"]}
"""
SCENARIOS = """
[[scenarios]]
id = "good"
question = "a"
tools_should_include = ["search"]
tags = ["quick"]

[[scenarios]]
id = "bad"
question = "b"
tools_should_include = ["calculator"]

[[scenarios]]
id = "unknown"
question = "text"
tools_should_include = ["search"]

[[scenarios]]
id = "down"
question = "raise"

[[scenarios]]
id = "twice"
question = "c"
repeats = 2
agents_should_include = ["research"]
"""
ENDED = re.compile(r"^(PASSED|FAILED|ERROR) (\S+)", re.MULTILINE)


def run(folder: Path, *arguments: str) -> tuple[int, str, dict[str, str]]:
    """Run pytest in a folder and return its exit code, what it printed, and how each test ended."""
    call = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "-q", *arguments]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    ends = {name.rpartition("::")[2]: how for how, name in ENDED.findall(done.stdout)}
    return done.returncode, done.stdout + done.stderr, ends


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an agent and scenarios."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "all.toml").write_text(SCENARIOS)
    return tmp_path


WANTED = {
    "good": "PASSED",
    "bad": "FAILED",
    "unknown": "ERROR",
    "down": "ERROR",
    "twice[1]": "PASSED",
    "twice[2]": "PASSED",
}
CALL = ("--adjudge", "scenarios", "--adjudge-agent", "agent:answer")


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_scenarios_of_files(folder: Path, more: tuple[str, ...]) -> None:
    """Passed, failed and undecided are three outcomes; each says why, and every scenario is asked once."""
    code, printed, ends = run(folder, *CALL, *more)
    assert (code, ends) == (1, WANTED), printed
    assert "failed: missing: tool 'calculator' is expected and was not called" in printed
    assert "undecided: incomplete-trace: the record cannot show which tools were called" in printed
    assert "the agent is down" in printed
    assert "pytest_plugin.py" not in printed
    assert sorted((folder / "asked").read_text().split()) == ["a", "b", "c", "c", "raise", "text"]


def test_only_what_is_asked_for(folder: Path) -> None:
    """A test is chosen by its id or a tag; what nobody chose is not asked, nor collected without the option."""
    assert run(folder, *CALL, "-k", "quick")[2] == {"good": "PASSED"}
    assert (folder / "asked").read_text() == "a\n"
    assert run(folder, "--adjudge", "scenarios/all.toml", *CALL[2:], "-k", "good")[2] == {"good": "PASSED"}
    assert run(folder, "scenarios/all.toml::twice[2]", *CALL)[2] == {"twice[2]": "PASSED"}
    assert run(folder)[0] == 5


def test_beside_other_tests(folder: Path) -> None:
    """Ordinary tests run as ever, and nothing is collected twice."""
    (folder / "scenarios" / "test_more.py").write_text("def test_more(): assert True\n")
    code, printed, ends = run(folder, *CALL, ".", "-k", "good or more")
    assert (code, ends) == (0, {"good": "PASSED", "test_more": "PASSED"}), printed


MARKED = """
import pytest

@pytest.fixture
def adjudge_agent():
    return lambda question: {"response": "It is Paris.", "agents_called": [], "tools_used": ["search"]}

@pytest.mark.adjudge(question="Capital?", tools_should_include=["search"])
def test_good(adjudge_result):
    assert "Paris" in adjudge_result["response"]

@pytest.mark.adjudge({"question": "Capital?", "tools_should_include": ["search"]})
def test_more_is_asked(adjudge_result):
    assert "Lyon" in adjudge_result["response"]

@pytest.mark.adjudge(question="Capital?", tools_should_include=["calculator"])
def test_nobody_looks():
    pass

@pytest.mark.adjudge(question="Capital?", tools_arguments_typo=["search"])
def test_typo():
    pass

@pytest.mark.adjudge(question="Capital?", repeats=4)
def test_repeats():
    pass
"""


def test_marks(folder: Path) -> None:
    """A marked test fails with its scenario, whether or not it looks at the result; its own assertions count too."""
    good = MARKED[: MARKED.index('@pytest.mark.adjudge(question="Capital?", tools_arguments_typo')]
    (folder / "test_marked.py").write_text(good)
    code, printed, ends = run(folder)
    wanted = {"test_good": "PASSED", "test_more_is_asked": "FAILED", "test_nobody_looks": "FAILED"}
    assert (code, ends) == (1, wanted), printed
    (folder / "test_marked.py").write_text(MARKED)
    for more in ((), ("-n", "2")):
        code, printed, ends = run(folder, *more)
        assert (code, ends) == (1, {**wanted, "test_typo": "ERROR", "test_repeats": "ERROR"}), printed
        assert "a scenario has no 'tools_arguments_typo'" in printed
        assert "for repeats, parametrize the test" in printed


FIXTURES = """
import json, os, urllib.request

def test_servers(adjudge_chat_server, adjudge_endpoint):
    one, two = adjudge_chat_server("Paris"), adjudge_chat_server("Rome")
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "?"}]}).encode()
    for server, said in ((one, "Paris"), (two, "Rome")):
        request = urllib.request.Request(server.base_url + "/chat/completions", body)
        assert json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"] == said
    assert os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] == adjudge_endpoint.base_url
    assert adjudge_endpoint.trace_ids == ()
"""


def test_fixtures(folder: Path) -> None:
    """A scripted model and an endpoint are at hand."""
    (folder / "test_fixtures.py").write_text(FIXTURES)
    code, printed, _ = run(folder)
    assert code == 0, printed


WRONG = [
    (("--adjudge", "nowhere"), "nowhere"),
    (("--adjudge", "scenarios/all.toml"), "name the agent"),
    (("--adjudge", "agent.py"), "a scenario file ends in"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_calls(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    """A wrong call says so, and no test passes."""
    code, printed, ends = run(folder, *arguments)
    assert code != 0
    assert message in printed
    assert "PASSED" not in ends.values()


def test_agent_names_and_configuration(folder: Path) -> None:
    """The configuration names the agent and the file with names of agents."""
    (folder / "pytest.ini").write_text("[pytest]\nadjudge_agent = agent:answer\nadjudge_agents = names.toml\n")
    (folder / "names.toml").write_text('[agents]\nresearch = "writer"\n')
    code, printed, ends = run(folder, "--adjudge", "scenarios", "-k", "twice or good")
    assert ends == {"good": "PASSED", "twice[1]": "FAILED", "twice[2]": "FAILED"}, printed
    assert code == 1


def test_it_costs_nothing_where_it_is_not_used(folder: Path) -> None:
    """Without scenarios, nothing of adjudge but the plugin is imported."""
    (folder / "test_imports.py").write_text(
        "import sys\n\ndef test_imports():\n"
        "    ours = {name.split('.')[1] for name in sys.modules if name.startswith('adjudge.')}\n"
        "    assert ours <= {'_pytest_plugin', 'lazy'}, ours\n"
    )
    code, printed, _ = run(folder)
    assert code == 0, printed


ENDING = """
import pytest
from agent import answer

@pytest.fixture
def adjudge_agent():
    return answer

@pytest.mark.adjudge(question="?", tools_should_exclude=["search"])
def test_it():
    pass
"""


@pytest.mark.parametrize("call", [CALL, ("test_marked.py",)], ids=["files", "mark"])
@pytest.mark.parametrize(
    ("ends", "code", "said"),
    [
        ("def answer(question):\n    os._exit(0)\n", 3, "nothing is decided"),
        ("atexit.register(lambda: os._exit(0))\n", 1, "excluded-called"),
    ],
    ids=["at once", "at the end"],
)
def test_an_agent_that_ends_the_process(folder: Path, call: tuple[str, ...], ends: str, code: int, said: str) -> None:
    """An agent that ends the process has never passed, whatever exit code it asks for."""
    answer = 'def answer(question):\n    return {"response": "x", "agents_called": [], "tools_used": ["search"]}\n'
    (folder / "agent.py").write_text(f"import atexit, os\n{answer}{ends}")
    (folder / "scenarios" / "all.toml").write_text('id = "a"\nquestion = "?"\ntools_should_exclude = ["search"]\n')
    (folder / "test_marked.py").write_text(ENDING)
    found = run(folder, *call)
    assert (found[0], said in found[1]) == (code, True), found
