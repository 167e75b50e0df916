"""Scorers by name, in one grammar behind every door: Python, `--scorer`, scenario and gate files, composites.

    get_scorer("qa_f1_reward")                          a reward: built in, or of a package with an entry point
    get_scorer("my_rewards:brevity")                    the function `brevity` of the module `my_rewards`
    get_scorer("./rewards.py:brevity")                  the same of a file
    get_scorer("local:0"), get_scorer("openai:MODEL")   a judge; its names are reserved, so never taken for a module
    get_scorer("quality:openai:MODEL")                  the quality rubric, scored by a model
    get_scorer("rubric:openai:MODEL")                   the weighted criteria of each row, one verdict for each
    get_scorer("qa_f1_reward_tool(f1_threshold=0.5)")   any of them with options

Nothing registers itself: a table names what is built in, entry points are read when a name is not among them.
"""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.calling import load_code
from adjudge.errors import UnknownReward, UsageError, closest, closest_model
from adjudge.rewards._reward import Reward
from adjudge.rewards._scorer import Scorer

if TYPE_CHECKING:
    from adjudge.model import Judge

ENTRY_POINTS = "adjudge.rewards"

# Places are texts, so that this table can name code of higher layers without importing it.
BUILT_IN = {
    "alfworld_episode_reward": "adjudge.rewards.environments:alfworld_episode_reward",
    "cites_sources": "adjudge.rewards.assertions:cites_sources",
    "contains_all": "adjudge.rewards.assertions:contains_all",
    "contains_any": "adjudge.rewards.assertions:contains_any",
    "contains_reward": "adjudge.rewards.form:contains_reward",
    "episode_reward": "adjudge.rewards.environments:episode_reward",
    "format_reward": "adjudge.rewards.form:format_reward",
    "is_json": "adjudge.rewards.assertions:is_json",
    "is_language": "adjudge.rewards.assertions:is_language",
    "is_refusal": "adjudge.rewards.assertions:is_refusal",
    "length_penalty": "adjudge.rewards.form:length_penalty",
    "matches_regex": "adjudge.rewards.assertions:matches_regex",
    "matches_schema": "adjudge.rewards.assertions:matches_schema",
    "math_equal_reward": "adjudge.rewards.math._rewards:math_equal_reward",
    "math_equal_reward_tool": "adjudge.rewards.math._rewards:math_equal_reward_tool",
    "max_cost": "adjudge.rewards.limits:max_cost",
    "max_latency": "adjudge.rewards.limits:max_latency",
    "max_tokens": "adjudge.rewards.limits:max_tokens",
    "max_tool_calls": "adjudge.rewards.limits:max_tool_calls",
    "max_turns": "adjudge.rewards.limits:max_turns",
    "not_contains": "adjudge.rewards.assertions:not_contains",
    "qa_em_reward": "adjudge.rewards.qa:qa_em_reward",
    "qa_f1_reward": "adjudge.rewards.qa:qa_f1_reward",
    "qa_f1_reward_tool": "adjudge.rewards.qa:qa_f1_reward_tool",
    "scienceworld_reward": "adjudge.rewards.environments:scienceworld_reward",
    "starts_with": "adjudge.rewards.assertions:starts_with",
    "tools_f1": "adjudge.rewards.assertions:tools_f1",
    "tools_requested": "adjudge.rewards.assertions:tools_requested",
    "webshop_reward": "adjudge.rewards.environments:webshop_reward",
    "workflow_reward": "adjudge.scenarios:workflow_reward",
}
JUDGES = ("local", "openai", "anthropic", "litellm", "panel", "cascade", "quality", "rubric")
"""What the name of a judge begins with; write a module of such a name as a file, `./local.py:function`."""

JUDGE_SCORER = "adjudge.judges._scorer:judge_scorer"

_WITH_OPTIONS = re.compile(r"\s*([^\s()]+)\s*\((.*)\)\s*", re.DOTALL)


def get_scorer(spec: "str | Callable[..., Any] | Scorer | Judge", /, **options: Any) -> Scorer:
    """Return the scorer for a name, a place in code, a function, a judge or a scorer.

    Options of a reward are arguments for all its rows; those of a judge are how it asks its model.

    >>> get_scorer("qa_f1_reward").score({"final_response": "Paris", "answer": "Paris"}).value
    1.0
    >>> get_scorer("local:0").score({"question": "Capital?", "reference": "Paris", "response": "Paris"}).value
    1.0
    >>> get_scorer("qa_f1_rewrd")
    Traceback (most recent call last):
    adjudge.errors.UnknownReward: no scorer is called 'qa_f1_rewrd'; did you mean 'qa_f1_reward'?
    """
    if isinstance(spec, str):
        name, written = _parse(spec)
        options = {**written, **options}
        # The names of judges are reserved, so that `local:0` is never taken for a module.
        if name.partition(":")[0] not in JUDGES:
            return get_scorer(_find(name), **options)
        return _judge_scorer(name, options)
    if hasattr(spec, "ajudge"):
        return _judge_scorer(spec, options)
    if not isinstance(spec, Scorer):
        return Reward.of(spec, options)
    if not options:
        return spec
    if not isinstance(spec, Reward):
        raise UsageError(f"{spec.name} takes no options here: give them to its constructor")
    return spec.with_options(**options)


def get_reward(reward: "str | Callable[..., Any] | Scorer | Judge", /, **options: Any) -> Scorer:
    """Return the scorer: another name of `get_scorer`."""
    return get_scorer(reward, **options)


def _judge_scorer(judge: Any, options: dict[str, Any]) -> Scorer:
    scorer: Scorer = load_code(JUDGE_SCORER)(judge, **options)
    return scorer


def list_rewards() -> dict[str, str]:
    """Return every registered name with the place of its function, `module:function`, in order of names.

    >>> list_rewards()["qa_f1_reward"]
    'adjudge.rewards.qa:qa_f1_reward'
    """
    return dict(sorted({**_plugins(), **BUILT_IN}.items()))


@dataclass(frozen=True, slots=True)
class Description:
    """What a person wants to know about a registered scorer."""

    name: str
    version: str
    signature: str
    summary: str
    place: str


def describe(name: str) -> Description:
    """Describe a registered scorer by its signature and the first line of its docstring.

    >>> describe("qa_em_reward").summary
    '1 if the response is one of the accepted answers after normalisation, else 0.'
    """
    scorer = get_scorer(name)
    place = list_rewards().get(name, name)
    if not isinstance(scorer, Reward):
        return Description(name, scorer.version, "", scorer.name, place)
    function = scorer.function
    parameters = inspect.signature(function).parameters.values()
    signature = inspect.Signature([parameter.replace(annotation=parameter.empty) for parameter in parameters])
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    return Description(name, scorer.version, str(signature), summary, place)


def _find(name: str) -> Any:
    place = BUILT_IN.get(name)
    if place is None and ":" not in name:
        plugins = _plugins()
        if name not in plugins:
            hint = closest_model(name) or closest(name, [*BUILT_IN, *plugins, "local", "quality", "rubric"])
            raise UnknownReward(f"no scorer is called {name!r}{hint}")
        place = plugins[name]
    try:
        found = load_code(place or name)
    except UsageError as error:
        # A misspelt judge, such as opnai:gpt-4o.
        near = closest(name.partition(":")[0], JUDGES)
        raise UnknownReward(f"{error.message}{near}") from None
    if not callable(found) and not isinstance(found, Scorer) and not hasattr(found, "ajudge"):
        raise UnknownReward(f"{place or name} is a {type(found).__name__}, not a function")
    return found


def _plugins() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: f"{point.module}:{point.attr}" for point in entry_points(group=ENTRY_POINTS)}


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """Split `name(option=value, ...)`; the values are plain literals, nothing is evaluated."""
    written = _WITH_OPTIONS.fullmatch(text)
    if written is None:
        return text.strip(), {}
    name, inside = written.groups()
    try:
        # Parsed, never evaluated: a file may hold this text.
        call = ast.parse(f"_({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(word.arg is None for word in call.keywords):
            raise ValueError("only option=value")
        options = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError) as error:
        raise UsageError(f"cannot read the options of {text!r}: write {name}(option=value, ...)") from error
    if "api_key" in options:
        raise UsageError(
            f"remove the key from {name}(...), which run files keep: set a variable, or api_key= in Python"
        )
    return name, options
