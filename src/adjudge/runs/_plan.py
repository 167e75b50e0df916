"""What a run does, and within which limits.

RunConfig    the limits
Job          the agent that answers each case and the scorers that score it, as objects
Plan         the same by name, as the run file keeps it: settings, never a key
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from inspect import getattr_static
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from adjudge import files
from adjudge.calling import source_digest
from adjudge.errors import RunError, UsageError
from adjudge.model import Score
from adjudge.rewards import Scorer, get_scorer
from adjudge.runs._records import Write, write_meta

if TYPE_CHECKING:
    from adjudge.model import Agent, Judge
    from adjudge.runs._cache import Cache

PLAN = "plan"  # the name in `meta`, as those below
SEAL = "seal"
ACCEPTED = "accepted"  # the name in `meta` of the changes of code that somebody accepted
GROUP = "group_id"
CONVERSATION = "conversation_id"


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Limits of a run; the defaults suit a hosted model.

    `workers` is the number of calls in flight at most. A row has `deadline` seconds in all, retries included, and one
    attempt of a call `attempt_timeout`. Above the share `max_unscored` of rows without a score a run is undecided.
    `max_calls`, `max_tokens` and `max_cost` are hard: they are checked before a call, and include retries and earlier
    sessions of the run. `price` is dollars for a million prompt tokens and a million completion tokens. `cache` is the
    path of the replies kept across runs, `user` for the one in the user's cache folder, or `off`. About the share
    `canaries` of the rows gets a second answer that is known to be bad, to see whether the judge accepts it. `seed`
    makes every random choice repeatable. `accept_changes` resumes a run although the source of its agent or scorers has
    changed, and records that. `thresholds` say what the means of scores have to be at least, by name; with
    `stop_early` the cases come in a random order, and the run ends as soon as the thresholds are decided.
    """

    workers: int = 32
    deadline: float = 120.0
    attempt_timeout: float = 60.0
    max_unscored: float = 0.05
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    price: tuple[float, float] | None = None
    cache: str = "user"
    canaries: float = 0.0
    seed: int = 0
    accept_changes: bool = False
    thresholds: Mapping[str, float] | Sequence[tuple[str, float]] = ()
    stop_early: bool = False

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UsageError(f"workers must be at least 1, got {self.workers}")
        for name in ("deadline", "attempt_timeout"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be more than 0 seconds, got {getattr(self, name)}")
        for name in ("max_unscored", "canaries"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name} is a share from 0 to 1, got {getattr(self, name)}")
        for name in ("max_calls", "max_tokens", "max_cost"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise UsageError(f"{name} must not be negative, got {value}")
        if self.max_cost is not None and self.price is None:
            raise UsageError("max_cost needs price: dollars for a million prompt and a million completion tokens")
        if self.stop_early and self.canaries:
            raise UsageError("canaries need the whole run: leave them or stop_early out", code="bad-option")


@dataclass(frozen=True, slots=True)
class Job:
    """The agent and the scorers of a run, and what follows from them.

    `leaves` are the scorers that compositions are made of, `judges` all that are asked, the members of panels and
    cascades included. `names` and `ranges` are those of the scores, in their order. `judged` is the index of the score
    that comes from a judge (the last one where there are several), `judge` is that judge. Cases with the same value in
    `unit_column` are worked on together: a group because of its scorers, a conversation because of its agent. `is_pure`
    means that nothing has to be waited for, so many rows can be scored at once. `has_own_means` means that a scorer
    waits for something that does not go through the run, so only the number of rows in progress can limit it.
    """

    scorers: tuple[Scorer, ...] = ()
    agent: Agent | None = None
    leaves: tuple[Scorer, ...] = field(init=False)
    judges: tuple[Any, ...] = field(init=False)
    names: tuple[str, ...] = field(init=False)
    ranges: tuple[tuple[float, float] | None, ...] = field(init=False)
    judged: int | None = field(init=False, default=None)
    judge: Judge | None = field(init=False, default=None)
    unit_column: str | None = field(init=False, default=None)
    is_pure: bool = field(init=False)
    has_own_means: bool = field(init=False)

    def __post_init__(self) -> None:
        known: dict[str, Any] = {
            "names": tuple(scorer.name for scorer in self.scorers),
            "ranges": tuple(scorer.range for scorer in self.scorers),
            "is_pure": self.agent is None and not any(scorer.is_async for scorer in self.scorers),
        }
        # Both lists grow on the way: members may have members.
        scorers, leaves, judges = list[Any](self.scorers), list[Any](), list[Any]()
        for scorer in scorers:
            members = getattr(scorer, "members", None)
            scorers.extend(members or ())
            if members is None:
                leaves.append(scorer)
                judges.extend(scorer.judges)
        for judge in judges:
            judges.extend(getattr(judge, "members", ()))
        # `chats` is looked for without asking for it: it may be a property that makes a client.
        is_own = [
            not (hasattr(judge, "members") or hasattr(judge, "ajudge_many") or getattr_static(judge, "chats", None))
            for judge in judges
        ]
        waits = any(leaf.is_async and not leaf.judges for leaf in leaves)
        known.update(leaves=tuple(leaves), judges=tuple(judges), has_own_means=waits or any(is_own))
        for index, scorer in enumerate(self.scorers):
            judge = getattr(scorer, "judge", None)
            if judge is not None:
                known.update(judged=index, judge=judge)
        if any(scorer.is_group for scorer in self.scorers):
            known["unit_column"] = GROUP
        elif self.agent is not None:
            known["unit_column"] = CONVERSATION
        for name, value in known.items():  # the class is frozen: this is the way to set what is derived
            object.__setattr__(self, name, value)

    def failed(self, reason: str) -> list[Score]:
        """Return the error that every scorer gives for a case that cannot be scored."""
        return [
            Score.error(reason, parts=dict.fromkeys(scorer.parts or ()), provenance=scorer.provenance)
            for scorer in self.scorers
        ]


def digests_of(job: Job) -> dict[str, str | None]:
    """Return digests of the source of the agent, scorers and judges that are not ours; None where it cannot be read.

    Of an agent that returns records it is a digest of those, of one behind a URL that of its interface.
    """
    found: dict[str, str | None] = {}
    agent: Any = job.agent
    while agent is not None and hasattr(agent, "agent"):  # one that a scenario or a batch wraps
        agent = agent.agent
    for kind, things in (("the agent", [agent]), ("the scorer", job.leaves), ("the judge", job.judges)):
        for thing in things:
            if thing is not None:
                name = f"{kind} {getattr(thing, 'name', type(thing).__name__)}"
                # An agent without code of its own says itself what its answers depend on.
                records = getattr(thing, "own_digest", None)
                found[name] = records() if callable(records) else source_digest(getattr(thing, "function", thing))
    return {name: digest for name, digest in found.items() if digest != ""}


def make_job(*, scorers: Sequence[Any] = (), judge: Any = None, agent: Any = None, **options: Any) -> Job:
    """Return the job of these names or objects; a judge is one more scorer, and `options` go to a judge by name."""
    given = [scorers] if isinstance(scorers, str) or not isinstance(scorers, Sequence) else scorers
    made = [get_scorer(scorer) for scorer in given]
    if judge is not None:
        from adjudge.judges import get_judge, judge_scorer

        made.append(judge_scorer(get_judge(judge, **options) if isinstance(judge, str) else judge))
    if not made:
        raise UsageError("name a scorer or a judge")
    if agent is None:
        return Job(tuple(made))
    from adjudge.agents import get_agent

    return Job(tuple(made), get_agent(agent))


@asynccontextmanager
async def clients_of(
    job: Job, config: RunConfig, cache: Cache | None, secret: bytes | None = None
) -> AsyncIterator[None]:
    """Give judges and agent their clients and a secret, by default the cache's; at the end take both back.

    The agent is closed then.
    """
    secret = secret or (None if cache is None else cache.secret)
    # A little less than the row's own deadline, so that the client can still report what it tried.
    deadline = config.deadline - min(0.5, 0.05 * config.deadline)
    limits = {"in_flight": config.workers, "attempt_timeout_s": config.attempt_timeout, "deadline_s": deadline}
    async with AsyncExitStack() as stack:
        close = getattr(job.agent, "aclose", None)
        if close is not None:
            stack.push_async_callback(close)
        for asker in (job.agent, *job.judges):
            if secret is not None and hasattr(asker, "secret"):
                # With the same secret the same question is the same request in every run, and the cache finds it.
                stack.callback(setattr, asker, "secret", asker.secret)
                asker.secret = secret
            if hasattr(asker, "client") and asker.chat is None:
                client = asker.client(**limits)
                asker.chat = client
                stack.callback(setattr, asker, "chat", None)
                stack.push_async_callback(client.close)
        yield


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run.

    `by_name` is true where `adjudge resume` can make the scorers, the judge and the agent again from their names;
    a run that was given objects is resumed from Python.
    """

    kind: Literal["evaluate", "judge"] = "evaluate"
    scorers: tuple[str, ...] = ()
    judge: str | None = None
    agent: str | None = None
    options: dict[str, Any] = field(default_factory=dict)  # options of the judge: its endpoint, its limits
    source: str | None = None
    digest: str | None = None
    columns: tuple[tuple[str, str], ...] = ()  # names of arguments, each with the column that supplies it
    format: Literal["jsonl", "csv", "parquet"] | None = None  # format of the source, where its name does not tell
    editions: tuple[str, ...] = ()  # the versions of the scorers: a run is resumed only with the same ones
    names: tuple[str, ...] = ()  # names of the scores
    ranges: tuple[tuple[float, float] | None, ...] = ()
    by_name: bool = False
    judged: int | None = None  # index of the judge's score
    unit: str | None = None  # the column by which cases were worked on together
    resumed_by: str = ""  # how a person resumes it, where `adjudge resume` cannot
    code: dict[str, str | None] = field(default_factory=dict)  # digests of the source of code that is not ours
    merged: tuple[str, ...] = ()  # names of the run files that were merged into this one
    adjudge: str = ""
    started: str = ""
    config: dict[str, Any] = field(default_factory=dict)

    def resolved(self, job: Job, config: RunConfig) -> Plan:
        """Return the plan with everything filled in that its job and its config determine."""
        from datetime import UTC, datetime

        from adjudge import __version__

        return replace(
            self,
            options={name: value for name, value in self.options.items() if name != "api_key"},
            # `local` means the best tier that is installed; a resumed run needs the one that it began with.
            scorers=tuple(
                job.names[index] if name.strip() == "local" else name for index, name in enumerate(self.scorers)
            ),
            judge=self.judge if self.judge is None else job.names[-1],
            agent=self.agent or (None if job.agent is None else job.agent.name),
            editions=tuple(f"{scorer.name} {scorer.version}" for scorer in job.scorers),
            names=job.names,
            ranges=job.ranges,
            unit=job.unit_column,
            judged=job.judged,
            adjudge=__version__,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            config=asdict(replace(config, accept_changes=False)),  # accepted once, not for ever
        )

    def run_config(self) -> RunConfig:
        """Return the limits that the run began with."""
        import msgspec

        try:
            return msgspec.convert(self.config, RunConfig)
        except msgspec.ValidationError as error:
            raise RunError(f"its limits cannot be read: {error}", code="run-damaged") from None

    def check_same(self, other: Self, path: Path) -> None:
        """Raise `RunError` if the other plan would give other scores."""
        for name in ("kind", "editions", "agent", "columns", "digest"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                what = {"editions": "scorers or judge", "digest": "cases"}.get(name, name)
                message = f"{path} is a run with other {what} ({_in_words(ours)}, not {_in_words(theirs)})"
                raise RunError(f"{message}: name another run file", code="run-mismatch")


def plan_from(stored: Any, path: Path) -> Plan:
    """Read a plan out of a run file."""
    import msgspec

    if stored is None:
        raise RunError(f"{path} does not hold a plan: the run was stopped before it began", code="not-a-run")
    try:
        return msgspec.convert(stored, Plan)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise RunError(f"{path}: its plan cannot be read: {error}", code="run-damaged") from None


def write_plan(run_id: str | None, plan: Plan, *, sealed: bool = True) -> list[Write]:
    """Return the writes of a plan and its seal, which is missing where there is no place for a key."""
    write = write_meta(PLAN, plan)
    # The seal says that this user started the run on this machine: see `_seal.py`.
    seal = files.seal(b"%b\0%b" % (run_id.encode(), write[1][1])) if sealed and run_id is not None else None
    return [write] if seal is None else [write, write_meta(SEAL, seal)]


def _in_words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
