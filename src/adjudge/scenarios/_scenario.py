"""One scenario: what is asked, and what should come of it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, NamedTuple

from adjudge.errors import RowError, UsageError, closest
from adjudge.model import to_json
from adjudge.rewards import Scorer, get_scorer
from adjudge.traces import AgentNames, read_agent_names
from adjudge.workflow import WorkflowExpectation

SHARED = (
    *("agents_should_include", "agents_should_exclude", "tools_should_include", "tools_should_exclude"),
    *("expected_answer_criteria", "clarification_expected"),
)
"""What may be given in the scenario itself or in its workflow; both then have it."""

MEANT = {
    **dict.fromkeys(("tools", "tool_used", "tools_used", "tools_called", "expected_tools"), "tools_should_include"),
    **dict.fromkeys(("agent", "agents_called", "agents_used", "expected_agents"), "agents_should_include"),
    **dict.fromkeys(("query", "input", "prompt", "message"), "question"),
    **dict.fromkeys(("answer", "expected", "expected_answer", "expected_output", "ground_truth"), "references"),
    **dict.fromkeys(("criteria", "rubric"), "expected_answer_criteria"),
    "name": "id",
    "timeout": "deadline",
    "n": "repeats",
    "label": "tags",
    "assert": "scorers",
}
"""What other tools call the keys of a scenario, where no likeness of the names shows what was meant."""

MOST_REPEATS = 10_000
LONGEST_ID = 200
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")
_WORKFLOW = tuple(each.name for each in fields(WorkflowExpectation))
_OWN_COLUMNS = frozenset(
    {
        *("id", "question", "turns", "criteria", "references", "answer", "group_id", "repeat", "scenario", "tags"),
        *("messages", "image", "workflow", "conversation_id", "turn"),
        *("final_response", "prediction", "response", "trajectory", "context"),
    }
)


class ScorerUse(NamedTuple):
    """A scorer of a scenario: its name, or a function, its arguments there, and the value from which on it passes.

    Without a threshold a scorer that is declared `binary`, and a judge, pass with 1; any other decides nothing.
    """

    scorer: Any
    arguments: Mapping[str, Any] = {}
    threshold: float | None = None

    def make(self) -> Scorer:
        """Return the scorer with its arguments."""
        return get_scorer(self.scorer, **self.arguments)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A question, or the several turns of one user, with the workflow and the answer that are expected.

    The expectations are given here or in `workflow`, which has more of them (policies, order, counts, arguments). For
    several turns they apply to the whole conversation; the quality is that of the last reply. `scorers` are names of
    rewards, mappings with `name` and `arguments`, or functions; `references` are the accepted answers for scorers that
    need some, and the entries of `metadata` are columns for them too. `repeats` says how often the scenario is run,
    `deadline` how many seconds the agent has each time. `agents` gives names to agents that a record cannot name:
    `{"call_model": "research", "team": None}`.

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
    agents: AgentNames = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_values()
        lists: dict[str, tuple[str, ...]] = {}
        for name in ("turns", "references", "tags"):
            texts: Any = getattr(self, name)
            if isinstance(texts, str) and name != "turns":
                # A single reference or tag is a list of one; a single turn would be the question.
                texts = (texts,)
            if isinstance(texts, str) or not isinstance(texts, Sequence):
                raise _bad(f"{name} must be a list, got {texts!r}")
            for text in texts:
                if not isinstance(text, str):
                    raise _bad(f"every item of {name} must be text, got {text!r}")
            lists[name] = tuple(texts)
        turns = lists["turns"] or (self.question,)
        if self.question and self.question != turns[0]:
            raise _bad("give question, or turns, whose first one is the question")
        if not all(map(str.strip, turns)):
            raise _bad("the scenario has no question")

        workflow = self._merge_workflow()
        shared = {name: getattr(workflow, name) for name in SHARED}
        scorers = tuple(map(_use, self.scorers))
        # The fields are replaced by what was read from them: tuples for lists, and the shared expectations in both
        # places.
        values = {**lists, **shared, "turns": turns, "question": turns[0], "workflow": workflow, "scorers": scorers}
        if self.agents:
            values["agents"] = read_agent_names(self.agents)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        try:
            # A run file must be able to hold it: no NaN, no infinity.
            to_json(self.plain())
        except RowError as error:
            raise _bad(error.message.removeprefix("$.")) from None

    def _check_values(self) -> None:
        """Refuse values of another kind; lists of texts and the workflow are checked where they are read."""
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        name, repeats, deadline, metadata = (values[key] for key in ("id", "repeats", "deadline", "metadata"))
        if not isinstance(name, str) or not name.strip():
            # YAML reads an id such as 007 as a number, which would lose its zeros.
            hint = ": put it in quotes" if isinstance(name, int | float) else ""
            raise _bad(f"id must be text, got {name!r}{hint}")
        if len(name) > LONGEST_ID or _CONTROL.search(name):
            raise _bad(f"id must have at most {LONGEST_ID} characters and no control characters, got {name[:40]!a}")
        for key in ("question", "description"):
            if not isinstance(values[key], str):
                raise _bad(f"{key} must be text, got {values[key]!r}")
        if isinstance(values["scorers"], str) or not isinstance(values["scorers"], Sequence):
            raise _bad(f"scorers must be a list, got {values['scorers']!r}")
        if not isinstance(repeats, int) or isinstance(repeats, bool) or not 1 <= repeats <= MOST_REPEATS:
            raise _bad(f"repeats must be a whole number from 1 to {MOST_REPEATS}, got {repeats!r}")
        is_number = isinstance(deadline, int | float) and not isinstance(deadline, bool)
        if deadline is not None and not (is_number and 0 < deadline < float("inf")):
            raise _bad(f"deadline must be a number of seconds, got {deadline!r}")
        if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
            raise _bad(f"metadata must be a mapping of names, got {metadata!r}")
        # Metadata become columns beside the scenario's own: one of the same name would replace what is asked.
        taken = sorted(_OWN_COLUMNS & set(metadata))
        if taken:
            raise _bad(f"metadata cannot have {taken[0]!r}: the scenario has one of its own")

    @classmethod
    def of(cls, given: object) -> "Scenario":
        """Return a scenario that is given as such or as a mapping; an unknown key raises `UsageError`."""
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise _bad(f"a scenario must be a mapping, got {type(given).__name__}")
        known = tuple(each.name for each in fields(cls))
        for key in given:
            if key not in known:
                # A key of the workflow one level too high is the most common slip.
                meant = MEANT.get(str(key))
                where = closest(str(key), known) if meant is None else f"; did you mean {meant!r}?"
                where = f"; {key!r} belongs under workflow" if key in _WORKFLOW else where
                raise UsageError(f"a scenario has no {key!r}{where}", code="unknown-key")
        if "id" not in given:
            raise _bad("the scenario has no id")
        return cls(**given)

    def plain(self) -> dict[str, Any]:
        """Return the scenario as JSON has it: functions by their names."""
        found = {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name not in SHARED}
        found["workflow"] = {name: _plain(getattr(self.workflow, name)) for name in _WORKFLOW}
        if not self.agents:
            # Run files keep a digest of the scenario, which is as it was before agents could be given names.
            del found["agents"]
        return found

    def _merge_workflow(self) -> WorkflowExpectation:
        """Return the workflow with the expectations of the scenario itself; refuse what can never pass."""
        inner: Any = self.workflow
        if isinstance(inner, Mapping):
            for key in inner:
                if key not in _WORKFLOW:
                    raise UsageError(f"workflow has no {key!r}{closest(str(key), _WORKFLOW)}", code="unknown-key")
        elif not isinstance(inner, WorkflowExpectation):
            raise _bad(f"workflow must be a mapping or a WorkflowExpectation, got {type(inner).__name__}")
        own = {name: getattr(self, name) for name in SHARED if getattr(self, name) is not None}
        for name, value in own.items():
            other = inner.get(name) if isinstance(inner, Mapping) else getattr(inner, name)
            # Files have lists where objects have tuples: that is not a difference.
            same = [tuple(one) if isinstance(one, list) else one for one in (value, other)]
            if other is not None and same[0] != same[1]:
                raise _bad(f"{name} is given in the scenario and in its workflow, and they differ")
        workflow = WorkflowExpectation(**{**inner, **own}) if isinstance(inner, Mapping) else replace(inner, **own)

        for kind in ("agents", "tools"):
            include, exclude = getattr(workflow, f"{kind}_should_include"), getattr(workflow, f"{kind}_should_exclude")
            twice = [name for name, count in Counter(include or ()).items() if count > 1]
            if twice:
                raise _bad(f"{kind[:-1]} {twice[0]!r} is listed twice: say how often it is called with {kind}_count")
            both = [name for name in include or () if name in (exclude or ())]
            if both:
                raise _bad(f"{kind[:-1]} {both[0]!r} is both included and excluded: that can never pass")
        # A clarification is asked by an agent, so expecting one and excluding all who ask is a contradiction, too.
        expected = workflow.clarification_expected
        against = workflow.agents_should_exclude if expected else workflow.agents_should_include
        both = [name for name in workflow.clarification_agents if name in (against or ())]
        if expected is not None and both:
            word, stated = ("excluded", "true") if expected else ("included", "false")
            raise _bad(f"clarification_expected is {stated} and {both[0]!r} is {word}: that can never pass")
        return workflow


def _bad(message: str) -> UsageError:
    return UsageError(message, code="bad-scenario")


def _use(given: Any) -> ScorerUse:
    """Read a scorer as a scenario names it."""
    if isinstance(given, ScorerUse):
        return given
    if isinstance(given, Mapping):
        for key in given:
            if key not in ScorerUse._fields[1:] and key != "name":
                meant = {"scorer": "name", "args": "arguments", "min": "threshold"}.get(key)
                hint = closest(str(key), ScorerUse._fields[1:]) if meant is None else f"; did you mean {meant!r}?"
                raise UsageError(f"a scorer has name, arguments and threshold, not {key!r}{hint}", code="unknown-key")
        name, arguments, threshold = given.get("name"), given.get("arguments", {}), given.get("threshold")
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            raise _bad(f"a scorer has a name and a mapping of arguments, got {dict(given)!r}")
        is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if threshold is not None and not (is_number and abs(threshold) < float("inf")):
            raise _bad(f"the threshold of {name} must be a number, got {threshold!r}")
        return ScorerUse(name, dict(arguments), threshold)
    # A judge is wrapped once, here, so that every run of the scenario shares its client.
    if hasattr(given, "ajudge"):
        return ScorerUse(get_scorer(given))
    if isinstance(given, str | Scorer) or callable(given):
        return ScorerUse(given)
    raise _bad(f"a scorer must be a name, a mapping, a function or a judge, got {given!r}")


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what JSON does not have is named."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, ScorerUse):
        # Without a threshold it is as it was before there were any: run files keep a digest of it.
        value = {name: one for name, one in value._asdict().items() if name != "threshold" or one is not None}
    elif is_dataclass(value) and not isinstance(value, type | Scorer):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Scorer):
        return value.name
    name = getattr(value, "__qualname__", None)
    return str(value) if name is None else f"{value.__module__}:{name}"
