"""Kinds of environment by name, and the pools that are used where none is given."""

import threading
from importlib import import_module

from adjudge.environments._pool import Pool
from adjudge.environments._world import EnvSpec
from adjudge.errors import UsageError, closest
from adjudge.processes import _fork

__all__ = ["KINDS", "close_pools", "default_pool", "default_pools", "default_spec"]

KINDS = {
    "alfworld": "adjudge.environments.alfworld:AlfworldSpec",
    "scienceworld": "adjudge.environments.scienceworld:ScienceWorldSpec",
    "webshop": "adjudge.environments.webshop:WebShopSpec",
}
"""Where the spec of each kind is; imported when it is asked for."""


def spec_class(kind: str) -> type[EnvSpec]:
    """Return the class of a kind's specs; a kind is a known name, or `module:Class`."""
    place = KINDS.get(kind, kind)
    module, colon, name = place.partition(":")
    if not colon:
        raise UsageError(f"no environment is called {kind!r}{closest(kind, KINDS)}", code="unknown-environment")
    try:
        found: object = getattr(import_module(module), name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"{place} cannot be imported: {error}", code="unknown-environment") from error
    if not isinstance(found, type) or not issubclass(found, EnvSpec):
        raise UsageError(f"{place} is no EnvSpec", code="unknown-environment")
    return found


def default_spec(kind: str) -> EnvSpec:
    """Return the spec that a bare kind means."""
    return spec_class(kind)()


class _Defaults:
    """The pools of this process that nobody made by hand, one for each spec."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pools: dict[EnvSpec, Pool] = {}

    def after_fork(self) -> None:
        """In a forked child: the pools themselves start with nothing; only the lock may be held for ever."""
        self.lock = threading.Lock()


_made: list[_Defaults] = []
_making = threading.Lock()


def _defaults() -> _Defaults:
    with _making:
        if not _made:
            _made.append(_Defaults())
            _fork.register(_made[0])
    return _made[0]


def default_pool(spec: EnvSpec) -> Pool:
    """Return the pool that a `Context` uses for a spec for which it was given none; made when first needed."""
    defaults = _defaults()
    with defaults.lock:
        pool = defaults.pools.get(spec)
        if pool is None:
            pool = defaults.pools[spec] = Pool(spec)
        return pool


def default_pools() -> list[Pool]:
    """Return the pools that were made so."""
    defaults = _defaults()
    with defaults.lock:
        return list(defaults.pools.values())


def close_pools() -> None:
    """End every environment of the default pools; they are made anew when they are needed again."""
    defaults = _defaults()
    with defaults.lock:
        pools, defaults.pools = list(defaults.pools.values()), {}
    for pool in pools:
        pool.close()
