"""Tier 2 behind one door: the comparison again, with sympy, in a process that can be killed."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.processes import WorkerPool


_TARGET = "adjudge.rewards.math._symbolic:job"

WARM = (
    "sympy",
    "sympy.assumptions.wrapper",
    "sympy.combinatorics",
    "sympy.concrete.delta",
    "sympy.integrals.heurisch",
    "sympy.integrals.manualintegrate",
    "sympy.integrals.prde",
    "sympy.physics.units",
    "sympy.polys.domains.old_fractionfield",
    "sympy.polys.polymatrix",
    "sympy.sets.setexpr",
    "sympy.tensor.tensor",
)
"""What sympy would otherwise import in the middle of a job, at the cost of that job's time."""


@cache
def _pool() -> "WorkerPool":
    from adjudge.processes import WorkerPool

    return WorkerPool(_TARGET, warm=WARM)


@contextmanager
def _failures(fields: dict[str, Any]) -> Iterator[None]:
    """Write down why a job failed: one that overruns or dies is a verdict too."""
    from adjudge.processes import JobCrashed, JobFailed, JobTimeout

    try:
        yield
    except JobTimeout:
        fields.update(reason="timeout", detail="the comparison ran out of time")
    except (JobCrashed, JobFailed):
        fields.update(reason="too-large", detail="the comparison ran out of memory or failed")


def ask(payload: dict[str, Any], limit_s: float) -> dict[str, Any]:
    """Return the verdict's fields from a worker, or the reason of its failure."""
    fields: dict[str, Any] = {}
    with _failures(fields):
        fields.update(_pool().run(payload, cpu_s=limit_s))
    return fields


async def ask_async(payload: dict[str, Any], limit_s: float) -> dict[str, Any]:
    """Return the same without blocking the event loop."""
    if not _pool.cache_info().currsize:
        from asyncio import get_running_loop

        # Its imports take longer than an event loop should be held up.
        await get_running_loop().run_in_executor(None, _pool)
    fields: dict[str, Any] = {}
    with _failures(fields):
        fields.update(await _pool().arun(payload, cpu_s=limit_s))
    return fields
