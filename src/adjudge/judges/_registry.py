"""Judges by name.

local               the judge in the package, best tier installed; local:0 is its plain tier, local:1 needs an extra
openai:MODEL        a model behind an OpenAI-compatible endpoint
anthropic:MODEL     a model behind Anthropic's messages interface
litellm:MODEL       a model by its LiteLLM name, through that package
panel:A,B,...       the majority of several judges
cascade:A,B         A where it is sure, B otherwise: cascade:local,openai:MODEL
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from adjudge.errors import DataError, UsageError, closest, closest_model
from adjudge.judges._calibration import load_calibration
from adjudge.judges._cascade import ERROR_BUDGET, CascadeJudge
from adjudge.judges._fit import load_fit
from adjudge.judges._llm import LLMJudge
from adjudge.judges._panel import PanelJudge

if TYPE_CHECKING:
    from adjudge.judges.local import LocalJudge

CASCADE_OPTIONS = ("error_budget", "first_calibration")
"""Options that only a cascade takes."""

_OPTIONS = tuple(one.name for one in fields(LLMJudge) if one.init and one.name not in ("model", "api"))
_KINDS = ("local", "openai:MODEL", "anthropic:MODEL", "litellm:MODEL", "panel:A,B", "cascade:A,B")


def get_judge(spec: str, **options: Any) -> LLMJudge | LocalJudge | PanelJudge | CascadeJudge:
    """Return the judge of that name; `options` go to the judges that ask a model.

    Two are a cascade's: `error_budget`, and `first_calibration`, the file that chooses its threshold by your labels.
    One is the local judge's: `fit`, the file that `adjudge judge fit` wrote.

    >>> get_judge("local:0").name
    'local:0'
    >>> get_judge("panel:local:0,openai:gpt-4o,anthropic:claude-sonnet-4-5").name
    'panel:local:0,openai:gpt-4o,anthropic:claude-sonnet-4-5'
    >>> get_judge("opnai:gpt-4o")
    Traceback (most recent call last):
    adjudge.errors.UsageError: no judge is called 'opnai:gpt-4o'; did you mean 'openai:gpt-4o'?
    """
    kind, colon, tail = spec.strip().partition(":")
    rest = tail if colon else None
    if "api_key" in spec:
        raise UsageError("remove the key from the judge's name, which run files keep: set a variable, or api_key=")
    # What only a cascade takes must not reach its members.
    own = {name: options.pop(name) for name in CASCADE_OPTIONS if name in options}
    fit = options.pop("fit", None)
    if kind == "cascade":
        return _cascade(spec, rest or "", own, options)
    given = [name for name, value in own.items() if value is not None]
    if given:
        message = f"{spec!r} takes no {' or '.join(given)}: only a cascade does, such as cascade:local,openai:MODEL"
        raise UsageError(message)
    unknown = next((name for name in options if name not in _OPTIONS), None)
    if unknown is not None:
        hint = ": write local:0 or local:1" if unknown == "tier" else closest(unknown, (*_OPTIONS, *CASCADE_OPTIONS))
        raise UsageError(f"no judge takes {unknown!r} by name{hint}")
    if kind == "local":
        return _local(spec, rest, fit)
    if fit is not None:
        raise UsageError(f"{spec!r} takes no fit: only local, local:0 and local:1 do")
    if kind == "panel":
        return _panel(spec, rest or "", options)
    if kind in ("openai", "anthropic", "litellm"):
        if rest:
            if kind == "litellm":
                from adjudge.chat import require_litellm

                require_litellm()
            return LLMJudge(rest, **{**options, "api": kind})
        raise UsageError(f"{spec!r} does not name a model: write {kind}:MODEL", code="unknown-judge")
    hint = closest_model(spec.strip())
    near = closest(kind, ["local", "openai", "anthropic", "litellm", "panel", "cascade"])
    if not hint:
        hint = f"{near[:-2]}{colon}{rest or ''}'?" if near else f"; there are {', '.join(_KINDS)}"
    raise UsageError(f"no judge is called {spec!r}{hint}", code="unknown-judge")


def _local(spec: str, tier: str | None, file: str | None) -> LocalJudge:
    # Loaded only by those who name it.
    from adjudge.judges.local import TIERS, LocalJudge

    known = None if file is None else load_fit(file)
    if file is not None and known is None:
        raise DataError(f"{file} is not a fit: adjudge judge fit writes one", code="bad-calibration")
    if tier is None:
        return LocalJudge(fit=known)
    if tier not in map(str, TIERS):
        tiers = ", ".join(f"'local:{known}'" for known in TIERS)
        raise UsageError(f"{spec!r} is not a tier of the local judge; it has {tiers}", code="unknown-judge")
    return LocalJudge(tier=int(tier), fit=known)


def _panel(spec: str, rest: str, options: dict[str, Any]) -> PanelJudge:
    members = [member.strip() for member in rest.split(",")]
    if len(members) < 2 or not all(members):
        raise UsageError(f"{spec!r}: a panel has at least two judges: write panel:A,B", code="unknown-judge")
    if any(member.startswith(("panel:", "cascade:")) for member in members):
        raise UsageError(f"{spec!r}: a panel has no panels or cascades among its members", code="unknown-judge")
    return PanelJudge([get_judge(member, **options) for member in members])


def _cascade(spec: str, rest: str, own: dict[str, Any], options: dict[str, Any]) -> CascadeJudge:
    first, _, second = (part.strip() for part in rest.partition(","))
    if not first or not second or second.startswith("cascade:"):
        raise UsageError(f"{spec!r}: a cascade has two judges: write cascade:local,openai:MODEL", code="unknown-judge")
    members = get_judge(first, **options), get_judge(second, **options)
    budget, file = (own.get(name) for name in CASCADE_OPTIONS)
    known = None if file is None else load_calibration(file)
    return CascadeJudge(*members, error_budget=ERROR_BUDGET if budget is None else budget, calibration=known)
