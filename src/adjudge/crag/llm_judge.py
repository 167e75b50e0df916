"""The judge of the CRAG-MM evaluation: the general one, under the benchmark's name.

LLMJudge("gpt-4o", "your-api-key").evaluate("What color is it?", "red", "It is crimson.")
"""

from __future__ import annotations

from typing import Any

from adjudge.calling import run_sync
from adjudge.crag import config
from adjudge.judges import LLMJudge as GeneralJudge
from adjudge.judges import judge_scorer
from adjudge.model import Provenance, Score

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
        where no model was asked; `judge` and `prompt_hash` say who was asked what; `calls` how often.

        >>> LLMJudge("gpt-4o").evaluate("What color is it?", "red", "")["verdict"]
        'WRONG'
        """
        row = {"question": query, "reference": ground_truth, "response": agent_response}
        return api_response(run_sync(judge_scorer(self).ascore(row), "evaluate", anywhere=True))


def api_response(score: Score) -> dict[str, Any]:
    """Return what a judge said, as the mapping that results hold."""
    verdict = (score.notes or {}).get("verdict")
    provenance = score.provenance or Provenance("", "")
    # Nobody was asked: an empty response is wrong without a call.
    asked = score.detail or {"raw": None, "calls": 0}
    return {
        "accuracy": None if verdict is None else verdict == "CORRECT",
        "verdict": verdict,
        "status": score.status,
        "reason": score.reason,
        "raw": asked["raw"],
        "judge": provenance.judge,
        "prompt_hash": provenance.prompt_hash,
        "calls": asked["calls"],
    }
