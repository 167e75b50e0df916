"""Short answers without the words that only lead to them: `It is the UN.` is `the UN`."""

from __future__ import annotations

import re

from adjudge.judges.local._reading.candidate import Candidate

FRAMES = frozenset(["it", "its", "that", "thats", "this", "he", "hes", "she", "shes", "they", "theyre"])
"""The words with which these begin."""

_LONGEST = 10  # words of a sentence that says one name
_FRAME = re.compile(
    r"\s*(?:it|that|this|he|she|they)(?:['’](?:s|re)| is| was| are| were)"
    r"(?: (?:born|located|situated|called|named|held|found|played|written|made))?(?: (?:in|at|by))?\s+(?=[^\W_])",
    re.IGNORECASE,
)


def unframed(candidate: Candidate) -> str | None:
    """Return what a short candidate says after its first words, if it begins as these do.

    >>> unframed(Candidate("He was born in Paris, Texas.")), unframed(Candidate("It rains."))
    ('Paris, Texas.', None)
    """
    found = _FRAME.match(candidate.text) if len(candidate.plain) <= _LONGEST else None
    return None if found is None else candidate.text[found.end() :]
