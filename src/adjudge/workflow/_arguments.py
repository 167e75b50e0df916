"""With which arguments a tool was called, compared with a rule.

ArgumentRule(exact={"query": "Spider", "k": 3})          these arguments and no others
ArgumentRule(subset={"query": "Spider"})                 these among others, mappings inside likewise
ArgumentRule(regex={"query": r"(?i)text.to.sql"})        patterns, looked for anywhere in the argument's text
ArgumentRule(predicate=lambda arguments: arguments["k"] <= 5)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from adjudge.errors import Caught, RowError, UsageError, closest
from adjudge.model import ToolCall, decode_json
from adjudge.processes import LONGEST_TEXT, PatternSearch, check_pattern, search_patterns

LARGEST = 1 << 20  # characters of one call's arguments

Calls: TypeAlias = Literal["some", "every"]
"""How many of a tool's calls must fit: at least one, or each."""

Predicate: TypeAlias = Callable[[Mapping[str, Any]], object]
"""A function of a call's arguments; true means that they fit."""


@dataclass(frozen=True, slots=True)
class ArgumentRule:
    """What a tool should be called with; all that is given must hold for one and the same call.

    With `calls="some"` (the default) at least one executed call fits, with `"every"` each of them, and none is fine.
    Arguments that are not a JSON object fit nothing. Numbers are equal by value, but `true` is not 1.
    """

    exact: Mapping[str, Any] | None = None
    subset: Mapping[str, Any] | None = None
    regex: Mapping[str, str] | None = None
    predicate: Predicate | None = None
    calls: Calls = "some"

    def __post_init__(self) -> None:
        if all(one is None for one in (self.exact, self.subset, self.regex, self.predicate)):
            raise UsageError("an argument rule needs exact, subset, regex or predicate", code="bad-expectation")
        for name in ("exact", "subset", "regex"):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, Mapping) and all(isinstance(key, str) for key in given)):
                raise UsageError(f"{name} must be a mapping of argument names, got {given!r}", code="bad-expectation")
        if self.predicate is not None and not callable(self.predicate):
            raise UsageError(f"predicate must be a function, got {self.predicate!r}", code="bad-expectation")
        if self.calls not in ("some", "every"):
            raise UsageError(f"calls must be 'some' or 'every', got {self.calls!r}", code="bad-expectation")
        for name, pattern in (self.regex or {}).items():
            check_pattern(pattern, f"the pattern of {name!r}", code="bad-expectation")

    @classmethod
    def of(cls, rule: object) -> "ArgumentRule":
        """Return a rule that is given as such, or as a mapping of its fields."""
        if isinstance(rule, cls):
            return rule
        if not isinstance(rule, Mapping):
            message = f"an argument rule is a mapping with exact, subset or regex, got {type(rule).__name__}"
            raise UsageError(message, code="bad-expectation")
        for key in rule:
            if key not in cls.__slots__:
                hint = closest(str(key), cls.__slots__)
                raise UsageError(f"an argument rule has no {key!r}{hint}", code="unknown-key")
        return cls(**rule)

    @property
    def words(self) -> str:
        """The rule in words."""
        # An empty `subset` or `regex` asks for nothing; an empty `exact` asks for no arguments.
        said = [f"{name} {getattr(self, name)!r}" for name in ("exact", "subset", "regex") if getattr(self, name)]
        if self.exact is not None and not self.exact:
            said.append("no arguments")
        if self.predicate is not None:
            said.append(f"predicate {getattr(self.predicate, '__name__', 'given')}")
        return " and ".join(said) or "any arguments"


def misfits(rule: ArgumentRule, calls: Sequence[ToolCall]) -> list[str | None]:
    """Return for each call why it does not fit the rule; None where it does."""
    # Patterns are collected over all calls and looked for in one job: each job waits for a worker process.
    found: list[str | None] = []
    wanted: list[PatternSearch] = []
    owners: list[tuple[int, str]] = []
    for index, call in enumerate(calls):
        arguments, reason = _read(call)
        if arguments is not None:
            reason = _plain_misfit(rule, arguments)
        # A call that does not fit anyway is not worth a search.
        if arguments is not None and reason is None:
            texts = {name: _text(arguments, name) for name in rule.regex or ()}
            for name, text in texts.items():
                if reason is None and text is None:
                    reason = f"it has no argument {name!r}"
                elif reason is None and text is not None and len(text) > LONGEST_TEXT:
                    reason = f"{name} has {len(text)} characters"
            if reason is None:
                wanted += [PatternSearch((rule.regex or {})[name], text or "") for name, text in texts.items()]
                owners += [(index, name) for name in texts]
        found.append(reason)
    for (index, name), hit in zip(owners, search_patterns(wanted), strict=True):
        if hit is not True and found[index] is None:
            found[index] = f"{name} does not match" if hit is False else f"{name} could not be matched in time"
    return found


def _read(call: ToolCall) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return a call's arguments, or why they cannot be read."""
    given = call.arguments
    if isinstance(given, Mapping):
        return given, None
    if not given.strip():
        return {}, None
    if len(given) > LARGEST:
        return None, f"its arguments have {len(given)} characters"
    try:
        arguments = decode_json(given)
    except RowError:
        return None, "its arguments are not JSON"
    return (arguments, None) if isinstance(arguments, Mapping) else (None, "its arguments are not a JSON object")


def _plain_misfit(rule: ArgumentRule, arguments: Mapping[str, Any]) -> str | None:
    if rule.exact is not None and not equal(arguments, rule.exact):
        return "its arguments differ"
    for name, value in (rule.subset or {}).items():
        if name not in arguments:
            return f"it has no argument {name!r}"
        if not contains(arguments[name], value):
            return f"{name} differs"
    if rule.predicate is not None:
        with Caught() as caught:
            fits = bool(rule.predicate(arguments))
        if caught.reason is not None:
            # Arguments that a user's function did not expect are the agent's fault, so this is a misfit, not an error.
            return f"the predicate {caught.reason}"
        return None if fits else "the predicate returned false"
    return None


def _text(arguments: Mapping[str, Any], name: str) -> str | None:
    """Return an argument as the text that a pattern is looked for in; None where there is none."""
    # As JSON writes it, so that a pattern for `true` or `3` does what its author expects.
    value = arguments.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    import json

    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None


def equal(one: object, other: object) -> bool:
    """Say whether two JSON values are equal: numbers by value, a truth value never equal to a number."""
    # In Python `True == 1`; in JSON they are different values.
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return one == other


def contains(value: object, part: object) -> bool:
    """Say whether a value has a part: mappings by their members, everything else by equality."""
    if isinstance(value, Mapping) and isinstance(part, Mapping):
        return all(key in value and contains(value[key], inner) for key, inner in part.items())
    return equal(value, part)
