"""`adjudge view` prints one address and ends when it is interrupted."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cli.command import PATIENCE, adjudge, said, start
from view.looking import make_run, rows_of


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep indexes out of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ADJUDGE_RUNS", str(tmp_path / "runs"))


@pytest.mark.parametrize("paths", [("a.run",), (".",), ()], ids=["a file", "a folder", "nothing"])
def test_view_serves_until_it_is_interrupted(tmp_path: Path, paths: tuple[str, ...]) -> None:
    """One line is printed, the address answers to who has it, and Ctrl-C ends it with exit code 0."""
    make_run(tmp_path / "a.run", rows_of(3))
    process = start("view", *paths, "--no-browser", cwd=tmp_path)
    try:
        assert process.stdout is not None
        place = urlsplit(process.stdout.readline().decode().strip())
        assert (place.hostname, place.query[:6]) == ("127.0.0.1", "token=")
        connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=PATIENCE)
        connection.request("GET", f"/?{place.query}")
        assert connection.getresponse().status == 303
        connection.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (0, b"", b"")
    finally:
        process.kill()
        process.wait()


def test_others_can_look(tmp_path: Path) -> None:
    """Who lets others look gets a link that they can open, and is warned."""
    make_run(tmp_path / "a.run", rows_of(1))
    process = start("view", "a.run", "--no-browser", "--host", "::", cwd=tmp_path)
    try:
        assert process.stdout is not None
        assert urlsplit(process.stdout.readline().decode()).hostname not in ("::", None)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert b"everybody who has this link can read the runs" in err
    finally:
        process.kill()
        process.wait()


def test_what_cannot_be_served_is_one_line(tmp_path: Path) -> None:
    """A missing file, and a port that somebody has, are the caller's matter: exit code 2."""
    make_run(tmp_path / "a.run", rows_of(1))
    done = adjudge("view", "none.run", "--no-browser", cwd=tmp_path)
    assert (done.returncode, said(done)) == (2, "none.run: there is no such file or folder")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = adjudge("view", "a.run", "--no-browser", "--port", port, cwd=tmp_path)
    assert done.returncode == 2
    assert said(done).startswith(f"cannot listen on 127.0.0.1:{port}:")


@pytest.mark.parametrize(
    ("package", "call"), [("starlette", ["view"]), ("jinja2", ["report", "a.run", "--out", "a.html"])]
)
def test_without_the_extra_the_install_is_named(tmp_path: Path, package: str, call: list[str]) -> None:
    """Where the packages are missing, the error says which install brings them."""
    make_run(tmp_path / "a.run", rows_of(1))
    code = f"import sys; sys.modules[{package!r}] = None; sys.argv[1:] = {call!r}; from adjudge.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, env=os.environ, check=False)
    assert (done.returncode, said(done)) == (2, "the viewer needs an optional package: pip install 'adjudge[view]'")
