"""An adapter for the official WebShop server: the same actions and pages, spoken over its HTML.

Limited by what that server can do: its pages are its only interface, a query must not contain "/" (its addresses
cannot), and queries that begin with "<r>", "<a>", "<c>" or "<q>" are commands to it. Such characters are removed from
a query here. Reading the pages depends on its templates: ids `search_input` and `reward`, classes `btn` and
`product-link`, radio buttons with a `data-url`, one form around each button. What a template hides is not shown to the
agent: the last page has the goal in a hidden part.
"""

import secrets
import socket
from dataclasses import dataclass
from html.parser import HTMLParser
from http.client import HTTPException
from typing import IO, Any, ClassVar, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from adjudge.environments._errors import EnvBadTask, EnvDied, EnvProtocolError, EnvStepTimeout
from adjudge.environments._world import EnvSpec
from adjudge.environments.webshop._pages import read_action
from adjudge.environments.webshop._world import read_task
from adjudge.http import check_url
from adjudge.model import Outcome, Step

__all__ = ["ServerWorld", "WebShopServerSpec"]

LARGEST_PAGE = 4 << 20  # bytes
LONGEST_QUERY = 1000  # characters: it becomes part of an address
_KEPT = "%/:=&?~#+!$,;'@()*[]"
_CLEAN = str.maketrans("/<>\\", "    ")


_SILENT = frozenset({"head", "script", "style", "title"})


class Link(NamedTuple):
    """Where a click leads."""

    method: str
    address: str


class ServerPage(HTMLParser):
    """What is on a page, however badly its tags are closed.

    `links` are by their text in lower case, `search` is the address of a search, `reward` is there once done.

    >>> ServerPage('<form method="post" action="/a"><button class="btn">Buy Now</button></form>').links
    {'buy now': Link(method='POST', address='/a')}
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.texts: list[str] = []
        self.links: dict[str, Link] = {}
        self.search: str | None = None
        self.reward: str | None = None
        self._form = ""
        self._link: Link | None = None
        self._hidden: tuple[str, int] | None = None  # the tag that hides, and how deep in tags of its name we are
        self._is_score = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if self._hidden is not None:
            if tag == self._hidden[0]:
                self._hidden = (tag, self._hidden[1] + 1)
            return
        if tag in _SILENT or "hidden" in named or "display:none" in named.get("style", "").replace(" ", ""):
            self._hidden = (tag, 1)
            return
        classes = named.get("class", "").split()
        if tag == "form":
            self._form = named.get("action", "")
        elif tag == "button" and "btn" in classes:
            self._link = Link("POST", self._form)
        elif tag == "a" and "product-link" in classes:
            self._link = Link("GET", named.get("href", ""))
        elif tag == "input" and named.get("type") == "radio":
            self.links[" ".join(named.get("value", "").lower().split())] = Link("GET", named.get("data-url", ""))
        elif named.get("id") == "search_input":
            self.search = self._form
        elif named.get("id") == "reward":
            self._is_score = True
        elif tag == "pre" and self._is_score and self.reward is None:
            self.reward = ""

    def handle_endtag(self, tag: str) -> None:
        if self._hidden is not None:
            if tag == self._hidden[0]:
                self._hidden = (tag, self._hidden[1] - 1) if self._hidden[1] > 1 else None
        elif tag in ("button", "a"):
            self._link = None
        elif tag == "pre":
            self._is_score = False

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if not text or self._hidden is not None:
            return
        self.texts.append(text)
        if self._link is not None:
            self.links[text.lower()] = self._link
        if self._is_score and self.reward == "":
            self.reward = text


@dataclass(frozen=True, slots=True, kw_only=True)
class WebShopServerSpec(EnvSpec):
    """The official server at `url`. It blocks while it waits, so it lives in a worker process."""

    kind: ClassVar[str] = "webshop-server"
    home: ClassVar[str] = "worker"
    deterministic: ClassVar[bool] = False

    url: str = "http://127.0.0.1:3000"
    timeout: float = 30.0

    def build(self) -> "ServerWorld":
        """Make the world, if the server listens; nothing is asked of it yet."""
        world = ServerWorld(self.url, timeout=self.timeout)
        # A start that fails is tried again while the rollout has time. A first page that fails would be its episode.
        world.check_listening()
        return world

    def task(self, task: Any) -> int:
        """Return the number of the task; only the server knows how many there are."""
        return read_task(task)


class ServerWorld:
    """One session at a time on the official server, a `World`."""

    def __init__(self, url: str, *, timeout: float = 30.0) -> None:
        check_url(url)
        self._base = url.rstrip("/")
        self._timeout = timeout
        self._opener: OpenerDirector = build_opener(ProxyHandler({}), _SameOrigin(self._base))
        self._task: int | None = None
        self._page = ServerPage()
        self._kind = "search"
        self._reward = 0.0

    def check_listening(self) -> None:
        """Raise `EnvDied` unless the server takes a connection."""
        parts = urlsplit(self._base)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            socket.create_connection((parts.hostname or "", port), timeout=self._timeout).close()
        except OSError as error:
            raise EnvDied(f"the server cannot be reached: {error}; is it running?") from None

    def reset(self, task: Any) -> str:
        """Open a session with the goal of that number."""
        number = read_task(task)
        session = f"adjudge_{secrets.token_hex(8)}_fixed_{number}"  # the form by which the server knows the goal
        self._task, self._reward = None, 0.0
        try:
            self._go(Link("GET", f"/{session}"))
        except _Refused as error:
            raise EnvBadTask(
                f"the server did not start task {number}; does it have so many goals? {error.message}"
            ) from None
        if self._page.search is None:
            raise EnvProtocolError(f"{self._base} answered a page without a search bar: is it a WebShop server?")
        self._task = number
        return self._text()

    def step(self, action: str) -> Step:
        """Do an action; one that is not possible on the page is not sent."""
        read = read_action(action)
        link, form = None, None
        if self._task is not None and self._kind != "done" and read is not None:
            if read.name == "click" and read.text != "search":
                link = self._page.links.get(" ".join(read.text.split()))
            elif read.name == "search" and self._page.search is not None:
                query = " ".join(read.text[:LONGEST_QUERY].translate(_CLEAN).split())
                link, form = (Link("POST", self._page.search), {"search_query": query}) if query else (None, None)
        if link is not None:
            self._go(link, form)
        is_done = self._kind == "done"
        return Step(
            self._text(), self._reward if link is not None else 0.0, done=is_done, info=self._info(link is not None)
        )

    def outcome(self) -> Outcome:
        """Return the state of the session, without asking the server."""
        if self._task is None:
            return Outcome(reward=0.0, success=False, done_reason="no-episode")
        return Outcome(
            reward=self._reward,
            success=self._reward == 1.0,
            observation=self._text(),
            done_reason="bought" if self._kind == "done" else None,
            task=self._task,
        )

    def close(self) -> None:
        """Forget the session; the server keeps its own."""
        self._task = None

    def _info(self, is_valid: bool) -> dict[str, Any]:
        clickables = [text for text in self._page.links if text != "search"]
        actions = {"has_search_bar": self._page.search is not None, "clickables": clickables}
        return {"page": self._kind, "actions": actions, "valid": is_valid}

    def _text(self) -> str:
        return " [SEP] ".join(self._page.texts)

    def _go(self, link: Link, form: dict[str, str] | None = None) -> None:
        # A page of the server may contain any text: a link in it must not send us, or the query, to another server.
        address = urljoin(f"{self._base}/", quote(link.address, safe=_KEPT))
        if not _is_same_origin(address, self._base):
            raise EnvProtocolError("the server's page links to another server")
        body = urlencode(form or {}).encode() if link.method == "POST" else None
        text, landed = self._fetch(Request(address, data=body, method=link.method))  # noqa: S310 (checked above)
        # All three at once: a page that cannot be read leaves the visitor on the one before.
        page, kind = ServerPage(text), _kind_of(landed)
        reward = _score(page.reward) if kind == "done" else 0.0
        self._page, self._kind, self._reward = page, kind, reward

    def _fetch(self, request: Request) -> tuple[str, str]:
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                body = reply.read(LARGEST_PAGE + 1)
                landed, announced = reply.geturl(), reply.headers.get("Content-Length", "")
        except HTTPError as error:
            with error:
                raise _Refused(f"the server answered {error.code}") from None
        except TimeoutError:
            raise EnvStepTimeout(f"the server did not answer in {self._timeout:g} s") from None
        except HTTPException as error:
            raise EnvProtocolError(f"the server broke off its answer: {type(error).__name__}") from None
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise EnvStepTimeout(f"the server did not answer in {self._timeout:g} s") from None
            raise EnvDied(f"the server cannot be reached: {reason}; is it running?") from None
        if len(body) > LARGEST_PAGE:
            raise EnvProtocolError(f"the server's page is larger than {LARGEST_PAGE:,} bytes")
        # A page that was cut short would lack buttons, and the agent would pay for it.
        if announced.isdigit() and int(announced) != len(body):
            raise EnvProtocolError("the server broke off its answer")
        return body.decode("utf-8", "replace"), landed


class _Refused(EnvProtocolError):
    """The server answered with an HTTP error."""


class _SameOrigin(HTTPRedirectHandler):
    """Follows a redirect only to the same server."""

    def __init__(self, base: str) -> None:
        self._base = base

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        if not _is_same_origin(newurl, self._base):
            raise EnvProtocolError("the server redirects to another server")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_same_origin(one: str, other: str) -> bool:
    return urlsplit(one)[:2] == urlsplit(other)[:2]


def _kind_of(address: str) -> str:
    """Return the kind of page, which the server's addresses begin with."""
    parts = [unquote(part) for part in urlsplit(address).path.strip("/").split("/")]
    kinds = {"search_results": "results", "item_page": "item", "done": "done"}
    if parts[0] == "item_sub_page" and len(parts) > 5:
        return parts[5].lower()
    return kinds.get(parts[0], "search")


def _score(text: str | None) -> float:
    try:
        score = float(text or "")
    except ValueError:
        score = -1.0
    if not 0.0 <= score <= 1.0:
        raise EnvProtocolError("the server's last page has no score between 0 and 1")
    return score
