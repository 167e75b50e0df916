"""What `--ray ADDRESS` does for a command: connect, and hand the work over; nothing of Ray is loaded without it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.runs import Fleet


@contextmanager
def fleet_at(address: str | None) -> Iterator["Fleet | None"]:
    """Give a fleet on the cluster; None without an address."""
    if address is None:
        yield None
        return
    from adjudge.integrations.ray import RayFleet, connected

    with connected(address):
        yield RayFleet()


@contextmanager
def mapping_at(address: str | None) -> Iterator[Any]:
    """Give what scores chunks on the cluster; None without an address."""
    if address is None:
        yield None
        return
    from adjudge.integrations.ray import connected, map_chunks

    with connected(address):
        yield map_chunks
