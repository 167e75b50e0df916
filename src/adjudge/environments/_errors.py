"""What can go wrong with an environment; none of it is the agent's failure, so none of it is ever a reward.

EnvError
├── EnvAcquireTimeout    no instance became free in time
├── EnvStepTimeout       one call took too long; the instance is gone
├── EnvDied              the instance ended, was killed or cannot be reached
├── EnvBadTask           the task does not exist, or the episode was started with another one
└── EnvProtocolError     the instance answered something that is not a valid answer
"""

from typing import ClassVar

from adjudge.errors import AdjudgeError

__all__ = [
    "NO_ENVIRONMENT",
    "EnvAcquireTimeout",
    "EnvBadTask",
    "EnvDied",
    "EnvError",
    "EnvProtocolError",
    "EnvStepTimeout",
]

NO_ENVIRONMENT = "no-environment"
"""The code of the error that neither this process nor a server knows an environment of the rollout."""


class EnvError(AdjudgeError):
    """An environment could not do what it was asked for."""

    default_code: ClassVar[str] = "environment"


class EnvAcquireTimeout(EnvError):
    """No instance became free in time."""

    default_code = "env-acquire-timeout"


class EnvStepTimeout(EnvError):
    """One call took too long; the instance is gone."""

    default_code = "env-step-timeout"


class EnvDied(EnvError):
    """The instance ended, was killed or cannot be reached."""

    default_code = "env-died"


class EnvBadTask(EnvError):
    """The task does not exist, or the episode was started with another one."""

    default_code = "env-bad-task"


class EnvProtocolError(EnvError):
    """The instance answered something that is not a valid answer."""

    default_code = "env-protocol"
