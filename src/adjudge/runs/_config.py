"""How a run is to be done: limits, budgets, cache. Nothing here changes what a score is."""

from dataclasses import dataclass
from pathlib import Path

from adjudge.errors import UsageError


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
