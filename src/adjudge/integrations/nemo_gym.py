"""NeMo Gym: a scorer as a resources server, in the `app.py` of one.

    Good = resources_server("qa_f1_reward")
    if __name__ == "__main__":
        Good.run_webserver()

A row without a number is NeMo Gym's `judge_failed`: it is in no mean, and is tried again. Written against NeMo Gym at
07d6b0d0.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjudge.errors import RowError, UsageError
from adjudge.integrations._policy import MAX_FAILED, WINDOW, FaultPolicy, OnFault, RewardFault
from adjudge.integrations._rollouts import Row, rollout_row, with_answer
from adjudge.rewards import Scorer, get_scorer

__all__ = ["resources_server", "row_of_request"]


def resources_server(
    scorer: str | Callable[..., Any] | Scorer,
    *,
    on_fault: OnFault = "mask",
    max_failed: float = MAX_FAILED,
    window: int = WINDOW,
) -> Any:
    """Return the class of a resources server that verifies with a scorer, or with what `get_scorer` makes one of.

    The fields of a data set's row are the scorer's columns; `expected_answer` is its `answer`, too. With
    `on_fault="raise"`, and where too many rollouts have no number, `/verify` fails, and so does the collection.
    """
    from nemo_gym.base_resources_server import (
        BaseResourcesServerConfig,
        BaseVerifyRequest,
        BaseVerifyResponse,
        SimpleResourcesServer,
    )
    from nemo_gym.judge import JudgeError

    made = get_scorer(scorer)
    if made.is_group:
        raise UsageError(
            f"{made.name} looks at all rollouts of one prompt, and NeMo Gym asks for one", code="unknown-groups"
        )
    policy = FaultPolicy(made.name, on_fault, max_failed=max_failed, window=window)

    class VerifyRequest(BaseVerifyRequest):  # type: ignore[misc]  # untyped where NeMo Gym is not installed
        """A rollout with all fields of its row."""

        model_config = {"extra": "allow"}  # noqa: RUF012 (of pydantic)

    class VerifyResponse(BaseVerifyResponse):  # type: ignore[misc]
        """The same with its reward and parts."""

        model_config = {"extra": "allow"}  # noqa: RUF012 (of pydantic)

    class ScoredResourcesServer(SimpleResourcesServer):  # type: ignore[misc]
        """Verifies with a scorer."""

        config: BaseResourcesServerConfig

        async def verify(self, body: VerifyRequest) -> VerifyResponse:
            fields = body.model_dump()
            score = await made.ascore(row_of_request(fields))
            (value,) = policy.settle([score])
            if policy.excess is not None:
                raise RewardFault(policy.excess, code="too-many-faults")
            if value is None:
                raise JudgeError(f"{score.status}: {score.reason}")
            # Metrics are made of numbers at the top, which must not replace fields of the row.
            parts = {part: number for part, number in score.parts.items() if part not in fields and number is not None}
            return VerifyResponse(**{**parts, **fields, "reward": value})

    return ScoredResourcesServer


def row_of_request(found: Mapping[str, Any]) -> Row:
    """Return what NeMo Gym asks to verify as a row.

    >>> output = [{"type": "message", "role": "assistant", "content": "Paris"}]
    >>> body = {"responses_create_params": {"input": "Capital?"}, "response": {"output": output}, "answer": "Paris"}
    >>> row = row_of_request(body)
    >>> row["prompt"], row["final_response"], row["answer"]
    ('Capital?', 'Paris', 'Paris')
    """
    asked, answered = found.get("responses_create_params"), found.get("response")
    if not isinstance(asked, dict) or not isinstance(answered, dict):
        raise RowError("responses_create_params and response must be objects")
    columns = {name: value for name, value in found.items() if name not in ("responses_create_params", "response")}
    if columns.get("expected_answer") is not None:
        columns = with_answer(columns, columns["expected_answer"])
    given = asked.get("input")
    prompt = [message for item in given for message in _messages(item)] if isinstance(given, list) else given
    output = answered.get("output")
    messages = [message for item in output for message in _messages(item)] if isinstance(output, list) else []
    # Without a message there is no response, which is an answer of the agent: an empty one.
    return rollout_row(prompt, messages or "", columns)


def _messages(item: Any) -> Sequence[dict[str, Any]]:
    """Return an item of OpenAI's Responses interface as a message; one that says nothing is none."""
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind == "message":
        return ({"role": item.get("role", "assistant"), "content": item.get("content")},)
    if kind == "function_call":
        call = {"name": item.get("name"), "arguments": item.get("arguments")}
        return (
            {"role": "assistant", "tool_calls": [{"id": item.get("call_id"), "type": "function", "function": call}]},
        )
    if kind == "function_call_output":
        return ({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")},)
    return ()
