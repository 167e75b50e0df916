"""The quality of an answer: three numbers from a judge, complete or none."""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from adjudge.errors import Caught, UsageError
from adjudge.judges import QUALITY, RubricJudge, get_judge
from adjudge.model import Judgement, Status, Trajectory
from adjudge.scenarios._scenario import Scenario

LARGEST = 200_000  # characters of sources that a judge is shown
ROLES = {"user": "User", "assistant": "Assistant"}


def quality_judge(judge: Any, **options: Any) -> Any:
    """Return a judge of quality: one that is given, or the model that a text names, with options; None for none."""
    if judge is None:
        return None
    if isinstance(judge, str):
        kind, _, model = judge.strip().partition(":")
        if kind not in ("openai", "anthropic") or not model:
            get_judge(judge)  # says what is wrong with a name that is none
            raise UsageError(f"{judge!r} gives verdicts, not scores: write openai:MODEL", code="wrong-judge")
        return RubricJudge(model, api="anthropic" if kind == "anthropic" else "openai", **options)
    if not hasattr(judge, "ajudge"):
        raise UsageError(
            f"a {type(judge).__name__} is no judge: give a RubricJudge or openai:MODEL", code="wrong-judge"
        )
    if isinstance(judge, RubricJudge) and judge.names != QUALITY:
        message = f"the judge scores {', '.join(judge.names)}, the quality of a scenario is {', '.join(QUALITY)}"
        raise UsageError(message, code="wrong-judge")
    return judge


@asynccontextmanager
async def in_use(judge: Any) -> AsyncIterator[None]:
    """Close the client that a judge makes for itself while it is used."""
    own = judge is not None and getattr(judge, "chat", judge) is None
    try:
        yield
    finally:
        if own and judge.chat is not None:
            client, judge.chat = judge.chat, None
            await client.close()


async def judge_quality(
    judge: Any, scenario: Scenario, record: Trajectory
) -> tuple[dict[str, Any], Status, str | None]:
    """Return the three numbers with the reasoning, the status, and why there are none; all of them or none."""
    criteria = scenario.expected_answer_criteria or ()
    options: dict[str, Any] = {"sources": sources_of(record)} if _takes_sources(judge) else {}
    judgement: Judgement | None = None
    with Caught() as caught:
        judgement = await judge.ajudge(_request(scenario, record), criteria, record.final_response, **options)
    if judgement is None:
        return no_quality(), "error", caught.reason
    if judgement.status != "scored":
        return no_quality(), judgement.status, judgement.reason or judgement.status
    if any(name not in judgement.scores for name in QUALITY):
        return no_quality(), "unscored", f"wrong-judge: it gave no {', '.join(QUALITY)}"
    return {**{name: judgement.scores[name] for name in QUALITY}, "reasoning": judgement.reason}, "scored", None


def average(quality: dict[str, Any] | None) -> float | None:
    """Return the mean of the three numbers, where all of them are there."""
    if quality is None or any(quality[name] is None for name in QUALITY):
        return None
    return float(sum(quality[name] for name in QUALITY)) / len(QUALITY)


def sources_of(record: Trajectory) -> tuple[str, ...]:
    """Return what the answer was made from: the sources that the record names, else what its tools returned."""
    results = (call.result for call in record.tool_calls or () if call.executed and call.result)
    left = LARGEST
    kept: list[str] = []
    for source in record.sources or results:
        if left <= 0:
            kept.append("[more sources were left out]")
            break
        kept.append(source if len(source) <= left else f"{source[:left]} [cut here]")
        left -= len(source)
    return tuple(kept)


def no_quality() -> dict[str, Any]:
    """Return the quality of an answer that could not be judged: every key, no number."""
    return dict.fromkeys((*QUALITY, "reasoning"))


def _request(scenario: Scenario, record: Trajectory) -> str:
    """Return what the user asked: the question, or the conversation up to the last reply."""
    if len(scenario.turns) == 1:
        return scenario.question
    last = max((at for at, one in enumerate(record.messages) if one.role == "user"), default=-1)
    said = [one for one in record.messages[: last + 1] if one.role in ROLES and one.text]
    return "\n\n".join(f"{ROLES[one.role]}: {one.text}" for one in said) or "\n\n".join(scenario.turns)


def _takes_sources(judge: Any) -> bool:
    parameters = inspect.signature(judge.ajudge).parameters.values()
    return any(one.name == "sources" or one.kind is one.VAR_KEYWORD for one in parameters)
