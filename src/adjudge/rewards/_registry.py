"""Rewards by name: the built-in ones, those of installed packages, and any function by its place.

    get_reward("qa_f1_reward")                          built in
    get_reward("their_reward")                          from a package with an entry point in `adjudge.rewards`
    get_reward("my_rewards:brevity")                    the function `brevity` of the module `my_rewards`
    get_reward("qa_f1_reward_tool(f1_threshold=0.5)")   with options

Nothing registers itself: a table names the built-ins, entry points are read when a name is not among them.
"""

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from adjudge.errors import Caught, UnknownReward, UsageError, closest
from adjudge.rewards._reward import Reward
from adjudge.rewards._scorer import Scorer

ENTRY_POINTS = "adjudge.rewards"

BUILT_IN = {
    "alfworld_episode_reward": "adjudge.rewards.environments:alfworld_episode_reward",
    "contains_reward": "adjudge.rewards.form:contains_reward",
    "format_reward": "adjudge.rewards.form:format_reward",
    "length_penalty": "adjudge.rewards.form:length_penalty",
    "math_equal_reward": "adjudge.rewards.math._rewards:math_equal_reward",
    "math_equal_reward_tool": "adjudge.rewards.math._rewards:math_equal_reward_tool",
    "qa_em_reward": "adjudge.rewards.qa:qa_em_reward",
    "qa_f1_reward": "adjudge.rewards.qa:qa_f1_reward",
    "qa_f1_reward_tool": "adjudge.rewards.qa:qa_f1_reward_tool",
    "scienceworld_reward": "adjudge.rewards.environments:scienceworld_reward",
    "webshop_reward": "adjudge.rewards.environments:webshop_reward",
    "workflow_reward": "adjudge.scenarios._reward:workflow_reward",
}

_WITH_OPTIONS = re.compile(r"\s*([^\s()]+)\s*\((.*)\)\s*", re.DOTALL)


def get_reward(reward: str | Callable[..., Any] | Scorer, /, **options: Any) -> Scorer:
    """Return the scorer of that name, place or function; options are arguments for all its rows.

    >>> get_reward("qa_f1_reward").score({"final_response": "Paris", "answer": "Paris"}).value
    1.0
    >>> get_reward("qa_f1_rewrd")
    Traceback (most recent call last):
    adjudge.errors.UnknownReward: no reward is called 'qa_f1_rewrd'; did you mean 'qa_f1_reward'?
    """
    if isinstance(reward, str):
        name, written = _parse(reward)
        return get_reward(_find(name), **{**written, **options})
    if not isinstance(reward, Scorer):
        return Reward.of(reward, options)
    if not options:
        return reward
    if not isinstance(reward, Reward):
        raise UsageError(f"{reward.name} is a composition and takes no options; give them to its members")
    return reward.with_options(**options)


def list_rewards() -> dict[str, str]:
    """Return every registered name with the place of its function, `module:function`, in order of names.

    >>> list_rewards()["qa_f1_reward"]
    'adjudge.rewards.qa:qa_f1_reward'
    """
    return dict(sorted({**_plugins(), **BUILT_IN}.items()))


@dataclass(frozen=True, slots=True)
class Description:
    """What a person wants to know of a registered scorer."""

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
    scorer = get_reward(name)
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
            hint = closest(name, [*BUILT_IN, *plugins])
            raise UnknownReward(f"no reward is called {name!r}{hint}")
        place = plugins[name]
    return _load(place or name)


def _plugins() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: f"{point.module}:{point.attr}" for point in entry_points(group=ENTRY_POINTS)}


def _load(place: str) -> Any:
    module_name, _, attribute = place.partition(":")
    if not module_name or not attribute:
        raise UnknownReward(f"{place!r} is no place of a reward: write module:function")
    with Caught() as caught:
        module = import_module(module_name)
    if caught.reason is not None:
        raise UnknownReward(f"{place}: cannot import {module_name!r}: {caught.reason.removeprefix('raised: ')}")
    found: Any = module
    for step in attribute.split("."):
        if not hasattr(found, step):
            raise UnknownReward(f"{place}: {module_name} has no {attribute!r}{closest(step, dir(found))}")
        found = getattr(found, step)
    if not callable(found) and not isinstance(found, Scorer):
        raise UnknownReward(f"{place} is a {type(found).__name__}, not a function")
    return found


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """Split `name(option=value, ...)`; the values are plain literals, nothing is evaluated."""
    written = _WITH_OPTIONS.fullmatch(text)
    if written is None:
        return text.strip(), {}
    name, inside = written.groups()
    try:
        call = ast.parse(f"_({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(word.arg is None for word in call.keywords):
            raise ValueError("only option=value")
        return name, {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError) as error:
        raise UsageError(f"cannot read the options of {text!r}: write {name}(option=value, ...)") from error
