"""One scenario: what is asked, and what should come of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, NamedTuple

from adjudge.errors import RowError, UsageError, closest
from adjudge.model import to_json
from adjudge.rewards import Scorer, get_scorer
from adjudge.workflow import WorkflowExpectation

SHARED = (
    *("agents_should_include", "agents_should_exclude", "tools_should_include", "tools_should_exclude"),
    *("expected_answer_criteria", "clarification_expected"),
)
"""What may be given of the scenario itself or of its workflow; it then stands in both."""

MOST_REPEATS = 10_000
LONGEST_ID = 200
_WORKFLOW = tuple(each.name for each in fields(WorkflowExpectation))
_OWN_COLUMNS = frozenset(
    {
        *("id", "question", "turns", "criteria", "references", "answer", "group_id", "repeat", "scenario", "tags"),
        *("messages", "image", "workflow", "conversation_id", "turn"),
        *("final_response", "prediction", "response", "trajectory", "context"),
    }
)


class ScorerUse(NamedTuple):
    """A scorer of a scenario: its name, or a function, and the arguments that it gets there."""

    scorer: Any
    arguments: Mapping[str, Any] = {}

    def made(self) -> Scorer:
        """Return the scorer with its arguments."""
        return get_scorer(self.scorer, **self.arguments)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A question, or the several turns of one user, with the workflow and the answer that are expected.

    The expectations are given here or in `workflow`, which has more of them (policies, order, counts, arguments). For
    several turns they are meant of the whole conversation; the quality is that of the last reply. `scorers` are names
    of rewards, mappings with `name` and `arguments`, or functions; `references` are the accepted answers for those
    that want some, and the entries of `metadata` are columns for them too. `repeats` says how often the scenario is
    run, `deadline` how many seconds the agent has each time.

    >>> Scenario("capital", "Capital of France?", tools_should_include=["search"]).workflow.tools_should_include
    ('search',)
    """

    id: str
    question: str = ""
    turns: Sequence[str] = ()
    description: str = ""
    agents_should_include: Sequence[str] | None = None
    agents_should_exclude: Sequence[str] | None = None
    tools_should_include: Sequence[str] | None = None
    tools_should_exclude: Sequence[str] | None = None
    expected_answer_criteria: str | None = None
    clarification_expected: bool | None = None
    workflow: WorkflowExpectation = field(default_factory=WorkflowExpectation)
    references: Sequence[str] = ()
    tags: Sequence[str] = ()
    repeats: int = 1
    scorers: Sequence[Any] = ()
    deadline: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_id(self.id)
        for name in ("question", "description"):
            _check_text(name, getattr(self, name))
        self._set("turns", self._turns())
        self._set("question", self.turns[0])
        self._set("workflow", self._merged())
        for name in SHARED:
            self._set(name, getattr(self.workflow, name))
        for name in ("references", "tags"):
            given = getattr(self, name)
            self._set(name, _texts(name, [given] if isinstance(given, str) else given))
        self._set("scorers", tuple(_use(one) for one in _listed("scorers", self.scorers)))
        self._check_numbers()
        _check_metadata(self.metadata)
        _refuse_contradictions(self.workflow)
        self._check_kept()

    @classmethod
    def of(cls, given: object) -> "Scenario":
        """Return a scenario that is given as such or as a mapping; a key that nobody knows raises `UsageError`."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise _bad(f"a scenario is a mapping, got {type(given).__name__}")
        known = tuple(each.name for each in fields(cls))
        for key in given:
            if key not in known:
                where = f"; {key!r} belongs under workflow" if key in _WORKFLOW else closest(str(key), known)
                raise UsageError(f"a scenario has no {key!r}{where}", code="unknown-key")
        if "id" not in given:
            raise _bad("the scenario has no id")
        return cls(**given)

    def plain(self) -> dict[str, Any]:
        """Return the scenario as JSON has it: functions by their names."""
        found = {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name not in SHARED}
        found["workflow"] = {name: _plain(getattr(self.workflow, name)) for name in _WORKFLOW}
        return found

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _turns(self) -> tuple[str, ...]:
        turns = _texts("turns", self.turns)
        if self.question and turns and self.question != turns[0]:
            raise _bad("give question, or turns, whose first one is the question")
        turns = turns or (self.question,)
        if not all(turn.strip() for turn in turns):
            raise _bad("the scenario has no question")
        return turns

    def _merged(self) -> WorkflowExpectation:
        """Return the workflow with what is given of the scenario itself."""
        inner: Any = self.workflow
        own = {name: getattr(self, name) for name in SHARED if getattr(self, name) is not None}
        if isinstance(inner, Mapping):
            for key in inner:
                if key not in _WORKFLOW:
                    raise UsageError(f"workflow has no {key!r}{closest(str(key), _WORKFLOW)}", code="unknown-key")
            _refuse_twice(own, inner)
            return WorkflowExpectation(**{**inner, **own})
        if not isinstance(inner, WorkflowExpectation):
            raise _bad(f"workflow must be a mapping or a WorkflowExpectation, got {type(inner).__name__}")
        _refuse_twice(own, {name: getattr(inner, name) for name in SHARED})
        return replace(inner, **own)

    def _check_kept(self) -> None:
        """Refuse what a run file could not hold: a number that is none."""
        try:
            to_json(self.plain())
        except RowError as error:
            raise _bad(error.message.removeprefix("$.")) from None

    def _check_numbers(self) -> None:
        repeats: Any = self.repeats
        deadline: Any = self.deadline
        if not isinstance(repeats, int) or isinstance(repeats, bool) or not 1 <= repeats <= MOST_REPEATS:
            raise _bad(f"repeats must be a whole number from 1 to {MOST_REPEATS}, got {repeats!r}")
        if deadline is None:
            return
        if not isinstance(deadline, int | float) or isinstance(deadline, bool) or not 0 < deadline < float("inf"):
            raise _bad(f"deadline must be a number of seconds, got {deadline!r}")


def _bad(message: str) -> UsageError:
    return UsageError(message, code="bad-scenario")


def _check_id(given: object) -> None:
    if not isinstance(given, str) or not given.strip():
        hint = ": put it in quotes" if isinstance(given, int | float) else ""
        raise _bad(f"id must be text, got {given!r}{hint}")
    if len(given) > LONGEST_ID or any(_is_control(one) for one in given):
        raise _bad(f"id must have at most {LONGEST_ID} characters and no control characters, got {given[:40]!a}")


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\udfff"


def _check_text(name: str, given: object) -> None:
    if not isinstance(given, str):
        raise _bad(f"{name} must be text, got {given!r}")


def _listed(name: str, given: object) -> Sequence[Any]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise _bad(f"{name} must be a list, got {given!r}")
    return given


def _texts(name: str, given: object) -> tuple[str, ...]:
    texts = _listed(name, given)
    for text in texts:
        _check_text(f"every one of {name}", text)
    return tuple(texts)


def _use(given: Any) -> ScorerUse:
    """Read a scorer as a scenario names it."""
    if isinstance(given, ScorerUse):
        return given
    if isinstance(given, Mapping):
        for key in given:
            if key not in ("name", "arguments"):
                raise UsageError(f"a scorer has name and arguments, not {key!r}", code="unknown-key")
        name, arguments = given.get("name"), given.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            raise _bad(f"a scorer has a name and a mapping of arguments, got {dict(given)!r}")
        return ScorerUse(name, dict(arguments))
    if hasattr(given, "ajudge"):
        return ScorerUse(get_scorer(given))
    if isinstance(given, str | Scorer) or callable(given):
        return ScorerUse(given)
    raise _bad(f"a scorer is a name, a mapping, a function or a judge, got {given!r}")


def _check_metadata(metadata: object) -> None:
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise _bad(f"metadata must be a mapping of names, got {metadata!r}")
    taken = sorted(_OWN_COLUMNS & set(metadata))
    if taken:
        raise _bad(f"metadata cannot have {taken[0]!r}: the scenario has one of its own")


def _refuse_twice(own: Mapping[str, Any], inner: Mapping[str, Any]) -> None:
    for name, value in own.items():
        other = inner.get(name)
        both = [tuple(one) if isinstance(one, list) else one for one in (value, other)]
        if other is not None and both[0] != both[1]:
            raise _bad(f"{name} stands in the scenario and in its workflow, and they differ")


def _refuse_contradictions(workflow: WorkflowExpectation) -> None:
    """Refuse what can never pass."""
    for kind in ("agents", "tools"):
        include, exclude = getattr(workflow, f"{kind}_should_include"), getattr(workflow, f"{kind}_should_exclude")
        both = [name for name in include or () if name in (exclude or ())]
        if both:
            raise _bad(f"{kind[:-1]} {both[0]!r} is to be included and excluded: that can never pass")
    expected = workflow.clarification_expected
    against = workflow.agents_should_exclude if expected else workflow.agents_should_include
    both = [name for name in workflow.clarification_agents if name in (against or ())]
    if expected is not None and both:
        word = "excluded" if expected else "included"
        raise _bad(f"clarification_expected is {str(expected).lower()} and {both[0]!r} is {word}: that can never pass")


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what JSON does not have is named."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, ScorerUse):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type | Scorer):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return _name_of(value)


def _name_of(thing: Any) -> str:
    if isinstance(thing, Scorer):
        return thing.name
    name = getattr(thing, "__qualname__", None)
    return str(thing) if name is None else f"{thing.__module__}:{name}"
