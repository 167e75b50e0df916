"""A scorer that asks a model: one budget and one cache over all clients, and a run file of what was asked."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adjudge.runs import open_run, resume_run
from adjudge.testing import ChatServer
from serve.serving import serving

KEY = {"OPENAI_API_KEY": "sk-test"}


def row(number: int) -> dict[str, str]:
    """Return a row of its own."""
    return {"question": f"Capital number {number}?", "reference": "Paris", "response": f"It is Paris, number {number}."}


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    """Keep the run and the cache in the test's folder."""
    return ["--run", str(tmp_path / "served.run"), "--cache", str(tmp_path / "cache.sqlite")]


def test_clients_share_one_cache_and_one_run(tmp_path: Path, options: list[str]) -> None:
    """Equal rows of many clients are paid once, and the run file has every row with its score and its reply."""
    with ChatServer() as model:
        spec = f"openai:judge(base_url='{model.base_url}')"
        with serving(tmp_path, "--scorer", spec, *options, **KEY) as client, ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda number: client.scores([row(number % 4)])[0], range(16)))
        assert [one["value"] for one in answers] == [1.0] * 16
        assert model.counts.calls == 4
        # The next server finds the replies in the cache.
        with serving(tmp_path, "--scorer", spec, *options, **KEY) as client:
            assert client.scores([row(0), row(9)])[1]["value"] == 1.0
        assert model.counts.calls == 5
    run = open_run(tmp_path / "served.run")
    assert run.state.counts == {"scored": 18, "unscored": 0, "error": 0}


def test_clients_share_one_budget(tmp_path: Path, options: list[str]) -> None:
    """A budget is that of all clients, and of the server that is started again with the run: then rows are errors."""
    with ChatServer() as model:
        spec = f"openai:judge(base_url='{model.base_url}')"
        words = ("--scorer", spec, *options, "--max-calls", "5")
        for first in (0, 100):
            with serving(tmp_path, *words, **KEY) as client, ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(lambda number: client.scores([row(number)])[0], range(first, first + 12)))
                outcomes = [(one["status"], str(one["reason"]).partition(":")[0]) for one in answers]
                assert sum(status == "scored" for status, _ in outcomes) == (0 if first else 5)
                assert {code for status, code in outcomes if status == "error"} <= {"budget-spent", "stopped"}
                # Those that come after the one that met the end of the budget say it, too.
                assert all("budget of 5 calls" in one["reason"] for one in answers if one["status"] == "error")
                assert all(one["value"] is None for one in answers if one["status"] != "scored")
        assert model.counts.calls == 5
        # Rows for which nothing was left are rows to do.
        run = tmp_path / "served.run"
        assert open_run(run).state.state == "stopped"
        assert open_run(run).state.counts == {"scored": 5, "unscored": 0, "error": 0}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENAI_API_KEY", "sk-test")
            resume_run(str(run), limits={"max_calls": 100})
        assert open_run(run).state.counts == {"scored": 24, "unscored": 0, "error": 0}


def test_after_a_wrong_key_every_row_says_so(tmp_path: Path, options: list[str]) -> None:
    """A key that is refused stops the calls: the rows after it name it, and do not only say that calls have stopped."""
    with ChatServer(faults={"401": 1.0}) as model:
        spec = f"openai:judge(base_url='{model.base_url}')"
        with serving(tmp_path, "--scorer", spec, *options, **KEY) as client:
            reasons = [client.scores([row(number)])[0]["reason"] for number in range(3)]
    assert model.counts.calls == 1
    assert all("401" in reason for reason in reasons), reasons


def test_faults_of_a_model_are_no_numbers(tmp_path: Path, options: list[str]) -> None:
    """A judge that answers nothing readable leaves rows unscored; a row without a question is an error, unasked."""
    with ChatServer("no verdict at all") as model:
        spec = f"openai:judge(base_url='{model.base_url}')"
        with serving(tmp_path, "--scorer", spec, *options, **KEY) as client:
            scores = client.scores([row(0), {"reference": "x", "response": "y"}, 7])
            assert [one["status"] for one in scores] == ["unscored", "error", "error"]
            assert client.metrics()["adjudge_queued_rows"] == 0
