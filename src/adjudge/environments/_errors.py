"""What can go wrong with an environment; none of it is the agent's failure, so none of it is ever a reward.

EnvError
├── EnvAcquireTimeout    nobody gave an instance back in time
├── EnvStepTimeout       one call took longer than it may; the instance is gone
├── EnvDied              the instance ended, was killed or cannot be reached
├── EnvBadTask           there is no such task, or it is not the one that the episode was started with
└── EnvProtocolError     the instance answered something that is no answer
"""

from typing import ClassVar

from adjudge.errors import AdjudgeError

__all__ = ["EnvAcquireTimeout", "EnvBadTask", "EnvDied", "EnvError", "EnvProtocolError", "EnvStepTimeout"]


class EnvError(AdjudgeError):
    """An environment could not do what it was asked for."""

    default_code: ClassVar[str] = "environment"


class EnvAcquireTimeout(EnvError):
    """Nobody gave an instance back in time."""

    default_code = "env-acquire-timeout"


class EnvStepTimeout(EnvError):
    """One call took longer than it may; the instance is gone."""

    default_code = "env-step-timeout"


class EnvDied(EnvError):
    """The instance ended, was killed or cannot be reached."""

    default_code = "env-died"


class EnvBadTask(EnvError):
    """There is no such task, or it is not the one that the episode was started with."""

    default_code = "env-bad-task"


class EnvProtocolError(EnvError):
    """The instance answered something that is no answer."""

    default_code = "env-protocol"
