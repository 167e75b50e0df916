"""Which addresses may be called: http and https, no credentials in the URL, and private ones only where allowed."""

import ipaddress
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adjudge.http._errors import AddressRefused

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver, ResolveResult

__all__ = ["check_url", "is_public", "public_resolver"]


def check_url(url: str, *, allow_private: bool = True) -> None:
    """Raise `AddressRefused` for a URL that may not be called; a name's addresses are checked when it is looked up.

    >>> check_url("file:///etc/passwd")
    Traceback (most recent call last):
    adjudge.http._errors.AddressRefused: only http and https addresses can be called
    """
    try:
        parts = urlsplit(url)
        # Reading the port raises for one that is out of range.
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise AddressRefused("the URL cannot be read") from None
    if parts.scheme not in ("http", "https"):
        raise AddressRefused("only http and https addresses can be called")
    if not host:
        raise AddressRefused("the URL does not name a host")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("remove the user name and the password from the URL and pass them as a key")
    # Such characters could end the request line and begin a header.
    if any(character <= " " or character == "\x7f" for character in url):
        raise AddressRefused("the URL has white space or control characters in it")
    if not allow_private and _is_literal(host) and not is_public(host):
        raise AddressRefused(f"{host} is not a public address")


def is_public(address: str) -> bool:
    """Say whether an IP address belongs to the public internet, whichever way it is wrapped.

    >>> [is_public(address) for address in ("8.8.8.8", "10.0.0.1", "127.0.0.1", "::1", "::ffff:169.254.169.254")]
    [True, False, False, False, False]
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    # An IPv6 address may carry an IPv4 address, which is the one that is called in the end.
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in ipaddress.ip_network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def public_resolver() -> "AbstractResolver":
    """Return a resolver that finds public addresses only."""
    from aiohttp.resolver import ThreadedResolver

    class PublicResolver(ThreadedResolver):
        """Leaves out every address that is not public: what is checked is what is connected to."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> "list[ResolveResult]":
            found = await super().resolve(host, port, family)
            public = [one for one in found if is_public(one["host"])]
            if not public:
                raise AddressRefused(f"{host} has no public address")
            return public

    return PublicResolver()
