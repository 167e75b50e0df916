"""Assertions about one run, each 1 or 0: what the response says, its form, the tools, and the limits that it kept.

contains_all("Paris, on the Seine", texts=["Paris", "Seine"])            1.0
matches_schema('{"city": "Paris"}', schema={"required": ["country"]})   0.0, with the reason
max_latency(trajectory, seconds=5)                                      unscored, where nobody knows how long it took

In a scenario file they are scorers with arguments, and a scenario passes only where they are 1.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjudge.errors import ArgumentError, MissingExtra
from adjudge.model import Provenance, Score, Trajectory
from adjudge.rewards._tag import Row, by_row, reward
from adjudge.text.values import plain, text_of

_FENCE = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)
_LARGEST = 1 << 20  # characters of JSON that is read
_RANGE = (0.0, 1.0)


@reward(binary=True, range=_RANGE, parts=())
def contains_all(final_response: str | None, *, texts: Sequence[str], ignore_case: bool = True) -> dict[str, Any]:
    """1 if the response contains every one of the texts, else 0.

    >>> contains_all("Paris, on the Seine", texts=["paris", "Seine"])["reward"]
    1.0
    """
    found = _found(final_response, texts, ignore_case=ignore_case)
    missing = [text for text, is_there in found.items() if not is_there]
    return _verdict(not missing, f"missing-text: it does not contain {_quoted(missing)}")


@reward(binary=True, range=_RANGE, parts=())
def contains_any(final_response: str | None, *, texts: Sequence[str], ignore_case: bool = True) -> dict[str, Any]:
    """1 if the response contains at least one of the texts, else 0.

    >>> contains_any("It is Lyon.", texts=["Paris", "Marseille"])["reason"]
    "missing-text: it contains none of 'Paris', 'Marseille'"
    """
    found = _found(final_response, texts, ignore_case=ignore_case)
    return _verdict(any(found.values()), f"missing-text: it contains none of {_quoted(found)}")


@reward(binary=True, range=_RANGE, parts=())
def not_contains(final_response: str | None, *, texts: Sequence[str], ignore_case: bool = True) -> dict[str, Any]:
    """1 if the response contains none of the texts, else 0.

    >>> not_contains("As an AI, I cannot say.", texts=["as an AI"])["reward"]
    0.0
    """
    found = _found(final_response, texts, ignore_case=ignore_case)
    there = [text for text, is_there in found.items() if is_there]
    return _verdict(not there, f"unwanted-text: it contains {_quoted(there)}")


@reward(binary=True, range=_RANGE, parts=())
def starts_with(final_response: str | None, *, texts: Sequence[str], ignore_case: bool = True) -> dict[str, Any]:
    """1 if the response begins with one of the texts, white space aside, else 0.

    >>> starts_with("  Yes, it is.", texts="yes")["reward"]
    1.0
    """
    wanted = _texts(texts)
    text = _folded(text_of(final_response, "final_response"), ignore_case).lstrip()
    is_there = text.startswith(tuple(_folded(one, ignore_case) for one in wanted))
    return _verdict(is_there, f"missing-text: it begins with none of {_quoted(wanted)}")


def _regex_score(row: Row, provenance: Provenance) -> Score:
    found = _matches(row["final_response"], row["pattern"])
    if "unscored" in found:
        return Score.unscored(found["unscored"], provenance=provenance)
    return Score.scored(found["reward"], reason=found.get("reason"), provenance=provenance)


_regex_batch = by_row(_regex_score)


async def _regex_abatch(rows: Sequence[Row], provenance: Provenance) -> Sequence[Score]:
    """Wait for the worker process without holding up the event loop."""
    return await asyncio.to_thread(_regex_batch, rows, provenance)


@reward(binary=True, range=_RANGE, parts=(), batch=_regex_batch, abatch=_regex_abatch)
def matches_regex(final_response: str | None, *, pattern: str) -> dict[str, Any]:
    r"""1 if the pattern is found in the response, else 0; the search runs in a process that is killed after a second.

    >>> matches_regex("Call 555-0199.", pattern=r"\d{3}-\d{4}")["reward"]
    1.0
    """
    return _matches(final_response, pattern)


def _matches(final_response: object, pattern: object) -> dict[str, Any]:
    from adjudge.processes import LONGEST_TEXT, PatternSearch, check_pattern, search_patterns

    checked = check_pattern(pattern, "pattern", code="bad-option")
    text = text_of(final_response, "final_response")
    if len(text) > LONGEST_TEXT:
        return {"unscored": f"too-large: the response has {len(text):,} characters, and {LONGEST_TEXT:,} are searched"}
    [found] = search_patterns([PatternSearch(checked, text)])
    if found is None:
        return {"unscored": "timeout: the pattern could not be matched in time"}
    return _verdict(found, "no-match: the pattern is not found in it")


@reward(binary=True, range=_RANGE, parts=())
def is_json(final_response: str | None) -> dict[str, Any]:
    """1 if the response is JSON, alone or in one code fence, else 0.

    >>> is_json('{"a": 1}')["reward"], is_json("a: 1")["reward"]
    (1.0, 0.0)
    """
    _, fault = _json(final_response)
    return _verdict(fault is None, fault)


@reward(binary=True, range=_RANGE, parts=())
def matches_schema(final_response: str | None, *, schema: Mapping[str, Any]) -> dict[str, Any]:
    """1 if the response is JSON, alone or in one code fence, that fits a JSON schema, else 0.

    Needs `jsonschema` (`pip install 'adjudge[schema]'`). A schema refers to nothing outside of itself.
    """
    try:
        import jsonschema
        import referencing
    except ImportError as error:
        raise MissingExtra.of("schema", "matches_schema") from error
    if not isinstance(schema, Mapping):
        raise ArgumentError(f"schema must be a mapping, got {schema!r}", code="bad-option")
    schema = dict(schema)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ArgumentError(f"schema is not a JSON schema: {error.message}", code="bad-option") from None
    value, fault = _json(final_response)
    # Without a registry of its own, the validator would fetch what `$ref` names.
    validator = kind(schema, registry=referencing.Registry())
    if fault is None:
        try:
            wrong = next(iter(validator.iter_errors(value)), None)
        except (referencing.exceptions.Unresolvable, RecursionError) as error:
            raise ArgumentError(f"schema cannot be used: {type(error).__name__}", code="bad-option") from None
        fault = None if wrong is None else f"wrong-json: {wrong.json_path}: {wrong.message[:200]}"
    return _verdict(fault is None, fault)


@reward(binary=True, range=_RANGE, parts=())
def max_latency(trajectory: Any, *, seconds: float) -> dict[str, Any]:
    """1 if the agent took at most so many seconds, else 0; unscored where nobody measured it.

    >>> max_latency(Trajectory(seconds=2.5), seconds=2)["reason"]
    'too-slow: it took 2.5 s, and 2 s were allowed'
    """
    limit = _number(seconds, "seconds")
    taken = _record(trajectory).seconds
    if taken is None:
        return {"unscored": "no-time: nobody measured how long the agent took"}
    return _verdict(taken <= limit, f"too-slow: it took {taken:.4g} s, and {limit:g} s were allowed")


@reward(binary=True, range=_RANGE, parts=())
def max_tool_calls(trajectory: Any, *, calls: int) -> dict[str, Any]:
    """1 if at most so many tool calls were executed, else 0.

    >>> max_tool_calls([{"role": "tool", "name": "search", "content": "..."}], calls=0)["reward"]
    0.0
    """
    limit, record = _number(calls, "calls"), _record(trajectory)
    used = len(record.tools_used)
    # Too many are too many, whatever else is missing from the record.
    if used <= limit and (record.tool_calls is None or not record.complete):
        return _UNKNOWN_TOOLS
    return _verdict(used <= limit, f"too-many-calls: {used} tool calls, and {limit:g} were allowed")


@reward(binary=True, range=_RANGE, parts=())
def max_turns(trajectory: Any, *, turns: int) -> dict[str, Any]:
    """1 if the agent's models wrote at most so many messages, else 0.

    >>> max_turns([{"role": "assistant", "content": "Hello."}], turns=1)["reward"]
    1.0
    """
    limit, record = _number(turns, "turns"), _record(trajectory)
    written = sum(message.role == "assistant" for message in record.messages)
    if written <= limit and (not record.messages or not record.complete or "answer" in record.unknown):
        return {"unscored": "incomplete-trace: the record cannot show how many messages there were"}
    return _verdict(written <= limit, f"too-many-turns: {written} messages, and {limit:g} were allowed")


@reward(binary=True, range=_RANGE, parts=())
def tools_requested(trajectory: Any, *, tools: Sequence[str]) -> dict[str, Any]:
    """1 if the agent asked for every one of these tools, whether or not they ran, else 0.

    >>> tools_requested([{"role": "assistant", "content": "Hello."}], tools=["search"])["reason"]
    "missing: the agent did not ask for 'search'"
    """
    wanted, record = _texts(tools, "tools"), _record(trajectory)
    asked = set(record.tools_requested)
    missing = [name for name in dict.fromkeys(wanted) if name not in asked]
    # Where replies were not recorded, neither was what they asked for.
    if missing and (record.tool_calls is None or not record.complete or "answer" in record.unknown):
        return _UNKNOWN_TOOLS
    return _verdict(not missing, f"missing: the agent did not ask for {_quoted(missing)}")


@reward(range=_RANGE, parts=("precision", "recall"))
def tools_f1(trajectory: Any, *, tools: Sequence[str]) -> dict[str, Any]:
    """F1 of the tools that were executed against those that are expected, both counted as often as they occur.

    >>> tools_f1([{"role": "tool", "name": "search", "content": "..."}], tools=["search", "fetch"])["recall"]
    0.5
    """
    wanted, record = Counter(_texts(tools, "tools")), _record(trajectory)
    if record.tool_calls is None or not record.complete:
        return {**_UNKNOWN_TOOLS, "precision": None, "recall": None}
    used = Counter(record.tools_used)
    if not used and not wanted:
        return {"reward": 1.0, "precision": 1.0, "recall": 1.0}
    common = (used & wanted).total()
    precision, recall = (common / max(1, side.total()) for side in (used, wanted))
    return {"reward": 2 * common / (used.total() + wanted.total()), "precision": precision, "recall": recall}


_UNKNOWN_TOOLS = {"unscored": "incomplete-trace: the record cannot show which tools were called"}


def _verdict(passed: bool, reason: str | None) -> dict[str, Any]:
    return {"reward": 1.0} if passed else {"reward": 0.0, "reason": reason}


def _folded(text: str, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _texts(texts: object, name: str = "texts") -> Sequence[str]:
    found = (texts,) if isinstance(texts, str) else plain(texts)
    if not isinstance(found, Sequence) or not found or not all(isinstance(text, str) and text for text in found):
        raise ArgumentError(f"{name} must be a list of texts, none of them empty, got {texts!r}", code="bad-option")
    return found


def _found(final_response: object, texts: object, *, ignore_case: bool) -> dict[str, bool]:
    """Return for each text whether it is in the response."""
    whole = _folded(text_of(final_response, "final_response"), ignore_case)
    return {text: _folded(text, ignore_case) in whole for text in _texts(texts)}


def _quoted(texts: "Sequence[str] | Mapping[str, Any]") -> str:
    shown: Callable[[str], str] = lambda text: repr(text if len(text) <= 80 else f"{text[:77]}...")  # noqa: E731
    return ", ".join(map(shown, texts))


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ArgumentError(f"{name} must be a number from 0, got {value!r}", code="bad-option")
    return value


def _record(trajectory: object) -> Trajectory:
    return trajectory if isinstance(trajectory, Trajectory) else Trajectory.from_messages(plain(trajectory))


def _json(final_response: object) -> tuple[Any, str | None]:
    """Return what a response says as JSON, or what is wrong with it."""
    text = text_of(final_response, "final_response")
    if len(text) > _LARGEST:
        return None, f"too-large: the response has {len(text):,} characters"
    fenced = _FENCE.fullmatch(text)
    try:
        return json.loads(fenced[1] if fenced else text, parse_constant=_no_constant), None
    except (ValueError, RecursionError) as error:
        return None, f"not-json: {error}"


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
