"""Scenarios as pytest tests, with the verdicts of `adjudge check`: failed is a failure, undecided is an error.

    pytest --adjudge scenarios/ --adjudge-agent my_agent:answer

    @pytest.mark.adjudge(id="capital", question="Capital of France?", tools_should_include=["search"])
    def test_capital(adjudge_result):             fails where the scenario fails; the body may ask for more
        assert "Paris" in adjudge_result["response"]

The agent is that of `--adjudge-agent`, of `adjudge_agent` in pytest's configuration, or what a fixture of yours with
the name `adjudge_agent` returns. pytest loads this in every run, so nothing of adjudge is imported before it is needed.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from adjudge.calling import ExitGuard
    from adjudge.receivers import OtlpEndpoint
    from adjudge.scenarios import Scenario
    from adjudge.testing import ChatServer

SUFFIXES = (".toml", ".yaml", ".yml")
FIXTURE = "adjudge_result"
_OPTIONS = {
    "agent": "the agent: an address, module:function, command: PROGRAM, openai:MODEL",
    "judge": "the model that scores the quality: openai:MODEL or anthropic:MODEL",
    "agents": "a TOML or YAML file with names of agents",
}
_paths = pytest.StashKey[list[Path]]()
_results = pytest.StashKey[dict[str, Mapping[str, Any]]]()
_scenario = pytest.StashKey[tuple["Scenario", int]]()
_fault = pytest.StashKey[str]()
_guard: pytest.StashKey["ExitGuard"] = pytest.StashKey()


class Undecided(Exception):
    """The record cannot show whether the scenario passes, or the agent or the judge failed."""


class Failed(Exception):
    """The scenario failed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("adjudge", "scenarios for agents")
    group.addoption(
        "--adjudge", action="append", default=[], metavar="PATH", help="Scenarios to run as tests: a file or a folder."
    )
    for name, words in _OPTIONS.items():
        group.addoption(f"--adjudge-{name}", metavar=name.upper(), help=f"For scenarios, {words}.")
        parser.addini(f"adjudge_{name}", f"For scenarios, {words}.")


def pytest_configure(config: pytest.Config) -> None:
    """Check the scenarios before anything is run, and have pytest look at their files."""
    config.addinivalue_line(
        "markers", "adjudge(**scenario): a scenario that the agent has to pass; a mapping or fields"
    )
    given: list[str] = config.getoption("adjudge")
    paths = [(config.invocation_params.dir / one).resolve() for one in given]
    config.stash[_paths] = paths
    config.stash[_results] = {}
    if paths:
        from adjudge.calling import folders

        # The agent may be a module here, as for the command.
        folders[:] = [str(config.invocation_params.dir)]
    for path in paths:
        _load(path)
    # A test that is named by its id (`scenarios/all.toml::capital`) is chosen already.
    named = [(config.invocation_params.dir / one.partition("::")[0]).resolve() for one in config.args if "::" in one]
    config.args.extend(str(path) for path in paths if not any(path in (one, *one.parents) for one in named))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "ScenarioFile | None":
    """Collect the scenario files of `--adjudge`, and no others."""
    paths = parent.config.stash[_paths]
    if file_path.suffix not in SUFFIXES or not any(path in (file_path, *file_path.parents) for path in paths):
        return None
    found: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
    return found


class ScenarioFile(pytest.File):
    """A file of scenarios; each of them is a test, for every repeat."""

    def collect(self) -> Iterator[pytest.Item]:
        """Give the tests."""
        for scenario in _load(self.path):
            for repeat in range(1, scenario.repeats + 1):
                name = scenario.id if scenario.repeats == 1 else f"{scenario.id}[{repeat}]"
                item = pytest.Function.from_parent(self, name=name, callobj=_passes)
                item.stash[_scenario] = scenario, repeat
                for tag in scenario.tags:
                    item.extra_keyword_matches.add(tag)
                yield item


def _passes(adjudge_result: Mapping[str, Any]) -> None:
    """Ask for the result: whether the scenario passed is checked for every test that has one."""
    del adjudge_result


def pytest_itemcollected(item: pytest.Item) -> None:
    """Have every test with the mark ask for the result of its scenario: a mark that nobody looks at would pass."""
    mark = item.get_closest_marker("adjudge")
    if mark is None or not isinstance(item, pytest.Function):
        return
    # A wrong mark is an error of its test, not of the session.
    given = mark.args[0] if mark.args else {}
    if not isinstance(given, Mapping) or len(mark.args) > 1 or "repeats" in {**given, **mark.kwargs}:
        why = "pytest.mark.adjudge takes a mapping or the fields of a scenario; for repeats, parametrize the test"
        item.stash[_fault] = why
    else:
        try:
            item.stash[_scenario] = _load({"id": item.name, **given, **mark.kwargs})[0], 1
        except pytest.UsageError as error:
            item.stash[_fault] = str(error)
    if FIXTURE not in item.fixturenames:
        item.fixturenames.append(FIXTURE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail the tests whose scenario failed, before their own assertions are looked at."""
    if _scenario in item.stash and isinstance(item, pytest.Function):
        result: Any = item.funcargs[FIXTURE]
        if not result["pass"]:
            raise Failed(_words(result))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the reasons, and not the lines of this file."""
    del item
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    if isinstance(error, Failed | Undecided):
        report.longrepr = f"{type(error).__name__.lower()}: {error}"
    return report


def _guard_exit(config: pytest.Config) -> None:
    """Keep an agent in this process from choosing pytest's exit code, from before its module is loaded."""
    from adjudge.calling import ExitGuard

    if _guard not in config.stash:
        capture = config.pluginmanager.getplugin("capturemanager")
        # What is said while pytest captures would be lost.
        before = (lambda: None) if capture is None else capture.suspend
        config.stash[_guard] = ExitGuard(pytest.ExitCode.INTERNAL_ERROR, before=before)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Have the process end as its tests did, whoever ends it from here on."""
    if _guard in session.config.stash:
        session.config.stash[_guard].decide(int(exitstatus))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Guard the process no longer, where it has more to do than this run; but again when it ends."""
    if _guard in config.stash:
        import atexit

        config.stash[_guard].lift()
        # Functions that were registered before, by the agent, are called after this one.
        atexit.register(config.stash[_guard].hold)


@pytest.fixture
def adjudge_agent(pytestconfig: pytest.Config) -> Any:
    """Return the agent under test; a fixture of yours with this name takes its place."""
    agent = _option(pytestconfig, "agent")
    if agent is None:
        raise pytest.UsageError("name the agent: --adjudge-agent, adjudge_agent in the configuration, or a fixture")
    return agent


@pytest.fixture
def adjudge_result(request: pytest.FixtureRequest, adjudge_agent: Any, tmp_path: Path) -> Mapping[str, Any]:
    """Run the scenario of a test and return its result; one that is undecided is an error of the test."""
    from adjudge.scenarios import outcome_of

    if _scenario not in request.node.stash:
        raise Undecided(request.node.stash.get(_fault, "the test has no scenario: mark it with pytest.mark.adjudge"))
    result = _result_of(request, adjudge_agent, tmp_path)
    if outcome_of(result) == "undecided":
        raise Undecided(_words(result))
    return result


@pytest.fixture
def adjudge_chat_server() -> Iterator[Callable[..., "ChatServer"]]:
    """Return a function that starts a scripted model, `adjudge.testing.ChatServer`; all of them stop with the test."""
    from adjudge.testing import ChatServer

    with ExitStack() as stack:
        yield lambda *given, **options: stack.enter_context(ChatServer(*given, **options))


@pytest.fixture
def adjudge_endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator["OtlpEndpoint"]:
    """Return an OTLP endpoint that listens, with its address in the environment of the test."""
    from adjudge.receivers import OtlpEndpoint

    with OtlpEndpoint() as endpoint:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        yield endpoint


def _result_of(request: pytest.FixtureRequest, agent: Any, folder: Path) -> Mapping[str, Any]:
    """Return the result of a test's scenario; scenarios of files with an agent by name are run together."""
    config, item = request.config, request.node
    known = config.stash[_results]
    if item.nodeid not in known:
        items = [item]
        # A process of pytest-xdist has its share of the tests, and does not know which.
        if isinstance(agent, str) and not hasattr(config, "workerinput"):
            together = (one for one in request.session.items if _scenario in one.stash)
            items = [one for one in together if isinstance(one.parent, ScenarioFile) or one is item]
        known |= _run(items, agent, config, folder)
    return known[item.nodeid]


def _run(items: Sequence[pytest.Item], agent: Any, config: pytest.Config, folder: Path) -> dict[str, Mapping[str, Any]]:
    """Run the scenarios of some tests at once, and return their results by test."""
    from dataclasses import replace

    from adjudge.scenarios import load_agent_names, run_scenarios

    _guard_exit(config)
    # Repeats are tests of their own, so that each can be chosen; ids are unique in one run.
    renamed = {str(number): one.stash[_scenario][0] for number, one in enumerate(items)}
    scenarios = [replace(one, id=number, repeats=1) for number, one in renamed.items()]
    file = _option(config, "agents")
    names = None if file is None else load_agent_names(config.rootpath / file)
    judge = _option(config, "judge")
    done = run_scenarios(scenarios, agent, judge=judge, run=folder / "adjudge.run", agents=names)
    by_number = {result["id"]: result for result in done.results}
    results: dict[str, Mapping[str, Any]] = {}
    for number, item in enumerate(items):
        scenario, repeat = item.stash[_scenario]
        results[item.nodeid] = {**by_number[str(number)], "id": scenario.id, "repeat": repeat}
    return results


def _load(source: Any) -> "list[Scenario]":
    from adjudge.errors import AdjudgeError
    from adjudge.scenarios import load_scenarios

    try:
        return load_scenarios(source)
    except AdjudgeError as error:
        raise pytest.UsageError(error.message) from None


def _option(config: pytest.Config, name: str) -> str | None:
    found: str | None = config.getoption(f"adjudge_{name}") or config.getini(f"adjudge_{name}")
    return found or None


def _words(result: Mapping[str, Any]) -> str:
    from adjudge.errors import printable

    lines = [*result["reasons"], *(f"warning: {one}" for one in result["warnings"])]
    return "\n".join(printable(line, most=500) for line in lines) or f"it is {result['status']}"
