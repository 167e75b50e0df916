"""What holds for every test: own folders for what is written and read, SIGINT interrupts, no verdict by the clock."""

import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from support import ROOT

# Hypothesis fails an example that takes more than 200 ms, however busy the machine is. No test here means that.
settings.register_profile("adjudge", deadline=None)
settings.load_profile("adjudge")


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Have processes that tests start end by SIGINT, which a shell's background jobs ignore, and their children."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep runs, caches and keys of the tests apart from the user's."""
    folder = tmp_path_factory.mktemp("own")
    ours = {
        "ADJUDGE_CACHE": str(folder / "cache.sqlite"),
        "ADJUDGE_RUNS": str(folder / "runs"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ours.items():
            patch.setenv(name, value)
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY_FILE"):
            if name in os.environ:
                patch.delenv(name)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_retries() -> Iterator[None]:
    """Wait a tenth as long between two attempts of a request: no test is about how long that is."""
    from adjudge.http import _retry

    with pytest.MonkeyPatch.context() as patch:
        for name in ("_BASE_S", "_LONGEST_S"):
            patch.setattr(_retry, name, getattr(_retry, name) / 10)
        yield


@pytest.fixture(scope="module")
def training() -> Iterator[Any]:
    """Give the training scripts that need nothing but Python."""
    sys.path.insert(0, str(ROOT / "training"))
    try:
        import measures
        import rows

        yield rows, measures
    finally:
        sys.path.remove(str(ROOT / "training"))
