"""`adjudge resend FILE`, as a person calls it."""

from pathlib import Path

from adjudge.sinks import Outbox, OutScore
from adjudge.testing import Fault, ScoreServer
from cli.command import adjudge, said
from sinks.scores import ENV, KEYS, bad_scores, good_scores, send


def test_resend(tmp_path: Path) -> None:
    """What is pending is delivered, rejected scores are listed with their reasons, and the exit code is 0."""
    with ScoreServer([Fault("401")], keys=KEYS) as server:
        assert send(tmp_path / "a.outbox", server.host, [*good_scores(20), *bad_scores()[:1]]).pending == 20
        result = adjudge("resend", "a.outbox", cwd=tmp_path, env=ENV)
        assert len(server.scores) == 20
        again = adjudge("resend", "a.outbox", cwd=tmp_path, env=ENV)
        assert len(server.arrivals) == 20
    assert (result.returncode, result.stderr) == (0, b"")
    first, second = result.stdout.decode().splitlines()
    assert first == "langfuse: 20 delivered, 0 pending, 1 rejected"
    assert second.startswith("  rejected bad_0 of 0000")
    assert second.endswith("no-value: the value is nan, not a number")
    assert again.stdout == result.stdout


def test_still_pending(tmp_path: Path) -> None:
    """With the wrong key the exit code is 3, one line says why, and no key is shown."""
    with ScoreServer(keys=("pk", "other")) as server:
        send(tmp_path / "a.outbox", server.host, good_scores(3))
        result = adjudge("resend", "a.outbox", "--host", server.host, cwd=tmp_path, env=ENV)
    assert result.returncode == 3
    assert result.stdout.decode() == "langfuse: 0 delivered, 3 pending, 0 rejected\n"
    assert b"LANGFUSE_SECRET_KEY" in result.stderr
    assert KEYS[1].encode() not in result.stdout + result.stderr


def test_hostile_names_on_the_terminal(tmp_path: Path) -> None:
    """A name or a reason that moves the cursor or starts a line is shown as text, on one line."""
    name = "a\x1b[2J\nlangfuse: 99 delivered\r"
    with ScoreServer(refuse=lambda _: "no\x1b[31m\nreason") as server:
        send(tmp_path / "a.outbox", server.host, [OutScore(name, 1.0, trace_id="t")])
        result = adjudge("resend", "a.outbox", cwd=tmp_path, env=ENV)
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 2
    assert b"\x1b" not in result.stdout


def test_bad_files(tmp_path: Path) -> None:
    """A file that is not there is a wrong call, one that is no outbox is a fault; each is one line."""
    (tmp_path / "text").write_text("not an outbox, and rather longer than the head of a database is" * 9)
    for file, code in (("nothing", 2), ("text", 3)):
        result = adjudge("resend", file, cwd=tmp_path)
        assert result.returncode == code
        assert "outbox" in said(result)


def test_one_host_for_several(tmp_path: Path) -> None:
    """Another address is refused where the outbox has scores for several receivers."""
    with Outbox(tmp_path / "a.outbox") as outbox:
        for name in ("langfuse", "phoenix"):
            outbox.add(name, {"kind": name, "host": "http://127.0.0.1:9"}, good_scores(1))
    result = adjudge("resend", "a.outbox", "--host", "http://127.0.0.1:9", cwd=tmp_path, env=ENV)
    assert (result.returncode, "langfuse, phoenix: leave out the host" in said(result)) == (2, True)
