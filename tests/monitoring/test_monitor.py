"""Watching changes nothing, costs bounded memory, and adds up over processes."""

import asyncio
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import warnings
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import Score, get_scorer, monitor, reward
from adjudge.errors import DataError, UsageError
from adjudge.model import encode_json, to_json
from adjudge.monitoring import Monitor, RewardWarning, alerts, load_state, merge
from adjudge.rewards import Scorer, weighted
from support import ROOT

TEXT = st.text(st.characters(codec=None), max_size=60)
ODD = st.one_of(TEXT, st.none(), st.integers(), st.floats(), st.lists(TEXT, max_size=2), st.dictionaries(TEXT, TEXT))
COLUMNS = st.sampled_from(["question", "answer", "final_response", "response", "group_id", "value", "trajectory"])


@reward(range=(0.0, 1.0))
def odd(final_response: Any = None, value: Any = 0.0, **columns: Any) -> Any:
    """Return whatever the row says."""
    return value


@reward(group=True)
def best_of(final_response: list[str], group_id: list[str]) -> list[float]:
    """1 for the longest response of a group."""
    return [float(len(one) == max(map(len, final_response))) for one in final_response]


@reward()
async def patient(final_response: str) -> float:
    """Return half a point, a moment later."""
    await asyncio.sleep(0)
    return 0.5


def rows_of(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Make rows of which every third is wrong and every seventh has no answer to compare with."""
    return [
        {
            "question": f"Which city has number {number // 4}?",
            "final_response": f"It is city {number // 4 + (number % 3 == 0)}.",
            "answer": None if number % 7 == 0 else f"city {number // 4}",
            "group_id": str(number // 4),
        }
        for number in range(start, start + count)
    ]


def quiet(scorer: Any, **options: Any) -> Monitor:
    """Watch without a word."""
    return monitor(scorer, warn=lambda _: None, **options)


def as_bytes(scores: list[Score]) -> list[bytes]:
    """Return scores as they are written."""
    return [encode_json(to_json(score)) for score in scores]


SCORERS = ["qa_f1_reward", "local:0", odd, best_of, patient, weighted({"qa_f1_reward": 0.5, "format_reward": 0.5})]


@pytest.mark.parametrize("scorer", SCORERS, ids=["batch", "judge", "function", "group", "async", "composite"])
def test_scores_are_the_same(scorer: Any) -> None:
    """Watched or not, sync or async, many or one, every Score is the same to the byte."""
    plain, watched = get_scorer(scorer), quiet(scorer, window=32, canaries=0.5, second="local:0")
    rows = rows_of(100)
    expected = as_bytes(plain.score_many(rows))
    assert as_bytes(watched.score_many(rows)) == expected
    assert as_bytes(asyncio.run(watched.ascore_many(rows))) == expected
    assert as_bytes([watched.score(row) for row in rows[:20]]) == as_bytes([plain.score(row) for row in rows[:20]])
    assert (watched.name, watched.version, watched.parts) == (plain.name, plain.version, plain.parts)
    assert watched.last_fault is None
    assert watched.figures()["rows"] == 220


@given(st.lists(st.dictionaries(COLUMNS, ODD, max_size=6), max_size=40))
def test_no_row_raises(rows: list[dict[str, Any]]) -> None:
    """Whatever is in the rows, they get the scores that they would have got, and are watched without a fault."""
    watched = quiet(odd, window=32, every=1, second="local:0", canaries=0.5)
    assert as_bytes(watched.score_many(rows)) == as_bytes(get_scorer(odd).score_many(rows))
    watched.flush()
    assert watched.last_fault is None
    assert json.loads(json.dumps(watched.state())) == watched.state()


def test_rows_that_are_no_mappings_are_errors() -> None:
    """What is not a row is an error of that row, and counted as one."""
    watched = quiet("qa_f1_reward")
    rows: Any = [None, 3, "text", *rows_of(1, 1)]
    assert [score.status for score in watched.score_many(rows)] == ["error", "error", "error", "scored"]
    assert watched.figures()["error.bad-row"] == 0.75


def test_merging_does_not_depend_on_order() -> None:
    """States of processes add up to the same in every order and grouping."""
    states = []
    for start in (0, 1000, 2000):
        watched = quiet("qa_f1_reward", window=32)
        watched.score_many(rows_of(300, start))
        states.append(watched.state())
    whole = merge(states)
    assert all(merge(order) == whole for order in permutations(states))
    assert merge([merge(states[:2]), states[2]]) == merge([states[0], merge(states[1:])]) == whole
    assert whole["total"]["sums"]["rows"] == 900
    assert merge([whole]) == whole


@given(
    st.lists(st.lists(st.sampled_from([f"code-{n}: why" for n in range(200)]), max_size=120), min_size=3, max_size=3)
)
def test_merging_many_reasons(batches: list[list[str]]) -> None:
    """Where there are more reasons than are kept, those that are kept have exact counts in every order."""
    states = []
    for reasons in batches:
        watched = quiet(odd, window=1000)
        watched.score_many([{"final_response": "", "value": Score.unscored(reason)} for reason in reasons])
        states.append(watched.state())
    first, second, third = states
    assert merge([merge([first, second]), third]) == merge([third, merge([second, first])])
    every = [reason.partition(":")[0] for reasons in batches for reason in reasons]
    kept = {name: count for name, count in merge(states)["total"]["sums"].items() if name.startswith("reason:")}
    assert kept == {name: every.count(name.removeprefix("reason:unscored:")) for name in kept}
    assert len(kept) == min(32, len(set(every)))


def test_memory_is_bounded() -> None:
    """After 100,000 rows, with ever new parts and reasons, the state is not larger than after 10,000."""
    watched = quiet(odd, window=256)
    sizes = []
    for batch in range(100):
        rows: list[dict[str, Any]] = [
            {"final_response": f"text {n} " * 9, "value": {"reward": n % 2, f"part-{batch}-{n % 9}": n}}
            for n in range(999)
        ]
        fault = Score.error(f"code-{batch}: {batch}")
        watched.score_many([*rows, {"final_response": "x" * 9999, "value": fault}])
        if batch % 10 == 9:
            sizes.append(len(json.dumps(watched.state())))
    assert watched.figures()["rows"] == 100_000
    assert max(sizes) < 1.2 * sizes[0] < 200_000


UNREADABLE: list[dict[str, Any]] = [
    {"text": "Paris"},
    {"final_response": None},
    {"response": [{"type": "image"}]},
    {"response": 10**5000},
]


@pytest.mark.parametrize("row", UNREADABLE, ids=["other name", "none", "image", "number"])
def test_what_cannot_be_read_is_not_empty(row: dict[str, Any]) -> None:
    """Where the response is in no column of ours, nothing is said of it."""
    found: list[Any] = []
    watched = monitor(odd, warn=found.append, window=32, every=1)
    watched.score_many([{**row, "value": 1.0}] * 128)
    assert found == []
    assert watched.last_fault is None


def test_the_last_word_of_an_episode_is_not_read() -> None:
    """Where the environment is what is scored, an empty response is as good as any."""

    @reward(range=(0.0, 1.0))
    def achieved(final_response: str, context: Any = None) -> float:
        return 1.0

    found: list[Any] = []
    monitor(achieved, warn=found.append, window=32, every=1).score_many([{"final_response": ""}] * 128)
    assert found == []


def test_state_asks_nobody() -> None:
    """To look at the open window does not end it."""
    watched = quiet("qa_f1_reward", window=64)
    watched.score_many(rows_of(100))
    assert watched.state() == watched.state()
    watched.score_many(rows_of(28, 100))
    assert set(watched.state()["windows"]) == {"0", "1"}


def test_callbacks_that_fail_change_nothing() -> None:
    """An exception in a callback, or a file that cannot be written, reaches nobody but the figures."""

    def fail(_: object) -> None:
        raise RuntimeError("no dashboard")

    watched = monitor(odd, log=fail, warn=fail, path="/dev/null/monitor.jsonl", window=32)
    rows = [{"final_response": "a", "value": None}] * 128
    assert len(watched.score_many(rows)) == 128
    assert watched.figures()["rows"] == 128
    assert watched.last_fault is not None
    assert "no dashboard" in watched.last_fault


def test_canaries_that_fail_lose_no_rows() -> None:
    """A judge that breaks on canaries is a fault of watching; the rows are scored and counted."""

    class Breaking(Scorer):
        name, version, parts, range, columns, accepts = "breaking", "1", (), (0.0, 1.0), (), None
        is_async = has_async = is_group = False

        def _score_slice(self, rows: Any, contexts: Any, labels: Any) -> list[Score]:
            if any("canary" not in row for row in rows):
                raise UsageError("no canaries here")
            return [Score.scored(1.0) for _ in rows]

    class Row(dict[str, Any]):
        """A row that is known, where a copy of it is not."""

        def __contains__(self, name: object) -> bool:
            return name == "canary" or super().__contains__(name)

    Breaking.provenance = get_scorer("qa_em_reward").provenance
    watched = quiet(Breaking(), canaries=1.0, window=32)
    assert len(watched.score_many([Row(row) for row in rows_of(32, 1)])) == 32
    assert watched.figures()["rows"] == 32
    assert watched.last_fault == "usage: no canaries here"


def test_canaries_do_not_depend_on_chance() -> None:
    """The same rows, in the same order, have the same canaries."""
    both = [quiet("local:0", canaries=0.3, window=64) for _ in range(2)]
    for watched in both:
        watched.score_many(rows_of(64, 1))
    assert both[0].state() == both[1].state()
    assert both[0].state()["total"]["sums"]["canaries"] > 5


def test_warnings_are_ours() -> None:
    """By default a rule speaks through a `RewardWarning`."""
    with pytest.warns(RewardWarning, match="faults: many rows have no score"):
        monitor(odd, window=32).score_many([{"final_response": "a", "value": None}] * 128)


def test_log_gets_flat_figures() -> None:
    """`log` gets a flat dict of floats for each window."""
    found: list[dict[str, float]] = []
    monitor("qa_f1_reward", log=found.append, warn=lambda _: None, window=32).score_many(rows_of(64))
    assert len(found) == 2
    assert all(type(name) is str and type(value) is float for one in found for name, value in one.items())
    assert {"rows", "scored", "mean", "part.f1.mean", "length", "near_equal", "same_openers"} <= set(found[0])


def test_a_pickled_copy_counts_its_own(tmp_path: Path) -> None:
    """A copy in a spawned process gives the same scores, and writes a file of its own."""
    watched = quiet("qa_f1_reward", window=32, path=tmp_path / "monitor.jsonl", log=print)
    watched.score_many(rows_of(32))
    code = (
        "import pickle, sys; watched, rows = pickle.load(sys.stdin.buffer)\n"
        "print(len(watched.score_many(rows)), watched.figures()['rows'])"
    )
    sent = pickle.dumps((watched, rows_of(64)))
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert done.stdout.split() == [b"64", b"64.0"]
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    assert sorted(load_state(file)["total"]["sums"]["rows"] for file in files) == [32, 64]


def test_a_forked_copy_counts_its_own(tmp_path: Path) -> None:
    """A forked process does not count again what its parent counted, and writes a file of its own."""
    watched = quiet("qa_f1_reward", window=32, path=tmp_path / "monitor.jsonl")
    watched.score_many(rows_of(40))
    process = multiprocessing.get_context("fork").Process(target=lambda: watched.score_many(rows_of(64)))
    process.start()
    process.join()
    assert process.exitcode == 0
    watched.score_many(rows_of(24))
    merged = merge(load_state(file) for file in tmp_path.iterdir())
    assert merged["total"]["sums"]["rows"] == 128


def test_a_kill_loses_at_most_the_last_line(tmp_path: Path) -> None:
    """Whenever the process is killed, every line but the last is whole, and whoever appends begins a new one."""
    path = tmp_path / "monitor.jsonl"
    code = (
        "import sys; from adjudge import monitor; rows = [{'final_response': 'a', 'answer': 'a'}] * 32\n"
        f"m = monitor('qa_em_reward', path={str(path)!r}, window=32)\n"
        "while True: m.score_many(rows); print('.', flush=True)"
    )
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(7):
                process.stdout.readline()
            os.kill(process.pid, signal.SIGKILL)
    with path.open("ab") as file:
        file.write(b'{"kind": "window", "coun')
    quiet("qa_em_reward", path=path, window=32).score_many([{"final_response": "a", "answer": "a"}] * 32)
    lines = path.read_bytes().splitlines()
    broken = [line for line in lines if not line.endswith(b"}")]
    assert len(broken) <= 6
    assert load_state(path)["total"]["sums"]["rows"] == 32 * (len(lines) - len(broken))


def test_file_has_windows_and_warnings(tmp_path: Path) -> None:
    """A line a window, with figures and counts; a line a warning, with its examples; readable by the owner alone."""
    path = tmp_path / "monitor.jsonl"
    watched = quiet(odd, path=path, window=32)
    watched.score_many([{"final_response": f"text {n}", "value": None} for n in range(128)])
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["kind"] for line in lines] == ["window", "window", "warning", "window", "window"]
    assert lines[2]["rule"] == "faults"
    assert len(lines[2]["examples"]) == 3
    assert lines[3]["speaking"] == ["faults"]
    assert load_state(path) == watched.state()
    assert path.stat().st_mode & 0o077 == 0


def test_rules_speak_of_merged_states() -> None:
    """What every worker sees too little of shows where their states are merged."""
    states = []
    for worker in range(8):
        watched = quiet(odd, window=32)
        watched.score_many(
            [
                {"final_response": "a", "value": None if n % 4 == 0 else 1.0, "group_id": f"{worker} {n}"}
                for n in range(64)
            ]
        )
        assert alerts(watched.state()) == []
        states.append(watched.state())
    assert [alert.rule for alert in alerts(merge(states))] == ["faults"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"window": 1},
        {"every": 0},
        {"canaries": 2.0},
        {"rules": ["lenght"]},
        {"second": "openai:gpt-4o"},
    ],
    ids=str,
)
def test_a_wrong_call_says_so(wrong: dict[str, Any]) -> None:
    """An option that means nothing is refused before the first row."""
    with pytest.raises(UsageError):
        monitor("qa_f1_reward", **wrong)


@pytest.mark.parametrize(
    "state", [{}, {"scorer": "a", "version": "1", "total": {}, "windows": {}}, {"scorer": 1}], ids=str
)
def test_a_state_that_is_none_is_refused(state: dict[str, Any]) -> None:
    """What is not a state is a `DataError`."""
    with pytest.raises(DataError):
        merge([state])


def test_states_of_two_scorers_are_not_merged() -> None:
    """Counts of different scorers do not add up."""
    states = [quiet(name).state() for name in ("qa_f1_reward", "qa_em_reward")]
    with pytest.raises(UsageError, match="qa_f1_reward"):
        merge(states)
    with pytest.raises(UsageError, match="no state"):
        merge([])


def test_a_monitor_is_a_scorer() -> None:
    """It can be part of a composite, and be asked for by `get_scorer`."""
    watched = quiet("qa_f1_reward")
    assert isinstance(watched, Scorer)
    assert get_scorer(watched) is watched
    both = weighted({watched: 1.0})
    assert both.score({"final_response": "Paris", "answer": "Paris"}).value == 1.0
    assert watched.figures()["rows"] == 1.0


def test_right_answers_of_real_models_are_not_suspicious() -> None:
    """Of answers that people called right less than 1 % look like a hack, where a rule needs 5 % and more."""
    lines = (ROOT / "benchmarks" / "everyday.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["label"] == 1]
    watched = quiet(odd, every=1)
    watched.score_many([{**row, "value": 1.0} for row in rows])
    figures = watched.figures()
    assert figures["rows"] > 600
    for name in ("master_keys", "format_only", "copied_questions", "rewarded_refusals"):
        assert figures[name] < 0.01


def test_nothing_is_warned_of_an_ordinary_run() -> None:
    """Rows of an ordinary scorer raise no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watched = monitor("qa_em_reward", window=32)
        watched.score_many([row | {"answer": "city"} for row in rows_of(2000)])
    assert watched.last_fault is None
