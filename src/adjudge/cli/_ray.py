"""What `--ray ADDRESS` does for a command: connect, and hand the work over; nothing of Ray is loaded without it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.runs import Fleet


@contextmanager
def fleet_at(address: str) -> Iterator["Fleet"]:
    """Give a fleet on the cluster."""
    from adjudge.integrations.ray import RayFleet, connected

    with connected(address):
        yield RayFleet()


@contextmanager
def mapping_at(address: str) -> Iterator[Any]:
    """Give what scores chunks on the cluster."""
    from adjudge.integrations.ray import connected, map_chunks

    with connected(address):
        yield map_chunks
