"""What is checked before a worker has anything to do with a job."""

from collections.abc import Iterable

from adjudge.errors import UsageError
from adjudge.processes import _fork
from adjudge.processes._errors import MessageTooLarge
from adjudge.processes._limits import own_timer

__all__ = ["check_options", "load_means", "pack"]


def pack(payload: object, *, cpu_s: float = 0.0) -> bytes:
    """Turn a payload into a request."""
    load_means()
    import pickle

    from adjudge.processes._wire import MAX_BYTES, frame_request

    try:
        body = pickle.dumps(payload, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise UsageError(f"the payload cannot be sent to a worker: {error}", code="unpicklable") from error
    if len(body) > MAX_BYTES:
        raise MessageTooLarge(f"the payload takes {len(body)} bytes, more than {MAX_BYTES}")
    return frame_request(body, own_timer(cpu_s))


_loaded: list[bool] = []


def load_means() -> None:
    """Import what the first job needs, with forks kept away: a child forked in the middle could never finish it."""
    if _loaded:
        return
    with _fork.guard():
        import pickle
        import socket
        import subprocess

        from adjudge.processes import _child

        _loaded.append(all((pickle, socket, subprocess, _child)))


def check_options(target: str, *, memory_mb: int | None, warm: Iterable[str], stderr: str) -> tuple[str, ...]:
    """Refuse what could never start, and return the modules to import in advance."""
    module, colon, path = target.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), *path.split("."))):
        raise UsageError(f"a target is 'module:function', not {target!r}", code="bad-target")
    if module == "__main__":
        raise UsageError(
            f"{target!r} is in the script that is running, which a worker does not import; put it in a module",
            code="bad-target",
        )
    if isinstance(warm, str):
        raise UsageError(f"warm is a sequence of module names: ({warm!r},)", code="bad-warm")
    if memory_mb is not None and memory_mb <= 0:
        raise UsageError(f"memory_mb must be above 0 or None, not {memory_mb!r}", code="bad-limit")
    if stderr not in {"inherit", "discard"}:
        raise UsageError(f"stderr is 'inherit' or 'discard', not {stderr!r}", code="bad-stderr")
    return tuple(warm)
