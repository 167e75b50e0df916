"""The proxy between us and an endpoint, as the environment names it: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY.

    HTTPS_PROXY=http://user:password@proxy.example:3128      for https addresses, by CONNECT
    NO_PROXY=.example.com,10.0.0.0/8,db:5432                  not for these; `*` for none at all

An address of this machine is never asked for through a proxy. Behind a proxy it is the proxy that looks a name up, so a
client that keeps to public addresses does without: it could not check what is connected to.
"""

import ipaddress
import re
import socket
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import SplitResult, unquote, urlsplit

from adjudge.http._errors import AddressRefused, ConnectionFailed
from adjudge.http._reply import HttpReply
from adjudge.http._request import Again
from adjudge.http._retry import is_transient
from adjudge.http._secret import hide

__all__ = ["Proxies", "Proxy"]


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy: its URL without credentials, which can be shown, and the header that has them.

    Through a tunnel the proxy sees that header alone; a plain request has it among its own headers.
    """

    url: str
    is_tunnel: bool
    headers: dict[str, str] = field(repr=False)
    password: str = field(repr=False)

    @property
    def shown(self) -> str:
        """What messages call it."""
        return f"the proxy {urlsplit(self.url).netloc}"

    def failed(self, status: int) -> Again:
        """Return what it means that the proxy itself answers with an error; only what may pass is tried again."""
        message = f"{self.shown} answered {status}"
        if status == 407:
            message = f"{self.shown} refuses us: give its user name and password as http://USER:PASSWORD@HOST:PORT"
        return Again(ConnectionFailed(message, code="proxy"), times=None if is_transient(status) else 0)

    def options(self, headers: Mapping[str, str]) -> dict[str, Any]:
        """Return what aiohttp is asked for to send a request with these headers."""
        if self.is_tunnel:
            return {"headers": headers, "proxy": self.url, "proxy_headers": self.headers}
        return {"headers": {**headers, **self.headers}, "proxy": self.url}

    def read(self, reply: HttpReply) -> HttpReply | Again:
        """Return the reply to a plain request, which may be the proxy's own and repeat the password."""
        if self.is_tunnel:
            return reply
        if reply.status == 407:
            return self.failed(407)
        return HttpReply(reply.status, reply.headers, hide(reply.body, self.password, *self.headers.values()))


@dataclass(frozen=True, slots=True)
class Proxies:
    """What the environment said when it was read: the proxies by scheme, and for whom there is none."""

    by_scheme: dict[str, str] = field(repr=False)
    exempt: tuple[str, ...]

    @classmethod
    def from_environment(cls) -> Self:
        """Read the variables, by the rules that Python's own library has for their names."""
        from urllib.request import getproxies_environment

        found = getproxies_environment()
        return cls(found, tuple(one.lower() for one in re.split(r"[,\s]+", found.pop("no", "")) if one))

    def find(self, address: SplitResult) -> Proxy | None:
        """Return the proxy for an address, or None."""
        given = self.by_scheme.get(address.scheme) or self.by_scheme.get("all")
        if not given or self._is_exempt(address):
            return None
        try:
            parts = urlsplit(given if "://" in given else f"http://{given}")
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if not host or parts.scheme not in ("http", "https"):
            # Its text may hold a password, so it is not shown.
            name = address.scheme.upper() if self.by_scheme.get(address.scheme) else "ALL"
            message = f"{name}_PROXY cannot be used: write http://HOST:PORT, or name the host in NO_PROXY"
            raise AddressRefused(message, code="bad-proxy")
        place = f"[{host}]" if ":" in host else host
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        headers = {}
        if user or password:
            headers["Proxy-Authorization"] = f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"
        url = f"{parts.scheme}://{place}" + (f":{port}" if port else "")
        return Proxy(url, address.scheme == "https", headers, password)

    def _is_exempt(self, address: SplitResult) -> bool:
        """Say whether an address is asked for directly: one of this machine, or one that NO_PROXY names."""
        from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # not in the stubs

        host = (address.hostname or "").rstrip(".")
        ip = _literal(host)
        if host == "localhost" or host.endswith(".localhost") or "*" in self.exempt:
            return True
        if ip is not None:
            if ip.is_loopback or ip.is_unspecified:
                return True
            for entry in self.exempt:
                try:
                    if ip in ipaddress.ip_network(entry.strip("[]"), strict=False):
                        return True
                except ValueError:
                    continue
        # Names: `example.com` and `.example.com` with all that ends so, both with or without a port.
        return bool(proxy_bypass_environment(address.netloc, {"no": ",".join(self.exempt)}))


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the IP address that a host is, also in the spellings that a system takes: `127.1`, `0x7f000001`."""
    try:
        ip = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, ValueError):
            return None
    return ip.ipv4_mapped or ip if isinstance(ip, ipaddress.IPv6Address) else ip
