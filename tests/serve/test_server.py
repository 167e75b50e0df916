"""The server as its clients see it: who may ask, for what, how much, and what is answered."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import UsageError
from adjudge.rewards import get_scorer
from adjudge.serve import ServeLimits
from serve.serving import TOKEN, Client, command, serving
from support import golden

ROW = {"final_response": "It is Paris.", "answer": "Paris"}


def as_bytes(row: object) -> bytes:
    """Return a row as a line."""
    return json.dumps(row).encode()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Serve two rewards and small limits."""
    folder = tmp_path_factory.mktemp("server")
    scorers = ("qa_f1_reward", "math_equal_reward", "rewards:best", "rewards:loose")
    options = [word for scorer in scorers for word in ("--scorer", scorer)]
    with serving(folder, *options, "--max-rows", "200", "--max-bytes", "300000", "--timeout", "5") as found:
        yield found


def test_golden_rows_have_the_same_scores(client: Client) -> None:
    """Golden rows through the server have the value, status, reason and parts that `score_many` gives them."""
    rows = [row["args"] for row in golden("qa") if row["reward"] == "qa_f1_reward"]
    # Many rows at once go to the scoring processes, few are scored where they are.
    many = (rows * 40)[:200]
    # Messages call a row by its place in the request.
    many[3], many[150] = {"answer": "Paris"}, {"final_response": 7, "answer": "Paris"}
    for given in (many, rows[:2], [rows[0], {"answer": "Paris"}]):
        wanted = [
            {"value": one.value, "status": one.status, "reason": one.reason, "parts": dict(one.parts)}
            for one in get_scorer("qa_f1_reward").score_many(given)
        ]
        assert client.scores(given) == wanted
        lines = client.ask("POST", "/score", b"\n".join(map(as_bytes, given)), Content_Type="application/x-ndjson")
        assert [json.loads(line) for line in lines.body.splitlines()] == wanted


def test_heavy_rows_have_the_same_scores(client: Client) -> None:
    """Math that needs algebra is scored as everywhere."""
    rows = [
        {"final_response": r"\boxed{\frac{1}{2}}", "answer": "0.5"},
        {"final_response": r"\boxed{\sin^2 x + \cos^2 x}", "answer": "1"},
        {"final_response": r"\boxed{(x+1)^2}", "answer": "x^2+2x+2"},
    ]
    assert [one["value"] for one in client.scores(rows, "math_equal_reward")] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("scorer", [None, "math_equal_reward", "rewards:best", "rewards:loose"])
def test_no_rows_have_no_scores(client: Client, scorer: str | None) -> None:
    """An empty list is answered with an empty list."""
    assert client.scores([], scorer) == []


def test_only_scorers_of_the_start_are_asked(client: Client) -> None:
    """A request that names another scorer is refused, also where its name is code."""
    for name in ("qa_em_reward", "os:getcwd", "rewards:slow", "./rewards.py:odd"):
        reply = client.ask("POST", "/score", {"rows": [ROW], "scorer": name})
        assert (reply.status, reply.json["error"].partition(":")[0]) == (400, "unknown-scorer")


def test_the_token_is_needed(client: Client) -> None:
    """Without the token nothing but the health is answered; it may come in a header or in the address."""
    stranger = Client(client.process, client.port, None)
    for path in ("/score", "/get_reward", "/slime", "/verify"):
        assert stranger.ask("POST", path, {"rows": [ROW]}).status == 401
        assert stranger.ask("POST", path, {"rows": [ROW]}, Authorization="Bearer wrong").status == 401
    for path in ("/metrics", "/openapi.json", "/nothing"):
        assert stranger.ask("GET", path).status == 401
    assert stranger.ask("GET", "/health").json == {"status": "ok"}
    assert stranger.ask("POST", f"/score?token={TOKEN}", {"rows": [ROW]}).status == 200
    # The word before it may have any case.
    assert stranger.ask("POST", "/score", {"rows": [ROW]}, Authorization=f"bearer {TOKEN}").status == 200


def test_pages_of_other_sites_are_refused(client: Client) -> None:
    """A page in a browser may not ask, even with the token."""
    assert client.ask("POST", "/score", {"rows": [ROW]}, Origin="http://evil.example").status == 403


def test_without_a_token_only_this_machine_asks(tmp_path: Path) -> None:
    """`--no-token` is refused on an address that others reach; on this machine a foreign name of it is refused."""
    refused = [
        ("--host", "0.0.0.0", "--no-token"),  # noqa: S104 (refused)
        ("--no-token", "--token", "x"),
    ]
    for options in refused:
        done = subprocess.run(
            command("--scorer", "qa_f1_reward", *options), capture_output=True, text=True, check=False
        )
        assert done.returncode == 2, done
    with serving(tmp_path, "--scorer", "qa_f1_reward", token=None) as client:
        assert client.scores([ROW])[0]["value"] == 0.5
        assert client.ask("POST", "/score", {"rows": [ROW]}, Host="evil.example").status == 421


def test_a_token_is_made_and_printed_once(tmp_path: Path) -> None:
    """Without `--token` a new one is printed; the one of the environment is not."""
    for given in (None, "from-the-environment"):
        environment = {**os.environ, **({} if given is None else {"ADJUDGE_SERVE_TOKEN": given})}
        process = subprocess.Popen(
            command("--scorer", "qa_f1_reward"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        token = given or process.stdout.readline().split()[1]
        assert Client(process, port, token).scores([ROW])[0]["value"] == 0.5
        process.terminate()
        out, err = process.communicate()
        assert process.returncode == 0
        assert token not in out + err


def test_what_scores_does_not_know_the_token(tmp_path: Path) -> None:
    """A token of the environment is not in that of the processes that score, which may run anything."""
    (tmp_path / "own.py").write_text(
        "import os\n\n\ndef known(final_response):\n    return float('ADJUDGE_SERVE_TOKEN' in os.environ)\n"
    )
    process = subprocess.Popen(
        command("--scorer", "./own.py:known"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "ADJUDGE_SERVE_TOKEN": "from-the-environment"},
    )
    assert process.stdout is not None
    port = int(process.stdout.readline().rpartition(":")[2])
    (score,) = Client(process, port, "from-the-environment").scores([ROW])
    process.terminate()
    process.communicate()
    assert (score["status"], score["value"]) == ("scored", 0.0)


def test_limits_are_refused(client: Client) -> None:
    """More rows or bytes than a request may have are 413, an encoding 415, another method 405, another path 404."""
    assert client.ask("POST", "/score", {"rows": [{}] * 201}).status == 413
    assert client.ask("POST", "/score", {"rows": [{"final_response": "x" * 300_000}]}).status == 413
    assert client.ask("POST", "/score", b"{}", Content_Encoding="gzip").status == 415
    lines = {"Content_Type": "application/x-ndjson", "Content_Encoding": "gzip"}
    assert client.ask("POST", "/score", b"{}", **lines).status == 415
    assert client.ask("GET", "/score").status == 405
    assert client.ask("POST", "/health", b"{}").status == 405
    assert client.ask("GET", "/scores").json["error"] == "unknown-path: there is no /scores; did you mean '/score'?"


def test_groups_are_scored_together(client: Client) -> None:
    """A scorer of groups sees the rows of one request, never those of two, and refuses rows without a group."""
    rows = [{"final_response": text, "group_id": group} for text, group in (("a", 1), ("aaa", 1), ("aa", 2))]
    assert [one["value"] for one in client.scores(rows, "rewards:best")] == [0.0, 1.0, 1.0]
    # An empty cell names no group: rows that have one do not belong together.
    for unknown in ({}, {"group_id": None}, {"group_id": ""}):
        rows = [{"final_response": "a", **unknown}, {"final_response": "aa", **unknown}]
        scores = client.scores(rows, "rewards:best")
        assert [(one["status"], one["reason"].partition(":")[0]) for one in scores] == [("error", "missing-column")] * 2
    assert client.ask("POST", "/score?scorer=rewards:best", b"{}\n", Content_Type="application/x-ndjson").status == 400


def test_parts_are_those_of_the_request(client: Client) -> None:
    """Parts that are not declared are those of all rows of the request, and not of its neighbours'."""
    (score,) = client.scores([{"final_response": "alone"}], "rewards:loose")
    assert score["parts"] == {"alone": 1.0}
    names = [f"n{number}" for number in range(150)]
    scores = client.scores([{"final_response": name} for name in names], "rewards:loose")
    assert [one["parts"] for one in scores] == [{**dict.fromkeys(names), name: 1.0} for name in names]


def test_lines_are_answered_with_lines(client: Client) -> None:
    """JSON lines are scored as they come, without a limit of rows; a bad line is an error in its place."""
    lines = [json.dumps({**ROW, "id": number}).encode() for number in range(1000)]
    lines[7], lines[500], lines[999] = b"{not json", b"[]", b'{"answer": "Paris"}'
    body = b"\n".join([*lines, b"", b""])
    reply = client.ask("POST", "/score", body, Content_Type="application/x-ndjson")
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    scores = [json.loads(line) for line in reply.body.splitlines()]
    assert len(scores) == 1000
    codes = {index: one["reason"].partition(":")[0] for index, one in enumerate(scores) if one["status"] != "scored"}
    assert codes == {7: "bad-row", 500: "bad-row", 999: "missing-column"}
    assert {one["value"] for one in scores if one["status"] == "scored"} == {0.5}
    long = b'{"final_response": "' + b"x" * 400_000 + b'"}\n' + lines[0]
    reply = client.ask("POST", "/score", long, Content_Type="application/x-ndjson")
    assert [json.loads(line)["status"] for line in reply.body.splitlines()] == ["error", "scored"]


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"timeout": 0.0}, {"max_rows": -1}, {"memory_mb": -1}], ids=str)
def test_limits_are_checked(wrong: dict[str, Any]) -> None:
    """A limit that nobody can mean is a wrong call."""
    with pytest.raises(UsageError, match=next(iter(wrong))):
        ServeLimits(**wrong)


def test_the_description_names_every_path(client: Client) -> None:
    """What `/openapi.json` describes is what is answered."""
    described = client.ask("GET", "/openapi.json").json
    assert described == {
        **json.loads(resources.files("adjudge.serve").joinpath("openapi.json").read_text()),
        "info": described["info"],
    }
    for path, methods in described["paths"].items():
        for method in methods:
            assert client.ask(method.upper(), path, b"{}" if method == "post" else None).status not in (404, 405)


def test_outcomes_are_counted_by_reason(client: Client) -> None:
    """`/metrics` has rows by outcome and code, requests by path and status, and their latency."""
    before = client.metrics()
    client.scores([ROW, ROW, {"answer": "Paris"}])
    after = client.metrics()
    labels = 'scorer="qa_f1_reward",status='
    grown = {name: after[name] - before.get(name, 0) for name in after}
    assert grown[f'adjudge_rows_total{{{labels}"scored",reason=""}}'] == 2
    assert grown[f'adjudge_rows_total{{{labels}"error",reason="missing-column"}}'] == 1
    assert grown['adjudge_requests_total{path="/score",status="200"}'] == 1
    assert grown["adjudge_request_seconds_count"] == 2  # that of /metrics, too
    assert after["adjudge_queued_rows"] == 0


def test_two_scorers_that_ask_models_are_refused() -> None:
    """A server has one budget, so one scorer that asks a model."""
    words = ("--scorer", "openai:a", "--scorer", "openai:b")
    done = subprocess.run(command(*words), capture_output=True, text=True, check=False)
    assert (done.returncode, "start a server for each" in done.stderr) == (2, True)


def test_serving_costs_no_import() -> None:
    """`adjudge.serve` is loaded where it is used, and not with adjudge."""
    code = "import sys, adjudge, adjudge.rewards; sys.exit('adjudge.serve' in sys.modules or 'aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
