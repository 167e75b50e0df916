"""Who may look: the user who has the link, in a page that can load nothing from anywhere else.

A page in the user's browser could ask 127.0.0.1 for a run, or have its own name point there (DNS rebinding). So a
request must name this machine as its host, may not come from another site's page, and must have the token: from the
link that was printed, afterwards from a cookie that other sites never get sent.

Who listens on all addresses answers to the names of this machine, and to the address that a request came to.
"""

import hmac
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http.cookies import SimpleCookie
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode

from adjudge.http import is_own_name

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with `no-referrer`, browsers hide where a form comes from
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 (asked, not bound)
REFUSED = "Open the link that `adjudge view` printed: it has the token that this page asks for.\n"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def names_of(host: str) -> list[str]:
    """Return the names by which others reach a server, the best one first: of one on all addresses this machine's."""
    if host not in EVERYWHERE:
        return [host]
    name = socket.gethostname().lower()
    names = [name, socket.getfqdn().lower(), f"{name.partition('.')[0]}.local"]
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        # Nothing is sent: this only asks which of our addresses leads to the outside.
        outward.connect(("192.0.2.1", 9))
        names.insert(0, outward.getsockname()[0])
    # One of these would stand for every name.
    return list(dict.fromkeys(one for one in names if one not in EVERYWHERE)) or ["localhost"]


def _is_named(named: str, names: list[str], server: object) -> bool:
    """Return whether a Host header has one of the names, or the address at which a request arrived."""
    if any(is_own_name(named, name) for name in names):
        return True
    try:
        # A name can be made to point here, an address cannot.
        found = ip_address(server[0] if isinstance(server, tuple | list) else "")
    except ValueError:
        return False
    plain = found.ipv4_mapped if isinstance(found, IPv6Address) and found.ipv4_mapped else found
    return is_own_name(named, str(plain))


class Guard:
    """Wraps an application: refuses who may not look, and adds the headers that bind the page."""

    def __init__(self, app: App, *, host: str, port: int, token: str) -> None:
        self._app = app
        self._names = names_of(host)
        self._token = token
        # Cookies do not know ports, so each server has a name of its own.
        self._cookie = f"adjudge-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        named, origin = headers.get("host", ""), headers.get("origin")
        if not _is_named(named, self._names, scope.get("server")):
            await _answer(send, 421, "This page answers to the name of its own machine only.\n")
            return
        is_ours = origin is not None and origin.removeprefix("http://") == named
        # A form always says where it comes from; a link does not.
        if not is_ours and (origin is not None or scope["method"] not in ("GET", "HEAD")):
            await _answer(send, 403, "A page of another site may not ask here.\n")
            return
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = dict(given).get("token")
        if token is not None and hmac.compare_digest(token.encode(), self._token.encode()):
            # The token leaves the address, so that a copied address does not hand it on.
            rest = urlencode([pair for pair in given if pair[0] != "token"])
            place = scope["raw_path"].decode("latin-1").partition("?")[0] + (f"?{rest}" if rest else "")
            cookie = f"{self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/"
            # Two slashes would begin the name of another host.
            await _answer(send, 303, "", location="/" + place.lstrip("/"), set_cookie=cookie)
            return
        known = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        if known is None or not hmac.compare_digest(known.value.encode(), self._token.encode()):
            await _answer(send, 403, REFUSED)
            return

        async def send_bound(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in own)]
            await send(message)

        await self._app(scope, receive, send_bound)


async def _answer(send: Send, status: int, text: str, **headers: str) -> None:
    body = text.encode()
    named = {**HEADERS, "content-type": "text/plain; charset=utf-8", "content-length": str(len(body))}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
