"""Whether the user was asked to clarify: by an agent made for it or, where there is none, in the reply."""

import re
from typing import Any

from adjudge.workflow._expectation import WorkflowExpectation

FEW = 40  # words beside the question that are still not an answer

_SENTENCE = re.compile(r"[^.!?。！？؟\n]*[.!?。！？؟\n]?")
_COURTESY = re.compile(
    r"\b(?:anything else|something else|(?:does|did) (?:that|this) (?:help|answer|make sense|clarify)"
    r"|(?:is|was) (?:that|this) (?:helpful|clear|ok|okay)|questions\?"
    r"|(?:would you like|do you want|shall i|should i|want) (?:me )?(?:to )?(?:know |see |hear |give |provide )?.{0,20}"
    r"\b(?:more|further|details?|elaborate|go deeper|examples?)"
    r"|(?:help|assist) (?:you )?(?:with )?(?:else|further)|let me know)",
    re.IGNORECASE,
)
_QUESTION_ENDS = ("?", "？", "؟")
_LARGEST = 20_000  # characters of a reply that are looked at; a longer one is an answer


def check_clarification(
    expectation: WorkflowExpectation, agents: tuple[str, ...] | None, reply: str | None, *, complete: bool
) -> dict[str, Any]:
    """Return whether the user was asked to clarify, as expected or not.

    `agents` are those that were called, None where the record cannot show them. What was recorded decides; what rests
    on something not being there is None if the record is incomplete.
    """
    expected = expectation.clarification_expected
    # What a reply asks is a weaker sign than an agent's call: it counts only where a question is expected and the
    # lists leave the agents for it open.
    own = set(expectation.clarification_agents)
    listed = {*(expectation.agents_should_include or ()), *(expectation.agents_should_exclude or ())}
    is_known = complete and agents is not None
    by = "agent" if own.intersection(agents or ()) else None
    if by is None and expected and not own & listed and asks_back(reply):
        by = "reply"
    decided = by is not None or is_known
    passed = (by is not None) == expected if decided else None
    return {"pass": passed, "expected": expected, "asked": by is not None if decided else None, "by": by}


def asks_back(reply: str | None) -> bool:
    """Say whether a reply asks its user a question instead of answering.

    It has a question that is more than a courtesy, and at most a few words beside it; the items of a list count as
    part of the question.

    >>> asks_back("There are several reports. Which year do you mean?")
    True
    >>> asks_back("It was 42 million. Is there anything else you would like to know?")
    False
    """
    text = reply or ""
    if len(text) > _LARGEST or not any(end in text for end in _QUESTION_ENDS):
        return False
    # An answer has words beside its question; "Anything else?" at its end does not make it a question.
    questions, words = 0, 0
    for sentence in _SENTENCE.findall(_without_items(text)):
        stripped = sentence.strip().rstrip("\"'*_)»”’")
        if stripped.endswith(_QUESTION_ENDS):
            questions += _COURTESY.search(stripped) is None
        else:
            words += len(stripped.split())
    return questions > 0 and words <= FEW


def _without_items(text: str) -> str:
    """Leave out the items of lists: the choices that a question offers."""
    lines = [line for line in text.splitlines() if not re.match(r"\s*(?:[-*•]|\d{1,2}[.)]|[A-Za-z][.)])\s", line)]
    return "\n".join(lines)
