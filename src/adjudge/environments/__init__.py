"""Live environments that a rollout's tools and its reward share, from a few instances for many rollouts.

The package is lazy: importing it loads nothing, each name below is imported when it is first used.
"""

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.environments._errors import (
        EnvAcquireTimeout,
        EnvBadTask,
        EnvDied,
        EnvError,
        EnvProtocolError,
        EnvStepTimeout,
    )
    from adjudge.environments._world import EnvSpec, World

__all__ = [
    "EnvAcquireTimeout",
    "EnvBadTask",
    "EnvDied",
    "EnvError",
    "EnvProtocolError",
    "EnvSpec",
    "EnvStepTimeout",
    "World",
]

_HOMES = {
    "_errors": ("EnvAcquireTimeout", "EnvBadTask", "EnvDied", "EnvError", "EnvProtocolError", "EnvStepTimeout"),
    "_world": ("EnvSpec", "World"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value: object = getattr(import_module(f"{__name__}.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
