"""Why the local judge says what it says of one response, step by step.

read as      Paris            what is judged, where it is not the response as it stands
tier 0       the rule other-answer decides, WRONG at .18
also         the rule choice says hedged, WRONG      rules that came too late
asserted     "Lyon"           what the reader takes for the answer
tier 1       other-meaning, WRONG at .21
elsewhere    WRONG at .33     as surely as such verdicts are right on rows from elsewhere
"""

from __future__ import annotations

from typing import NamedTuple

from adjudge.judges.local import _tier0
from adjudge.judges.local._answer import answer_of
from adjudge.judges.local._tiers import Assessment, assessor

Explanation = tuple["JudgeStep", ...]


class JudgeStep(NamedTuple):
    """One step: its name, and what was found there."""

    name: str
    said: str


def explain(tier: int, question: str, references: tuple[str, ...], text: str) -> Explanation:
    """Return the steps by which a tier comes to its verdict.

    >>> for step in explain(0, "Capital of France?", ("Paris",), '{"answer": "Not Paris"}'):
    ...     print(*step, sep=": ")
    read as: Not Paris
    tier 0: the rule negated decides, WRONG at 0.02
    elsewhere: WRONG at 0.08, as such verdicts are worth on other rows
    """
    answer = answer_of(text)
    steps = [] if answer == text else [JudgeStep("read as", answer)]
    seen = _tier0.assess(question, references, text)
    steps.append(JudgeStep("tier 0", _said(seen)))
    row, after = (question, references, text), seen
    # The first one of these decided; options are judged by the question without them.
    steps += [JudgeStep("also", said) for said in _others(seen, row)]
    if tier:
        found, after = _of_encoders(seen, row)
        steps += found
    (last,) = assessor(tier)([row])
    if last.probability != after.probability:
        steps.append(
            JudgeStep("elsewhere", f"WRONG at {last.probability:.2f}, as such verdicts are worth on other rows")
        )
    return tuple(steps)


def _others(seen: Assessment, row: tuple[str, tuple[str, ...], str]) -> list[str]:
    """Return what the rules say that came too late, each once."""
    if not seen.ruled:
        return []
    later = (
        f"the rule {name} says {reason}, {'CORRECT' if is_right else 'WRONG'}"
        for name, (is_right, reason) in _tier0.spoke(*row)
        if reason != seen.reasons[0]
    )
    return list(dict.fromkeys(later))


def _of_encoders(seen: Assessment, row: tuple[str, tuple[str, ...], str]) -> tuple[list[JudgeStep], Assessment]:
    """Return what the encoders found, and what is said after that."""
    from adjudge.judges.local import _tier1

    reading = _tier1.read_rows([row], [seen]).get(0)
    found = [JudgeStep("encoders", "not asked: the rule decides")] if reading is None else []
    after = seen
    if reading is not None:
        after = _tier1.fused(seen, reading)
        right, trick = reading.judged
        asserted = "nothing" if reading.asserted is None else f'"{reading.asserted}"'
        found.append(JudgeStep("asserted", asserted))
        found.append(JudgeStep("judge", f"log-odds of right {right:+.1f}, of a trick {trick:+.1f}"))
        outvoted = f"; {seen.reasons[0]} is outvoted" if seen.is_right != after.is_right else ""
        found.append(JudgeStep("tier 1", f"{_said(after)}{outvoted}"))
    return found, after


def _said(seen: Assessment) -> str:
    verdict = "CORRECT" if seen.is_right else "WRONG"
    how = f"the rule {seen.reasons[0]} decides" if seen.ruled else ", ".join(seen.reasons)
    return f"{how}, {verdict} at {seen.probability:.2f}"
