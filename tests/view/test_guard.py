"""Only who has the link may look, and a page can load nothing from anywhere else."""

import http.client
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from adjudge.errors import UsageError
from adjudge.view import ViewServer
from adjudge.view._guard import EVERYWHERE
from view.looking import Visitor, key, make_run, rows_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run file."""
    return make_run(tmp_path_factory.mktemp("guard") / "a.run", rows_of(4))


@pytest.fixture(scope="module")
def visitor(run: Path) -> Iterator[Visitor]:
    """Give the link to a visitor."""
    with ViewServer([run], cache=run.parent / "cache") as server:
        yield Visitor(server)


def pages(run: Path) -> list[str]:
    """Every kind of page."""
    name = key(run)
    return [
        "/?list=1",
        f"/runs/{name}",
        f"/runs/{name}/rows/0",
        f"/runs/{name}/version",
        f"/compare?base={name}&new={name}",
        f"/compare/row?base={name}&new={name}&id=q0",
        "/static/view.css",
        "/static/view.js",
    ]


def test_every_page_needs_the_token(visitor: Visitor, run: Path) -> None:
    """Without the token, or with another one, there is nothing to see."""
    for path in pages(run):
        assert visitor.get(path).status == 200, path
        assert visitor.get(path, cookie="").status == 403
        assert visitor.get(path, cookie=visitor.cookie[:-1] + "~").status == 403
        refused = visitor.get(path + ("&" if "?" in path else "?") + "token=guess", cookie="")
        assert (refused.status, run.name in refused.text) == (403, False)


def test_the_token_leaves_the_address(visitor: Visitor) -> None:
    """The link leads to the same page without the token, and never to another host."""
    found = visitor.get(f"/runs/x?words=a&{visitor.place.query}&status=error", cookie="")
    assert (found.status, found.headers["location"]) == (303, "/runs/x?words=a&status=error")
    cookie = found.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
    assert visitor.get(f"//example.invalid/?{visitor.place.query}").headers["location"].startswith("/example.invalid")


def test_other_names_and_other_sites_are_refused(visitor: Visitor, run: Path) -> None:
    """A name that points to this machine is not its own, and a page of another site may not ask."""
    for path in pages(run):
        assert visitor.get(path, host="rebound.example:80").status == 421
        assert visitor.get(path, origin="http://example.invalid").status == 403
        assert visitor.get(path, origin="null").status == 403
        assert visitor.get(path, host=f"localhost:{visitor.place.port}").status == 200


@pytest.mark.parametrize("host", EVERYWHERE)
def test_on_all_addresses(run: Path, host: str) -> None:
    """Who listens on all addresses answers to this machine's names and addresses, and to no others."""
    if host == "::" and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with ViewServer([run], host=host, cache=run.parent / "cache") as server:
        assert not server.is_local
        place = urlsplit(server.link)
        assert place.hostname not in (host, "", None)
        names = [place.hostname, "localhost", "127.0.0.1", "[::1]", "127.0.0.2", socket.gethostname()]
        others = ["rebound.example", f"{place.hostname}.example", "192.0.2.7", "0.0.0.1", "", "[::"]
        for name, status in (*((one, 403) for one in names), *((one, 421) for one in others)):
            connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=60)
            connection.request("GET", "/", headers={"Host": f"{name}:{place.port}"})
            assert connection.getresponse().status == status, name
            connection.close()


def test_every_answer_is_bound(visitor: Visitor, run: Path) -> None:
    """Every answer, errors too, says what its page may load: by default nothing."""
    for path in [*pages(run), "/runs/none", "/nothing", "/static/../_app.py"]:
        headers = visitor.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none';"), path
        assert "unsafe" not in policy
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")


def test_nothing_can_be_written(visitor: Visitor, run: Path) -> None:
    """No address takes anything but a question, and looking leaves a file as it was."""
    before = run.read_bytes()
    ours = f"http://{visitor.place.netloc}"
    for path in pages(run):
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert visitor.get(path, method, origin=ours).status == 405
            assert visitor.get(path, method).status == 403
    assert run.read_bytes() == before
    assert [one.name for one in run.parent.iterdir() if one.name != "cache"] == [run.name]


def test_only_known_files_are_served(visitor: Visitor) -> None:
    """A name never becomes a path."""
    for name in ("_app.py", "..%2f_app.py", "%2e%2e/_app.py", "view.css%00", "/etc/passwd"):
        assert visitor.get(f"/static/{name}").status == 404


def test_what_cannot_be_shown_is_an_error_at_once(tmp_path: Path) -> None:
    """A path that is not there is said before anybody opens a page."""
    with pytest.raises(UsageError, match="there is no such file or folder"):
        ViewServer([tmp_path / "none.run"])
