"""Watch a reward while a policy trains on it: the same Scores, and warnings where the policy games them.

    watched = monitor("openai:gpt-4o-mini", path="monitor.jsonl", log=wandb.log)

Counts are kept in windows; `merge` adds those of processes, `alerts` asks the rules about them. `RULES` is the table of
the rules.
"""

from typing import TYPE_CHECKING

from adjudge.lazy import lazy_names

if TYPE_CHECKING:
    from adjudge.monitoring._monitor import Monitor, RewardWarning, monitor
    from adjudge.monitoring._rules import RULES, Rule
    from adjudge.monitoring._state import Alert, alerts, load_state, merge

__all__ = ["RULES", "Alert", "Monitor", "RewardWarning", "Rule", "alerts", "load_state", "merge", "monitor"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_monitor": ("Monitor", "RewardWarning", "monitor"),
        "_rules": ("RULES", "Rule"),
        "_state": ("Alert", "alerts", "load_state", "merge"),
    },
)
