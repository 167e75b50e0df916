"""The CRAG-MM rules: what a turn is labelled, when a conversation is given up, what all of it amounts to.

    response, ground truth ─> settle ─> Labels ─> two_wrong ─> TurnTally ─> the eleven metrics

Pure functions and integer sums: the same turns give the same numbers, bit for bit, however they were divided and in
whatever order they came.
"""

from adjudge.conversations._labels import Label, Labels, settle, unscored, verdict_labels
from adjudge.conversations._rule import RULE_SCOPES, RuleScope, conversation_score, given_up_after, two_wrong
from adjudge.conversations._tally import METRICS, RATE_RANGES, RATES, Cell, Profile, Rate, TurnTally, profile_of
from adjudge.conversations._text import clean_text, is_exact, says_unknown

__all__ = [
    "METRICS",
    "RATES",
    "RATE_RANGES",
    "RULE_SCOPES",
    "Cell",
    "Label",
    "Labels",
    "Profile",
    "Rate",
    "RuleScope",
    "TurnTally",
    "clean_text",
    "conversation_score",
    "given_up_after",
    "is_exact",
    "profile_of",
    "says_unknown",
    "settle",
    "two_wrong",
    "unscored",
    "verdict_labels",
]
