"""Rewards: scorers written as ordinary functions, built in, your own, or made of others.

qa_f1_reward("Paris is the capital", "Paris", [])           the function: a dict
get_reward("qa_f1_reward").score_many(rows)                 the scorer: one Score a row
"""

from adjudge.rewards._compose import all_of, first_of, gated, weighted
from adjudge.rewards._registry import get_reward, list_rewards
from adjudge.rewards._reward import Reward
from adjudge.rewards._scorer import Scorer
from adjudge.rewards._tag import reward
from adjudge.rewards.form import contains_reward, format_reward, length_penalty
from adjudge.rewards.qa import qa_em_reward, qa_f1_reward, qa_f1_reward_tool

__all__ = [
    "Reward",
    "Scorer",
    "all_of",
    "contains_reward",
    "first_of",
    "format_reward",
    "gated",
    "get_reward",
    "length_penalty",
    "list_rewards",
    "qa_em_reward",
    "qa_f1_reward",
    "qa_f1_reward_tool",
    "reward",
    "weighted",
]
