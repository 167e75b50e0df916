"""Live environments that a rollout's tools and its reward share, from a few instances for many rollouts.

    async with Context("rollout-1") as context:
        shop = await context.acquire_resource("webshop")
        await shop.reset(0)
        step = await shop.step("search[red kettle]")
        await webshop_reward(None, context=context, task_id=0)

The package is lazy: importing it loads nothing, each name below is imported when it is first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.environments._agentgym import (
        AgentGymAlfworld,
        AgentGymBackend,
        AgentGymScienceWorld,
        AgentGymWebShop,
    )
    from adjudge.environments._context import Context, SyncContext, SyncEnvironment, close_pools
    from adjudge.environments._errors import (
        EnvAcquireTimeout,
        EnvBadTask,
        EnvDied,
        EnvError,
        EnvProtocolError,
        EnvStepTimeout,
    )
    from adjudge.environments._http import TOKEN_VARIABLE, HttpBackend
    from adjudge.environments._kinds import default_spec
    from adjudge.environments._lease import LeasedEnvironment
    from adjudge.environments._local import InProcess, WorkerBackend
    from adjudge.environments._openenv import OpenEnvBackend, OpenEnvSpec
    from adjudge.environments._pool import Pool
    from adjudge.environments._roster import Counts
    from adjudge.environments._server import EnvServer
    from adjudge.environments._world import Backend, EnvSpec, Instance, Joined, PoolLimits, SharingBackend, World
    from adjudge.environments.alfworld import AlfworldSpec
    from adjudge.environments.scienceworld import ScienceWorldSpec, ScienceWorldTask
    from adjudge.environments.webshop import WebShopSpec

__all__ = [
    "TOKEN_VARIABLE",
    "AgentGymAlfworld",
    "AgentGymBackend",
    "AgentGymScienceWorld",
    "AgentGymWebShop",
    "AlfworldSpec",
    "Backend",
    "Context",
    "Counts",
    "EnvAcquireTimeout",
    "EnvBadTask",
    "EnvDied",
    "EnvError",
    "EnvProtocolError",
    "EnvServer",
    "EnvSpec",
    "EnvStepTimeout",
    "HttpBackend",
    "InProcess",
    "Instance",
    "Joined",
    "LeasedEnvironment",
    "OpenEnvBackend",
    "OpenEnvSpec",
    "Pool",
    "PoolLimits",
    "ScienceWorldSpec",
    "ScienceWorldTask",
    "SharingBackend",
    "SyncContext",
    "SyncEnvironment",
    "WebShopSpec",
    "WorkerBackend",
    "World",
    "close_pools",
    "default_spec",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_agentgym": ("AgentGymAlfworld", "AgentGymBackend", "AgentGymScienceWorld", "AgentGymWebShop"),
        "_context": ("Context", "SyncContext", "SyncEnvironment", "close_pools"),
        "_errors": ("EnvAcquireTimeout", "EnvBadTask", "EnvDied", "EnvError", "EnvProtocolError", "EnvStepTimeout"),
        "_http": ("HttpBackend", "TOKEN_VARIABLE"),
        "_kinds": ("default_spec",),
        "_lease": ("LeasedEnvironment",),
        "_local": ("InProcess", "WorkerBackend"),
        "_openenv": ("OpenEnvBackend", "OpenEnvSpec"),
        "_pool": ("Pool",),
        "_roster": ("Counts",),
        "_server": ("EnvServer",),
        "_world": ("Backend", "EnvSpec", "Instance", "Joined", "PoolLimits", "SharingBackend", "World"),
        "alfworld": ("AlfworldSpec",),
        "scienceworld": ("ScienceWorldSpec", "ScienceWorldTask"),
        "webshop": ("WebShopSpec",),
    },
)
