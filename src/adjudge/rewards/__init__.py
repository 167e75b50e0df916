"""Rewards: scorers written as ordinary functions, built in, your own, or made of others.

qa_f1_reward("Paris is the capital", "Paris", [])           the function: a dict
get_scorer("qa_f1_reward").score_many(rows)                 the scorer: one Score a row

The package is lazy: importing it loads nothing, each name below is imported when it is first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.rewards._compose import all_of, first_of, gated, named, weighted
    from adjudge.rewards._registry import Description, describe, get_reward, get_scorer, list_rewards
    from adjudge.rewards._reward import Reward
    from adjudge.rewards._scorer import Scorer, Wrapper
    from adjudge.rewards._tag import Row, by_row, reward
    from adjudge.rewards.assertions import (
        cites_sources,
        contains_all,
        contains_any,
        is_json,
        is_language,
        is_refusal,
        matches_regex,
        matches_schema,
        not_contains,
        starts_with,
        tools_f1,
        tools_requested,
    )
    from adjudge.rewards.environments import (
        alfworld_episode_reward,
        episode_reward,
        scienceworld_reward,
        webshop_reward,
    )
    from adjudge.rewards.form import contains_reward, format_reward, length_penalty
    from adjudge.rewards.limits import max_cost, max_latency, max_tokens, max_tool_calls, max_turns
    from adjudge.rewards.math._rewards import math_equal_reward, math_equal_reward_tool
    from adjudge.rewards.qa import qa_em_reward, qa_f1_reward, qa_f1_reward_tool

__all__ = [
    "Description",
    "Reward",
    "Row",
    "Scorer",
    "Wrapper",
    "alfworld_episode_reward",
    "all_of",
    "by_row",
    "cites_sources",
    "contains_all",
    "contains_any",
    "contains_reward",
    "describe",
    "episode_reward",
    "first_of",
    "format_reward",
    "gated",
    "get_reward",
    "get_scorer",
    "is_json",
    "is_language",
    "is_refusal",
    "length_penalty",
    "list_rewards",
    "matches_regex",
    "matches_schema",
    "math_equal_reward",
    "math_equal_reward_tool",
    "max_cost",
    "max_latency",
    "max_tokens",
    "max_tool_calls",
    "max_turns",
    "named",
    "not_contains",
    "qa_em_reward",
    "qa_f1_reward",
    "qa_f1_reward_tool",
    "reward",
    "scienceworld_reward",
    "starts_with",
    "tools_f1",
    "tools_requested",
    "webshop_reward",
    "weighted",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_compose": ("all_of", "first_of", "gated", "named", "weighted"),
        "_registry": ("Description", "describe", "get_reward", "get_scorer", "list_rewards"),
        "_reward": ("Reward",),
        "_scorer": ("Scorer", "Wrapper"),
        "_tag": ("Row", "by_row", "reward"),
        "assertions": (
            "cites_sources",
            "contains_all",
            "contains_any",
            "is_json",
            "is_language",
            "is_refusal",
            "matches_regex",
            "matches_schema",
            "not_contains",
            "starts_with",
            "tools_f1",
            "tools_requested",
        ),
        "environments": ("alfworld_episode_reward", "episode_reward", "scienceworld_reward", "webshop_reward"),
        "form": ("contains_reward", "format_reward", "length_penalty"),
        "limits": ("max_cost", "max_latency", "max_tokens", "max_tool_calls", "max_turns"),
        "math._rewards": ("math_equal_reward", "math_equal_reward_tool"),
        "qa": ("qa_em_reward", "qa_f1_reward", "qa_f1_reward_tool"),
    },
)
