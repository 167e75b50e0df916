"""What a math worker does with hostile text, seen by an audit hook inside the worker."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from adjudge.processes import JobCrashed, JobFailed, JobTimeout, WorkerPool
from adjudge.rewards.math._worker import WARM
from rewards.math.hostile import ADVERSARIAL, ENDLESS, INJECTIONS, LOG, NEED_SYMPY

LIMIT_S = 0.5


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which the workers write down what they see."""
    path = tmp_path / "audit.log"
    path.touch()
    monkeypatch.setenv(LOG, str(path))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.fixture
def ask(log: Path) -> Iterator[Callable[[dict[str, object]], None]]:
    """Return a way to have a job done by a worker with the hook, whatever becomes of it."""
    with WorkerPool("rewards.math.audited:job", cpu_s=LIMIT_S, warm=WARM, stderr="discard") as pool:

        def done(payload: dict[str, object]) -> None:
            with suppress(JobTimeout, JobCrashed, JobFailed):
                pool.run(payload)

        yield done


def test_no_job_acts(log: Path, ask: Callable[[dict[str, object]], None]) -> None:
    """No adversarial row, injection or symbolic comparison runs, imports, writes or connects anything.

    The one thing compiled is what sympy writes itself to work with exponents, of a fixed set of words.
    """
    texts = [
        *((row.text, row.gold) for row in ADVERSARIAL),
        *((text, "1") for text in INJECTIONS),
        *NEED_SYMPY,
        *((text, "x") for text in ENDLESS),
    ]
    for text, gold in texts:
        ask({"response": text, "gold": gold, "policy": {}})
    assert log.read_text(encoding="utf-8") == ""
    assert list(log.parent.iterdir()) == [log]


def test_no_gold_acts(log: Path, ask: Callable[[dict[str, object]], None]) -> None:
    """Nor does any of them in the place of the gold."""
    for text in INJECTIONS:
        ask({"response": r"\boxed{\int x^2 dx}", "gold": text, "policy": {}})
    assert log.read_text(encoding="utf-8") == ""
    assert list(log.parent.iterdir()) == [log]


@pytest.mark.parametrize(
    ("code", "event"),
    [
        ("answer = 42", "exec"),
        ("eval('len(str(42))')", "compile"),
        ("import os; os.system('true')", "os.system"),
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
        ("open('pwned', 'w')", "open"),
        ("import socket; socket.socket()", "socket.__new__"),
        ("import hypothesis.strategies", "import"),
    ],
)
def test_the_hook_sees(code: str, event: str, log: Path, ask: Callable[[dict[str, object]], None]) -> None:
    """The hook would have seen each of these: the tests above can fail."""
    ask({"python": code})
    assert event in {line.partition(" ")[0] for line in log.read_text(encoding="utf-8").splitlines()}
