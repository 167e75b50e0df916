"""The judge of the CRAG-MM evaluation: the general one, under the benchmark's name.

LLMJudge("gpt-4o", "your-api-key").evaluate("What color is it?", "red", "It is crimson.")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.crag import config
from adjudge.crag._awaited import awaited
from adjudge.judges import LLMJudge as GeneralJudge

if TYPE_CHECKING:
    from adjudge.model import Judgement

__all__ = ["LLMJudge"]


class LLMJudge(GeneralJudge):
    """Asks a chat model whether a response gives the answer that the ground truth gives.

    `base_url` is any OpenAI-compatible endpoint. Without a key, that of the environment is used. A call gets
    `MAX_API_RETRIES` attempts, and a reply has at most `MAX_EVAL_TOKENS` tokens; `options` are those of
    `adjudge.judges.LLMJudge`.
    """

    def __init__(
        self, model_name: str, api_key: str | None = None, base_url: str | None = None, **options: Any
    ) -> None:
        limits = {"max_tokens": config.MAX_EVAL_TOKENS, "attempts": config.MAX_API_RETRIES}
        super().__init__(model_name, base_url, api_key, **{**limits, **options})

    def evaluate(self, query: str, ground_truth: str, agent_response: str | None) -> dict[str, Any]:
        """Judge one response, and return what the `api_response` column holds.

        `accuracy` is true, false, or None where there is no verdict; `verdict` is CORRECT, WRONG or None; `status` is
        scored, unscored or error; `reason` the judge's own, or what failed; `raw` the text of the last reply, None
        where nobody had to be asked; `judge` and `prompt_hash` say who was asked what; `calls` how often.

        >>> LLMJudge("gpt-4o").evaluate("What color is it?", "red", "")["verdict"]
        'WRONG'
        """
        return api_response(awaited(self.ajudge(query, ground_truth, agent_response)))


def api_response(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as the mapping that stands in the results."""
    return {
        "accuracy": None if judgement.verdict is None else judgement.verdict == "CORRECT",
        "verdict": judgement.verdict,
        "status": judgement.status,
        "reason": judgement.reason,
        "raw": judgement.raw,
        "judge": judgement.judge,
        "prompt_hash": judgement.prompt_hash,
        "calls": judgement.calls,
    }
