"""Importing adjudge is cheap and does nothing."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from support import ROOT

SOURCE = ROOT / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCE / "adjudge").rglob("*.py")
    if path.name != "__main__.py"
)


def cpu_of_process(*arguments: str) -> float:
    """Return the CPU time of one run of the interpreter, in seconds."""
    # With compiled files, as they are where a package is installed, whatever this shell says about writing them.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    ("arguments", "budget"),
    [
        (("-c", "import adjudge"), 3.0),
        (("-c", "import adjudge.rewards"), 6.0),
        (("-m", "adjudge", "--help"), 8.0),
    ],
    ids=["adjudge", "adjudge.rewards", "--help"],
)
def test_import_budgets(arguments: tuple[str, ...], budget: float) -> None:
    """Loading costs no more than its multiple of a bare interpreter: CPU time, least of 15, three tries."""
    ratios = []
    for _ in range(3):
        bare = min(cpu_of_process("-c", "pass") for _ in range(15))
        ratios.append(min(cpu_of_process(*arguments) for _ in range(15)) / bare)
        if ratios[-1] <= budget:
            return
    pytest.fail(f"{ratios} times a bare interpreter, allowed are {budget}")


@pytest.mark.parametrize(
    "module",
    [
        "adjudge",
        "adjudge.rewards",
        "adjudge.model",
        "adjudge.text",
        "adjudge.prompts",
        "adjudge.judges",
        "adjudge.judges.local",
        "adjudge.cli",
    ],
)
def test_nothing_heavy_is_loaded(module: str) -> None:
    """A light import loads no event loop, no data library and no terminal library."""
    heavy = [
        "asyncio",
        "multiprocessing",
        "msgspec",
        "numpy",
        "onnxruntime",
        "pandas",
        "pydantic",
        "pyarrow",
        "rich",
        "sqlite3",
        "sympy",
        "tokenizers",
    ]
    code = f"import sys, json, {module}; print(json.dumps([name for name in {heavy} if name in sys.modules]))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert json.loads(output) == []


def test_runs_load_nothing_foreign() -> None:
    """The engine, loaded whole, brings no vendor's SDK, no data library and no web framework."""
    foreign = [
        "aiohttp",
        "anthropic",
        "fastapi",
        "langfuse",
        "numpy",
        "onnxruntime",
        "openai",
        "pandas",
        "pyarrow",
        "starlette",
        "tokenizers",
        "torch",
    ]
    code = (
        "import sys, json, adjudge.runs as runs; [getattr(runs, name) for name in runs.__all__]; import "
        f"adjudge.runs._sessions; print(json.dumps([name for name in {foreign} if name in sys.modules]))"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert json.loads(output) == []


WATCH = """
import atexit, importlib, json, logging, os, signal, sys, threading
done = []
ours = lambda: any(
    frame.f_globals.get("__name__", "").startswith("adjudge") for frame in frames())
def frames():
    frame = sys._getframe(2)
    while frame:
        yield frame
        frame = frame.f_back
class Environment(dict):
    def __getitem__(self, key):
        if sys._getframe(1).f_globals.get("__name__", "").startswith("adjudge"): done.append("environment: " + key)
        return dict.__getitem__(self, key)
    def get(self, key, default=None):
        if sys._getframe(1).f_globals.get("__name__", "").startswith("adjudge"): done.append("environment: " + key)
        return dict.get(self, key, default)
def watch(event, arguments):
    if event == "open" and (arguments[2] & (os.O_WRONLY | os.O_RDWR)): done.append(f"write: {arguments[0]}")
    if event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "sqlite3.")):
        done.append(event)
sys.dont_write_bytecode = True
os.environ = Environment(os.environ)
register = atexit.register
atexit.register = lambda *a, **k: (done.append(f"atexit: {a[0]}") if ours() else None, register(*a, **k))[1]
start = threading.Thread.start
threading.Thread.start = lambda self: (done.append("thread"), start(self))[1]
handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)}
sys.addaudithook(watch)
for module in MODULES: importlib.import_module(module)
if logging.getLogger().handlers or logging.getLogger("adjudge").handlers: done.append("logging")
if handlers != {number: signal.getsignal(number) for number in handlers}: done.append("signals")
print(json.dumps(done))
"""


def test_nothing_is_done_at_import(tmp_path: Path) -> None:
    """Importing every module reads no environment, writes no file, starts nothing and registers nothing."""
    assert "adjudge.rewards.qa" in MODULES
    code = WATCH.replace("for module in MODULES", f"for module in {MODULES}")
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert json.loads(result.stdout) == []


def test_the_watch_sees_what_it_should(tmp_path: Path) -> None:
    """The test above can fail: a module that does things at import is caught."""
    (tmp_path / "adjudge_bad.py").write_text(
        "import os, atexit, threading\nos.environ.get('HOME')\nopen('x', 'w').close()\n"
        "atexit.register(print)\nthreading.Thread(target=int).start()\n"
    )
    code = WATCH.replace("for module in MODULES", "for module in ['adjudge_bad']")
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    kinds = {line.partition(":")[0] for line in json.loads(result.stdout.splitlines()[0])}
    assert kinds >= {"environment", "write", "atexit", "thread"}


def test_judging_by_a_model_loads_no_other_judge_and_no_agent() -> None:
    """A run of a model's verdicts loads neither the judge in the package nor what reads the records of agents."""
    code = (
        "import sys, json; from adjudge.runs import make_job; make_job(judge='openai:m'); "
        "print(json.dumps([name for name in ('adjudge.judges.local', 'adjudge.agents', 'adjudge.traces') "
        "if name in sys.modules]))"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert json.loads(output) == []


def test_scoring_a_file_loads_no_database_and_no_client(tmp_path: Path) -> None:
    """`adjudge score` is a light pass: no run file, no HTTP, no judge is loaded for it."""
    (tmp_path / "rows.jsonl").write_text('{"answer": "x", "final_response": "x"}\n', encoding="utf-8")
    code = (
        "import sys; sys.argv = ['adjudge', 'score', 'rows.jsonl', '--scorer', 'qa_f1_reward']\n"
        "from adjudge.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print(*sorted(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "adjudge.runs" in loaded
    assert not loaded & {"sqlite3", "aiohttp", "asyncio", "adjudge.http", "adjudge.judges", "adjudge.runs._store"}
