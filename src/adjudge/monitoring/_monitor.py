"""Any scorer, watched: the same Scores, and beside them what a policy that games the reward gives away.

    watched = monitor("qa_f1_reward", path="monitor.jsonl")
    watched.score_many(rollouts)        what get_scorer("qa_f1_reward").score_many(rollouts) returns

Rows are kept until their window is full, then counted and forgotten. What goes wrong while watching, in a callback say,
is a figure (`watching_faults`), never an exception in the trainer.
"""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from adjudge.errors import Caught, UsageError, closest
from adjudge.judges.columns import RESPONSES
from adjudge.monitoring._counts import WindowCounts, merge_counts
from adjudge.monitoring._figures import figures_of
from adjudge.monitoring._observe import Observation, observe
from adjudge.monitoring._rules import RULES
from adjudge.monitoring._state import Alert, MonitorState, append_line
from adjudge.monitoring._window import Scale, count_canaries, count_opinions, count_window, make_canaries
from adjudge.rewards import Scorer, Wrapper, get_scorer

if TYPE_CHECKING:
    from adjudge.model import Context, Judge, Score

LEAST_WINDOW = 32


class RewardWarning(UserWarning):
    """The policy may be gaming its reward."""


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """How a scorer is watched; these go along into other processes."""

    window: int
    every: int
    high: float | None
    path: Path | None
    canaries: float
    second: Scorer | None
    rules: tuple[str, ...]
    seed: int


def monitor(  # noqa: PLR0913 (each option stands alone, and all have defaults)
    scorer: str | Callable[..., Any] | Scorer | Judge,
    *,
    log: Callable[[dict[str, float]], object] | None = None,
    warn: Callable[[Alert], object] | None = None,
    path: str | Path | None = None,
    canaries: float = 0.0,
    second: str | Scorer | None = None,
    rules: Collection[str] | None = None,
    high: float | None = None,
    window: int = 256,
    every: int = 4,
    seed: int = 0,
) -> Monitor:
    """Return a scorer that gives the same Scores and watches them.

    `log` gets the figures of each window of so many rows, `warn` an `Alert` where a rule speaks (default: a
    `RewardWarning`), the file at `path` both. The text of every fourth row (`every`) is looked at. `high` is the value
    from which on a response counts as rewarded (default: the middle of the scorer's range). `rules` names the rules
    that speak (default: all).

    Two things cost more and are off: `canaries` is the share of rows beside which a response that is known to be wrong
    is scored too, a paid call where a judge is paid; `second` names a cheap scorer, such as `local:0`, that is asked
    about up to 16 rewarded rows of a window.

    >>> watched = monitor("qa_f1_reward")
    >>> watched.score({"final_response": "Paris", "answer": "Paris"}).value, watched.name
    (1.0, 'qa_f1_reward')
    """
    if window < LEAST_WINDOW or every < 1:
        raise UsageError(f"window must be at least {LEAST_WINDOW} and every at least 1, got {window} and {every}")
    if not 0.0 <= canaries <= 1.0:
        raise UsageError(f"the rate of canaries lies between 0 and 1, got {canaries}")
    known = [rule.name for rule in RULES]
    for name in rules or ():
        if name not in known:
            raise UsageError(f"no rule is called {name!r}{closest(name, known)}; the rules are {', '.join(known)}")
    opinion = None if second is None else get_scorer(second)
    if opinion is not None and opinion.is_async:
        raise UsageError(f"second must be a scorer that awaits nothing, such as local:0; {opinion.name} does")
    chosen = tuple(known if rules is None else rules)
    file = None if path is None else Path(path)
    settings = MonitorSettings(window, every, high, file, canaries, opinion, chosen, seed)
    return Monitor(get_scorer(scorer), settings, log=log, warn=warn)


class Monitor(Wrapper):
    """A scorer that is watched; `monitor` makes it.

    A copy in another process, forked or unpickled, counts its own rows and writes a file of its own beside `path`. An
    unpickled one has no `log` and `warn`, which may belong to a connection or a closure.
    """

    def __init__(
        self,
        scorer: Scorer,
        settings: MonitorSettings,
        *,
        log: Callable[[dict[str, float]], object] | None = None,
        warn: Callable[[Alert], object] | None = None,
    ) -> None:
        super().__init__(scorer)
        self.settings = settings
        self._log = log
        self._warn = _warn_of if warn is None else warn
        # Where an environment says what was achieved, the response may be anything.
        takes = scorer.accepts
        self._reads_texts = takes is None or ("context" not in takes and not set(RESPONSES).isdisjoint(takes))
        self._scale = Scale(scorer, settings.high)
        self._begin()

    def _begin(self) -> None:
        """Start to count, in this process."""
        self._process = os.getpid()
        # A lock that another thread held when the process was forked would never be released here.
        self._lock = RLock()
        self._run = secrets.token_hex(4)
        self._open: list[Observation] = []
        self._extra = WindowCounts()  # canaries of the open window
        self._state = MonitorState(self.name, self.version)
        self._windows = 0
        self._rows = 0
        self._speaking: set[str] = set()
        self._faults = 0
        self.last_fault: str | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _copy, (self.scorer, self.settings)

    def _score_slice(
        self, rows: Sequence[Mapping[str, Any]], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        scores = self.scorer.score_many(rows, contexts=contexts, labels=labels)
        canaries = self._choose_canaries(rows)
        if canaries:
            with self._safely():
                self._add_canaries(canaries, self.scorer.score_many(canaries))
        self._watch(rows, scores, contexts)
        return scores

    async def _ascore_rows(
        self, rows: Sequence[Mapping[str, Any]], contexts: Sequence[Context | None], labels: Sequence[object]
    ) -> list[Score]:
        scores = await self.scorer.ascore_many(rows, contexts=contexts, labels=labels)
        canaries = self._choose_canaries(rows)
        if canaries:
            with self._safely():
                self._add_canaries(canaries, await self.scorer.ascore_many(canaries))
        self._watch(rows, scores, contexts)
        return scores

    def state(self) -> dict[str, Any]:
        """Return what was counted, the open window included, as values that JSON has; `merge` puts several together."""
        self._check_process()
        with self._lock:
            state = MonitorState.of_json(self._state.to_json())
            if self._open or self._extra.sums:
                # The second opinion is asked once, when the window is full.
                state.add(self._windows, merge_counts(count_window(self._open, self._scale), self._extra))
            return state.to_json()

    def figures(self) -> dict[str, float]:
        """Return the figures of all rows so far."""
        return figures_of(MonitorState.of_json(self.state()).total)

    def flush(self) -> None:
        """Close the open window, as at the end of a training."""
        self._check_process()
        with self._lock:
            if self._open:
                self._close()

    def _check_process(self) -> None:
        """Forget what was counted before this process was forked: the other one has it."""
        if self._process != os.getpid():
            self.settings = replace(self.settings, path=_own(self.settings.path))
            self._begin()

    def _choose_canaries(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the canaries that are to be scored beside the rows."""
        canaries: list[dict[str, Any]] = []
        # A canary among the rollouts of a group would change their scores.
        if self.settings.canaries and not self.is_group:
            with self._safely():
                canaries = make_canaries(rows, self.settings.canaries, f"{self.settings.seed}:{self._rows}")
        return canaries

    def _add_canaries(self, canaries: Sequence[Mapping[str, Any]], scores: Sequence[Score]) -> None:
        self._check_process()
        with self._lock:
            count_canaries(self._extra, canaries, scores, self._scale)

    def _watch(
        self, rows: Sequence[Mapping[str, Any]], scores: Sequence[Score], contexts: Sequence[Context | None]
    ) -> None:
        """Keep what the rows show, until their window is full."""
        self._check_process()
        with self._safely(), self._lock:
            for row, score, context in zip(rows, scores, contexts, strict=True):
                with_text = self._reads_texts and self._rows % self.settings.every == 0
                self._rows += 1
                self._open.append(observe(row, score, context, with_text=with_text))
                if len(self._open) >= self.settings.window:
                    self._close()

    def _close(self) -> None:
        """Count the open window, ask the rules, and tell everybody."""
        try:
            counts = count_window(self._open, self._scale)
            if self.settings.second is not None:
                count_opinions(counts, self._open, self.settings.second, self._scale)
            counts = merge_counts(counts, self._extra)
        finally:
            # Whatever happens, a row is counted at most once.
            self._open, self._extra = [], WindowCounts()
        self._state.add(self._windows, counts)
        self._windows += 1
        found = self._state.alerts(self.settings.rules)
        # A rule speaks once until it has cleared.
        new = [alert for alert in found if alert.rule not in self._speaking]
        self._speaking = {alert.rule for alert in found}
        figures = figures_of(counts)
        figures["watching_faults"] = float(self._faults)
        if self.settings.path is not None:
            where = {"run": self._run, "scorer": self.name, "version": self.version, "window": self._windows - 1}
            line = {"figures": figures, "speaking": sorted(self._speaking), "counts": counts.to_json()}
            with self._safely():
                append_line(self.settings.path, {"kind": "window", **where, **line})
                for alert in new:
                    append_line(self.settings.path, {"kind": "warning", **where, **alert.to_json()})
        for alert in new:
            with self._safely():
                self._warn(alert)
        if self._log is not None:
            with self._safely():
                self._log(figures)

    @contextmanager
    def _safely(self) -> Iterator[None]:
        """Make a figure of what goes wrong while watching: nobody's training ends of it."""
        with Caught(fatal_too=True) as caught:
            yield
        if caught.reason is not None:
            self._faults += 1
            self.last_fault = caught.reason


def _copy(scorer: Scorer, settings: MonitorSettings) -> Monitor:
    """Make a copy of a monitor that was sent to another process."""
    return Monitor(scorer, replace(settings, path=_own(settings.path)))


def _own(path: Path | None) -> Path | None:
    """Return the path of a file that no other process writes."""
    return None if path is None else path.with_name(f"{path.stem}-{os.getpid()}-{secrets.token_hex(4)}{path.suffix}")


def _warn_of(alert: Alert) -> None:
    warnings.warn(str(alert), RewardWarning, stacklevel=2)
