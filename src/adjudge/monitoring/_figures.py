"""The counts of a window as figures with names, flat, as dashboards take them."""

from __future__ import annotations

import math

from adjudge.monitoring._counts import PART, REASON, UNIT, WindowCounts
from adjudge.monitoring._rules import correlation

SHARES = {
    "scored": ("scored", "rows"),
    "unscored": ("unscored", "rows"),
    "error": ("error", "rows"),
    "high": ("high", "scored"),
    "near_equal": ("near", "near.pairs"),
    "same_openers": ("openers.equal", "openers"),
    "same_answer": ("differ.same", "differ"),
    "right_answers_alike": ("alike", "pairs"),
    "refusals": ("refusals", "texts"),
    "master_keys": ("master-key", "rewarded"),
    "format_only": ("format-only", "rewarded"),
    "copied_questions": ("copied-question", "rewarded"),
    "rewarded_refusals": ("rewarded-refusal", "rewarded"),
    "canaries_called_right": ("canaries.right", "canaries"),
    "disagreement": ("against", "seconds"),
}
"""Every figure that is a share, with the sums that it is made of."""


def figures_of(counts: WindowCounts) -> dict[str, float]:
    """Return the figures; one that nothing is known about is left out.

    >>> from collections import Counter
    >>> figures_of(WindowCounts(Counter({"rows": 4, "error": 4, "reason:error:env-died": 4})))
    {'rows': 4.0, 'scored': 0.0, 'unscored': 0.0, 'error': 1.0, 'error.env-died': 1.0}
    """
    sums = counts.sums
    found = {"rows": float(sums["rows"])}
    for name, (part, whole) in SHARES.items():
        value = counts.share(part, whole)
        if value is not None:
            found[name] = value
    for reason in counts.names(REASON):
        found[reason.replace(":", ".", 1)] = sums[f"{REASON}{reason}"] / sums["rows"]

    for name, figure in (("scored", ""), *((f"{PART}{part}", f"part.{part}.") for part in counts.names(PART))):
        values = counts.mean(name)
        if values is not None:
            found[f"{figure}mean"], found[f"{figure}deviation"] = values

    length = counts.share("sum:lengths", "lengths")
    if length is not None:
        found["length"] = math.exp(length / UNIT)  # the geometric mean, in characters
    within = correlation(counts)
    if within is not None:
        found["length_correlation"] = within
    return found
