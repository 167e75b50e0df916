"""Scorers where agents are trained: one file a trainer, imported only where it is used.

    from adjudge.integrations.trl import reward_function
    trainer = GRPOTrainer(..., reward_funcs=reward_function("qa_f1_reward"))

Each adapter says the same three things about rows without a number, in `_policy`: what the trainer gets for them, how
that is logged, and when training should stop. How a rollout becomes a row is in `_rollouts`.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.integrations._policy import FaultPolicy, OnFault, RewardFault
    from adjudge.integrations._rollouts import rollout_row

__all__ = ["FaultPolicy", "OnFault", "RewardFault", "rollout_row"]

__getattr__, __dir__ = lazy_names(
    __name__, {"_policy": ("FaultPolicy", "OnFault", "RewardFault"), "_rollouts": ("rollout_row",)}
)
