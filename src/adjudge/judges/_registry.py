"""Judges by name.

local               the judge in the package, best tier installed; local:0 is its plain tier, local:1 needs an extra
openai:MODEL        a model behind an OpenAI-compatible endpoint
anthropic:MODEL     a model behind Anthropic's messages interface
litellm:MODEL       a model by its LiteLLM name, through that package
panel:A,B,...       the majority of several judges
"""

from __future__ import annotations

from typing import Any

from adjudge.errors import UsageError, closest
from adjudge.judges._llm import LLMJudge
from adjudge.judges._panel import PanelJudge
from adjudge.judges.local import TIERS, LocalJudge

_KINDS = ("local", "openai:MODEL", "anthropic:MODEL", "litellm:MODEL", "panel:A,B")


def get_judge(spec: str, **options: Any) -> LLMJudge | LocalJudge | PanelJudge:
    """Return the judge of that name; `options` go to the judges that ask a model.

    >>> get_judge("local").name
    'local:0'
    >>> get_judge("panel:local,openai:gpt-4o,anthropic:claude-sonnet-4-5").name
    'panel:local:0,openai:gpt-4o,anthropic:claude-sonnet-4-5'
    >>> get_judge("opnai:gpt-4o")
    Traceback (most recent call last):
    adjudge.errors.UsageError: no judge is called 'opnai:gpt-4o'; did you mean 'openai:gpt-4o'?
    """
    kind, colon, rest = spec.strip().partition(":")
    if kind == "local":
        return _local(spec, rest if colon else None)
    if kind == "panel":
        return _panel(spec, rest, options)
    if kind in ("openai", "anthropic", "litellm"):
        if rest:
            if kind == "litellm":
                from adjudge.chat._litellm import require_litellm

                require_litellm()
            return LLMJudge(rest, **{**options, "api": kind})
        raise UsageError(f"{spec!r} does not say which model: write {kind}:MODEL", code="unknown-judge")
    near = closest(kind, ["local", "openai", "anthropic", "litellm", "panel"])
    hint = f"{near[:-2]}{colon}{rest}'?" if near else f"; there are {', '.join(_KINDS)}"
    raise UsageError(f"no judge is called {spec!r}{hint}", code="unknown-judge")


def _local(spec: str, tier: str | None) -> LocalJudge:
    if tier is None:
        return LocalJudge()
    if tier not in map(str, TIERS):
        there = ", ".join(f"'local:{known}'" for known in TIERS)
        raise UsageError(f"{spec!r} is no tier of the local judge; there is {there}", code="unknown-judge")
    return LocalJudge(tier=int(tier))


def _panel(spec: str, rest: str, options: dict[str, Any]) -> PanelJudge:
    members = [member.strip() for member in rest.split(",")]
    if len(members) < 2 or not all(members):
        raise UsageError(f"{spec!r}: a panel has at least two judges: write panel:A,B", code="unknown-judge")
    if any(member.startswith("panel:") for member in members):
        raise UsageError(f"{spec!r}: a panel has no panels among its members", code="unknown-judge")
    return PanelJudge([get_judge(member, **options) for member in members])
