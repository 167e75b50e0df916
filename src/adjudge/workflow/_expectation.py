"""What a run should call, as it is written down: names, policies, order, counts, arguments."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, cast, get_args

from adjudge.errors import UsageError, closest
from adjudge.workflow._arguments import ArgumentRule

Policy: TypeAlias = Literal["fail", "warn", "ignore"]
"""What happens to a call that is in neither list."""

Order: TypeAlias = Literal["strict", "in_order", "any_order", "subset", "superset"]
"""How the calls must relate to the expected ones."""

Count: TypeAlias = tuple[int, int | None]
"""How often a name is called, at least and at most; None: any number."""

Dimension: TypeAlias = Literal["agents", "tools"]

DIMENSIONS: tuple[Dimension, ...] = ("agents", "tools")
GAP = "..."  # in a forbidden sequence: any calls, or none


@dataclass(frozen=True, slots=True)
class WorkflowExpectation:
    """The agents and tools that a run should call.

    A list that is None is not checked; an empty `should_include` means that nothing else may be called. The agents in
    `always_expected` are fine wherever they are not excluded. `unlisted` says what happens to names in neither list:
    one policy, or one each for `agents` and `tools`.

    `agents_order` and `tools_order`: `strict` (the expected calls and no others, in that order), `in_order` (in that
    order, others between), `any_order` (the default), `subset` (nothing but expected ones, not all of them needed),
    `superset` (all of them, others too). `agents_count` and `tools_count` say how often: a number, or `min` and `max`.
    `agents_forbidden` and `tools_forbidden` are sequences of calls that must not occur, one directly after the other,
    or with anything at a "...". `tools_arguments` compares the calls of a tool with an `ArgumentRule`, or several.

    `clarification_expected` says whether the user should be asked to clarify, by one of `clarification_agents` or, if
    the lists name none of these, in the reply. `expected_answer_criteria` are kept for whoever judges the answer.
    """

    agents_should_include: Sequence[str] | None = None
    agents_should_exclude: Sequence[str] | None = None
    tools_should_include: Sequence[str] | None = None
    tools_should_exclude: Sequence[str] | None = None
    expected_answer_criteria: str | None = None
    clarification_expected: bool | None = None
    always_expected: Sequence[str] = ("orchestrator",)
    unlisted: Policy | Mapping[str, Policy] = "fail"
    agents_order: Order = "any_order"
    tools_order: Order = "any_order"
    agents_count: Mapping[str, Any] | None = None
    tools_count: Mapping[str, Any] | None = None
    agents_forbidden: Sequence[Sequence[str]] = ()
    tools_forbidden: Sequence[Sequence[str]] = ()
    tools_arguments: Mapping[str, Any] | None = None
    clarification_agents: Sequence[str] = ("clarification",)

    def __post_init__(self) -> None:
        # A default is in its normal form already.
        for name, read in _READERS.items():
            given = getattr(self, name)
            if given is not FIELDS[name]:
                object.__setattr__(self, name, read(given, name))
        for dimension in DIMENSIONS:
            order = getattr(self, f"{dimension}_order")
            if order not in get_args(Order):
                hint = closest(str(order), get_args(Order))
                raise _bad(f"{dimension}_order must be one of {', '.join(get_args(Order))}, got {order!r}{hint}")
            if order != "any_order" and getattr(self, f"{dimension}_should_include") is None:
                raise _bad(f"{dimension}_order {order!r} needs {dimension}_should_include to be given")
        # These two have a normal form that is not their default: hashes of scenarios are made from it.
        object.__setattr__(self, "unlisted", _policies(self.unlisted))
        if self.tools_arguments != {}:
            arguments = {} if self.tools_arguments is None else _arguments(self.tools_arguments)
            object.__setattr__(self, "tools_arguments", arguments)
        if self.clarification_expected is not None and not isinstance(self.clarification_expected, bool):
            raise _bad(f"clarification_expected must be true or false, got {self.clarification_expected!r}")
        if self.expected_answer_criteria is not None and not isinstance(self.expected_answer_criteria, str):
            raise _bad(f"expected_answer_criteria must be text, got {self.expected_answer_criteria!r}")

    @classmethod
    def of(cls, given: object) -> "WorkflowExpectation":
        """Return an expectation that is given as such, as a mapping, or as an object that has its fields.

        A mapping or an object may be more than an expectation (a whole scenario, say); a key that is nearly the name
        of a field is taken for a misspelling.

        >>> WorkflowExpectation.of({"id": "s1", "tools_should_include": ["search"]}).tools_should_include
        ('search',)
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, Mapping):
            return cls(**_own_fields(given))
        # An object that has an expectation, as a scenario does, or one that has the fields itself.
        inner = getattr(given, "workflow", None)
        if isinstance(inner, cls):
            return inner
        found = {name: getattr(given, name) for name in FIELDS if hasattr(given, name)}
        if not found:
            raise _bad(f"an expectation must have fields such as tools_should_include; got {type(given).__name__}")
        return cls(**found)

    def policy(self, dimension: Dimension) -> Policy:
        """Return what happens to calls that are in neither list."""
        return self.unlisted[dimension] if isinstance(self.unlisted, Mapping) else self.unlisted


FIELDS: Mapping[str, object] = {field.name: field.default for field in fields(WorkflowExpectation)}


def names_of(given: object, where: str) -> tuple[str, ...]:
    """Return a list of names, as it was written; anything else raises `UsageError`."""
    if isinstance(given, str) or not isinstance(given, Sequence | set | frozenset):
        raise _bad(f"{where} must be a list of names, got {given!r}")
    # A set has no order of its own, and findings must not depend on its hash.
    listed = sorted(given) if isinstance(given, set | frozenset) else list(given)
    for name in listed:
        if not isinstance(name, str) or not name:
            raise _bad(f"{where}: a name is text, got {name!r}")
    return tuple(listed)


def _own_fields(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fields of an expectation that a mapping has, and those under its `workflow`."""
    inner = given.get("workflow")
    # A scenario may have the fields at the top and under `workflow`; those at the top count.
    nested = _own_fields(inner) if isinstance(inner, Mapping) else {}
    for key in given:
        if key not in FIELDS and (hint := closest(str(key), FIELDS)):
            raise UsageError(f"an expectation has no {key!r}{hint}", code="unknown-key")
    return {**nested, **{name: given[name] for name in FIELDS if given.get(name) is not None}}


def _policies(given: object) -> Mapping[str, Policy]:
    """Return one policy a dimension."""
    stated = given if isinstance(given, Mapping) else dict.fromkeys(DIMENSIONS, given)
    for key, policy in stated.items():
        if key not in DIMENSIONS:
            raise UsageError(f"unlisted has no {key!r}{closest(str(key), DIMENSIONS)}", code="unknown-key")
        if policy not in get_args(Policy):
            raise _bad(f"unlisted is fail, warn or ignore, got {policy!r}{closest(str(policy), get_args(Policy))}")
    return {dimension: cast("Policy", stated.get(dimension, "fail")) for dimension in DIMENSIONS}


def _counts(given: object, where: str) -> Mapping[str, Count]:
    if not isinstance(given, Mapping):
        raise _bad(f"{where} must be a mapping of names, got {given!r}")
    return {name: _count(count, f"{where}: {name!r}") for name, count in given.items()}


def _count(given: object, where: str) -> Count:
    if isinstance(given, Mapping):
        for key in given:
            if key not in ("min", "max"):
                raise UsageError(f"{where}: a count has min and max, not {key!r}", code="unknown-key")
        least, most = given.get("min", 0), given.get("max")
    elif isinstance(given, Sequence) and len(given) == 2:
        least, most = given
    else:
        least, most = given, given
    for number in (least, 0 if most is None else most):
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise _bad(f"{where}: a count must be a whole number, or min and max, got {given!r}")
    if most is not None and most < least:
        raise _bad(f"{where}: at least {least} and at most {most} cannot both hold")
    return least, most


def _sequences(given: object, where: str) -> tuple[tuple[str, ...], ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise _bad(f"{where} must be a list of sequences of names, got {given!r}")
    found = tuple(names_of(sequence, where) for sequence in given)
    for sequence in found:
        if not sequence or sequence[0] == GAP or sequence[-1] == GAP:
            raise _bad(f"{where}: a sequence begins and ends with a name, got {list(sequence)!r}")
    return found


def _arguments(given: object) -> Mapping[str, tuple[ArgumentRule, ...]]:
    if not isinstance(given, Mapping):
        raise _bad(f"tools_arguments must be a mapping of tools, got {given!r}")
    found: dict[str, tuple[ArgumentRule, ...]] = {}
    for tool, rules in given.items():
        several = rules if isinstance(rules, list | tuple) else (rules,)
        try:
            found[tool] = tuple(ArgumentRule.of(rule) for rule in several)
        except UsageError as error:
            raise UsageError(f"tools_arguments: {tool!r}: {error.message}", code=error.code) from None
    return found


def _bad(message: str) -> UsageError:
    return UsageError(message, code="bad-expectation")


_READERS: Mapping[str, Callable[[object, str], object]] = {
    **{f"{dimension}_should_{verb}": names_of for dimension in DIMENSIONS for verb in ("include", "exclude")},
    **{f"{dimension}_count": _counts for dimension in DIMENSIONS},
    **{f"{dimension}_forbidden": _sequences for dimension in DIMENSIONS},
    "always_expected": names_of,
    "clarification_agents": names_of,
}
