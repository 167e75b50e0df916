"""What a run is asked to do, and within which limits: as it stands in its file, names and settings, never a key."""

from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, Self

from adjudge.errors import RunError, UsageError
from adjudge.runs._job import Job

PLAN = "plan"


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Limits of a run; the defaults suit a hosted model.

    `workers` calls are in flight at most. A row has `deadline` seconds in all, retries included, one
    attempt of a call `attempt_timeout`. Above the share
    `max_unscored` of rows without a score a run is undecided. `max_calls`, `max_tokens` and `max_cost` are hard: they
    are checked before a call, retries and earlier sessions of the run included. `price` is dollars for a million
    prompt tokens and a million completion tokens. `cache` is the path of the replies kept across runs, `user` for the
    one in the user's cache folder, or `off`. To about the share `canaries` of the rows an answer that is known to be
    bad is added, to see whether the judge takes it. `seed` is for whatever draws by chance.
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

    @property
    def cache_path(self) -> Path | None:
        """Where the cache is; None where it is off."""
        from adjudge.runs._cache import default_cache

        if self.cache == "off":
            return None
        return default_cache() if self.cache == "user" else Path(self.cache)


@dataclass(frozen=True, slots=True)
class Plan:
    """The resolved plan of a run.

    `by_name` is true where `adjudge resume` can make the scorers, the judge and the agent again from their names;
    a run of somebody's own objects is resumed from Python.
    """

    kind: Literal["evaluate", "judge"] = "evaluate"
    scorers: tuple[str, ...] = ()
    judge: str | None = None
    agent: str | None = None
    options: dict[str, Any] = field(default_factory=dict)  # of the judge: its endpoint, its limits
    source: str | None = None
    digest: str | None = None
    columns: tuple[tuple[str, str], ...] = ()  # names of arguments, each with the column that goes under it
    format: Literal["jsonl", "csv", "parquet"] | None = None  # of the source, where its name does not say so
    editions: tuple[str, ...] = ()  # the versions of the scorers: a run goes on only with the same ones
    names: tuple[str, ...] = ()  # what the scores are called
    ranges: tuple[tuple[float, float] | None, ...] = ()
    by_name: bool = False
    judged: int | None = None  # which of the scores is the judge's
    unit: str | None = None  # the column by which cases were worked on together
    resumed_by: str = ""  # how a person goes on with it, where `adjudge resume` cannot
    merged: tuple[str, ...] = ()  # the run files that this one was made of
    adjudge: str = ""
    started: str = ""
    config: dict[str, Any] = field(default_factory=dict)

    def resolved(self, job: Job, config: RunConfig) -> "Plan":
        """Return the plan with everything filled in that its job and its config know."""
        from datetime import UTC, datetime

        from adjudge import __version__

        return replace(
            self,
            # `local` is whatever tier is installed; a run that goes on needs the one that it began with.
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
            config=asdict(config),
        )

    def run_config(self) -> RunConfig:
        """Return the limits that the run began with."""
        known = {one.name for one in fields(RunConfig)}
        given = {name: value for name, value in self.config.items() if name in known}
        if given.get("price") is not None:
            given["price"] = tuple(given["price"])
        return RunConfig(**given)

    def check_same(self, other: Self, path: Path) -> None:
        """Raise `RunError` if the other plan would give other scores."""
        for name in ("kind", "editions", "agent", "columns", "digest"):
            ours, theirs = getattr(self, name), getattr(other, name)
            if ours != theirs:
                what = {"editions": "scorers or judge", "digest": "cases"}.get(name, name)
                message = f"{path} is a run with other {what} ({_shown(ours)}, not {_shown(theirs)})"
                raise RunError(f"{message}: name another run file", code="run-mismatch")


def plan_from(stored: Any, path: Path) -> Plan:
    """Read a plan out of a run file."""
    import msgspec

    if stored is None:
        raise RunError(f"{path} holds no plan: the run was stopped before it began", code="not-a-run")
    try:
        return msgspec.convert(stored, Plan)
    except msgspec.ValidationError as error:
        raise RunError(f"{path}: its plan cannot be read: {error}", code="run-damaged") from None


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
