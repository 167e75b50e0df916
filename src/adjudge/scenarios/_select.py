"""Some of the scenarios: by tag, by id, or those that did not pass in an earlier run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from adjudge.errors import UsageError, closest
from adjudge.runs import open_run
from adjudge.scenarios._run import outcome_of
from adjudge.scenarios._scenario import Scenario
from adjudge.scenarios._score import NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which scenarios run: those with any of the `tags`, whose id is one of `only` and none of `exclude`.

    Ids may be patterns (`billing-*`). `last_failed` is a run file: of its scenarios those that did not pass, because
    they failed, were undecided, or were not reached. What is empty leaves nothing out.

    >>> both = [Scenario("a-1", "?", tags=["fast"]), Scenario("b-1", "?")]
    >>> [one.id for one in Selection(only=["*-1"], tags=["fast"]).apply(both)]
    ['a-1']
    """

    tags: Sequence[str] = ()
    only: Sequence[str] = ()
    exclude: Sequence[str] = ()
    last_failed: str | Path | None = None

    def apply(self, scenarios: Sequence[Scenario]) -> list[Scenario]:
        """Return the selected scenarios in their order; `UsageError` where a name is unknown, or none is left."""
        ids = [one.id for one in scenarios]
        known = dict.fromkeys(tag for one in scenarios for tag in one.tags)
        for tag in self.tags:
            if tag not in known:
                raise _none(f"no scenario has the tag {tag!r}", tag, known)
        wanted, unwanted = _matching(self.only, ids), _matching(self.exclude, ids)
        failed = None if self.last_failed is None else _failed_in(self.last_failed)
        found = [
            one
            for one in scenarios
            if (not self.tags or not set(self.tags).isdisjoint(one.tags))
            and (not self.only or one.id in wanted)
            and one.id not in unwanted
            and (failed is None or one.id in failed)
        ]
        if not found and failed is not None and failed.isdisjoint(ids):
            what = f"none of the {len(failed)} that did not pass is among these scenarios" if failed else "all passed"
            raise UsageError(f"nothing is left to check: in {self.last_failed} {what}", code="no-scenario")
        if not found:
            raise UsageError(f"nothing is left to check: no scenario of {len(ids)} is selected", code="no-scenario")
        return found


def _matching(patterns: Iterable[str], ids: Sequence[str]) -> set[str]:
    """Return the ids that one of the patterns matches; each has to match one."""
    found: set[str] = set()
    for pattern in patterns:
        # An id may hold the characters of a pattern itself.
        matches = {one for one in ids if one == pattern or fnmatchcase(one, pattern)}
        if not matches:
            raise _none(f"no scenario is called {pattern!r}", pattern, ids)
        found |= matches
    return found


def _none(message: str, name: str, known: Iterable[str]) -> UsageError:
    names = list(known)
    few = f" (there are {', '.join(map(repr, names))})" if 0 < len(names) <= 8 else ""
    return UsageError(f"{message}{closest(name, names) or few}", code="no-scenario")


def _failed_in(file: str | Path) -> set[str]:
    """Return the ids of the scenarios that did not pass in every run of a file."""
    run = open_run(file)
    if run.plan.names != (NAME,):
        raise UsageError(f"{file} is not the run of a check: its scores are {', '.join(run.plan.names)}")
    failed: set[str] = set()
    spared = {case.id for case in run.spared()}
    for row in run.rows():
        if row.case.id in spared:
            continue
        detail = None if not row.scores else row.scores[0].detail
        # A row without a result ended in an error, or was not reached.
        if not isinstance(detail, dict) or outcome_of(detail) != "passed":
            failed.add(str((row.case.row or {}).get("group_id", row.case.id)))
    return failed
