"""Rewards: scorers written as ordinary functions, built in, your own, or made of others.

qa_f1_reward("Paris is the capital", "Paris", [])           the function: a dict
get_reward("qa_f1_reward").score_many(rows)                 the scorer: one Score a row
"""

from typing import TYPE_CHECKING

from adjudge.rewards._registry import Description, describe, get_reward, list_rewards
from adjudge.rewards._reward import Reward
from adjudge.rewards._scorer import Scorer
from adjudge.rewards._tag import reward
from adjudge.rewards.form import contains_reward, format_reward, length_penalty
from adjudge.rewards.qa import qa_em_reward, qa_f1_reward, qa_f1_reward_tool

if TYPE_CHECKING:
    from adjudge.rewards._compose import all_of, first_of, gated, weighted
    from adjudge.rewards.math._rewards import math_equal_reward, math_equal_reward_tool

__all__ = [
    "Description",
    "Reward",
    "Scorer",
    "all_of",
    "contains_reward",
    "describe",
    "first_of",
    "format_reward",
    "gated",
    "get_reward",
    "length_penalty",
    "list_rewards",
    "math_equal_reward",
    "math_equal_reward_tool",
    "qa_em_reward",
    "qa_f1_reward",
    "qa_f1_reward_tool",
    "reward",
    "weighted",
]


def __getattr__(name: str) -> object:
    """Load compositions and mathematics when they are first used."""
    if name not in __all__:
        raise AttributeError(f"module 'adjudge.rewards' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(f"adjudge.rewards.{'math._rewards' if name.startswith('math_') else '_compose'}")
    value: object = getattr(home, name)
    globals()[name] = value
    return value
