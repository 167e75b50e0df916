"""Which judge is meant, and whether there is anything to ask it with."""

import os
from typing import Any

from adjudge.crag import config
from adjudge.crag.llm_judge import LLMJudge
from adjudge.errors import UsageError
from adjudge.judges import get_judge
from adjudge.model import Judge

_ADDRESSES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def judge_of(
    name: str | Judge | None, *, api_key: str | None = None, base_url: str | None = None
) -> tuple[Judge | None, str | None]:
    """Return the judge, or None and, where one was wanted, why there is none.

    A bare name is a model behind an OpenAI-compatible endpoint; otherwise names are those of `adjudge.judges`.

    >>> judge_of("local:0")[0].name, judge_of(None)
    ('local:0', (None, None))
    """
    if name is None or not isinstance(name, str):
        return name, None
    kind, colon, rest = name.strip().partition(":")
    if not kind or (colon and not rest):
        raise UsageError(f"{name!r} names no model to judge with", code="unknown-judge")
    if kind == "local":
        return get_judge(name), None
    limits: dict[str, Any] = {"max_tokens": config.MAX_EVAL_TOKENS, "attempts": config.MAX_API_RETRIES}
    if kind in ("panel", "cascade", "litellm") and colon:  # whose keys are not ours to look for
        return get_judge(name, api_key=api_key or None, base_url=base_url, **limits), None
    api, model = (kind, rest) if colon and kind in _KEYS else ("openai", name.strip())
    places = (_KEYS[api], f"{_KEYS[api]}_FILE", _ADDRESSES[api])
    if not (api_key or base_url or any(os.environ.get(place) for place in places)):
        message = f"semantic evaluation is off: there is no key for {name}; set {_KEYS[api]}, or give eval_api_key"
        return None, f"{message} or eval_base_url (--base-url), or name 'local' as the judge"
    return LLMJudge(model, api_key or None, base_url, api=api), None
