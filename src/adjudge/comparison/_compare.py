"""Two runs against each other: which metrics and cases they share, whether they may be compared, and what follows.

    comparison = compare("main.run", "branch.run", margin=0.02)
    comparison.metrics["qa_f1_reward"].verdict          "non-inferior"

Numbers that mean different things are not compared: another version of the scorer, another judge or prompt, another
case under the same id.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adjudge.comparison._comparison import Comparison, MetricComparison
from adjudge.comparison._pairs import Scope, Values, pair_up
from adjudge.comparison._read import read_results
from adjudge.comparison._results import CaseFacts, MetricValues, Results
from adjudge.comparison._verdicts import MetricQuestion, answer_all, benjamini_hochberg_levels, holm_levels
from adjudge.errors import UsageError, closest
from adjudge.rewards import get_scorer
from adjudge.statistics import Range

SHOWN = 3  # ids in a message
_NOTHING = CaseFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How to compare: `scorers` are the metrics that decide (default: all that can), `margin` is what they may lose.

    `lower_is_better` and `higher_is_better` name metrics of which a file does not say it; by their names, times, costs
    and errors are better when lower.

    `cluster` names the column of what varies together, `by` a column to show slices by, a tag, or `tags` for each of
    them. `scope` is `new` (how would new cases of this kind go) or `these` (only these cases, which need repeats). At
    most the share `max_missing` of the pairs may lack a score.
    """

    scorers: Sequence[str] = ()
    margin: float | None = None
    lower_is_better: Sequence[str] = ()
    higher_is_better: Sequence[str] = ()
    by: str | None = None
    cluster: str | None = None
    scope: Scope = "new"
    allow_mismatch: bool = False
    max_missing: float = 0.05

    def __post_init__(self) -> None:
        is_number = isinstance(self.margin, int | float) and not isinstance(self.margin, bool)
        if self.margin is not None and not (is_number and 1e-100 < self.margin < math.inf):
            raise UsageError(f"the margin must be a number greater than 0, got {self.margin!r}", code="bad-option")
        if isinstance(self.max_missing, bool) or not isinstance(self.max_missing, int | float):
            raise UsageError(f"max_missing is a share from 0 to 1, got {self.max_missing!r}", code="bad-option")
        if not 0.0 <= self.max_missing <= 1.0:
            raise UsageError(f"max_missing is a share from 0 to 1, got {self.max_missing:g}", code="bad-option")
        if self.scope not in ("new", "these"):
            raise UsageError(f"the scope is new or these, got {self.scope!r}", code="bad-option")


def compare(
    base: Any,
    new: Any,
    *,
    id: str | None = None,  # noqa: A002 (the word that users expect)
    scores: Sequence[str] = (),
    **options: Any,
) -> Comparison:
    """Compare two runs over the cases that both have: run files, files of other tools, results of `evaluate`.

    `id` and `scores` name columns of tables; the other options are those of `CompareOptions`.
    """
    chosen = CompareOptions(**options)
    ours, theirs = (open_results(one, chosen, id=id, scores=scores) for one in (base, new))
    return compare_results(ours, theirs, chosen)


def open_results(
    source: Any,
    options: CompareOptions,
    *,
    id: str | None = None,  # noqa: A002 (the word that users expect)
    scores: Sequence[str] = (),
) -> Results:
    """Read one side of a comparison: a path, something that has its run file in `file`, or `Results` as they are.

    A table of answers, which has no scores, is scored by the scorers that decide.
    """
    if isinstance(source, Results):
        return _directed(source, options)
    keep = [column for column in (options.cluster, options.by) if column is not None]
    path = getattr(source, "file", source)
    if not isinstance(path, str | Path):
        message = f"a run is a file, the result of `evaluate`, or `Results`; got {type(source).__name__}"
        raise UsageError(message, code="not-comparable")
    try:
        return _directed(read_results(path, id=id, scores=scores, keep=keep), options)
    except UsageError as error:
        # A table without scores, and scorers that may give them.
        if error.code != "no-scores" or not options.scorers:
            raise
    from adjudge.comparison._answers import score_answers

    return _directed(score_answers(Path(path), options.scorers, keep), options)


def _directed(results: Results, options: CompareOptions) -> Results:
    """Return the results with the metrics that are better when lower, or higher, as the options say."""
    wanted = {**dict.fromkeys(options.higher_is_better, True), **dict.fromkeys(options.lower_is_better, False)}
    for name in wanted:
        if name not in results.metrics:
            known = ", ".join(results.metrics)
            message = f"{results.name} has no metric {name!r}{closest(name, list(results.metrics))} (there are {known})"
            raise UsageError(message, code="unknown-metric")
    if not wanted:
        return results
    metrics = {
        name: replace(metric, higher_is_better=wanted.get(name, metric.higher_is_better))
        for name, metric in results.metrics.items()
    }
    return replace(results, metrics=metrics)


def compare_results(base: Results, new: Results, options: CompareOptions = CompareOptions()) -> Comparison:  # noqa: B008 (frozen)
    """Compare two runs over the cases that both have; `UsageError` says why they cannot be compared."""
    gated = gated_metrics([base, new], options.scorers)
    mismatches = mismatches_of(base, new, options)
    facts = join_facts((base, new))
    ids = _ids(base), _ids(new)
    clusters = clusters_by(facts, options.cluster)
    decisive: list[MetricQuestion] = []
    exploratory: list[MetricQuestion] = []
    for name, ours in base.metrics.items():
        theirs = new.metrics.get(name)
        if theirs is None:
            continue
        pairs = pair_up(_with_lost(ours, theirs, ids[0]), _with_lost(theirs, ours, ids[1]))
        ends = range_of([ours, theirs])
        question = MetricQuestion(name, pairs, clusters, options.scope, ends, ours.higher_is_better)
        if name not in gated:
            exploratory.append(replace(question, is_gated=False))
            continue
        decisive.append(replace(question, margin=options.margin))
        if options.margin is not None and ends is not None and options.margin >= ends[1] - ends[0]:
            message = (
                f"a margin of {options.margin:g} allows every loss: {name} lies between {ends[0]:g} and {ends[1]:g}"
            )
            raise UsageError(message, code="bad-option")
        if options.by is not None:
            exploratory += _slices(question, facts, options.by)

    answers = [*answer_all(decisive, holm_levels, options.max_missing), *_lost_metrics(base, new, options.scorers)]
    others = answer_all(exploratory, benjamini_hochberg_levels, options.max_missing)
    only_in_base = tuple(key for key in ids[0] if key not in ids[1] and key not in new.spared)
    whole = [*answers, *(one for one in others if one.among is None)]
    return Comparison(
        base.name,
        new.name,
        {one.name: one for one in whole},
        slices=tuple(one for one in others if one.among is not None),
        only_in_base=only_in_base,
        only_in_new=tuple(key for key in ids[1] if key not in ids[0] and key not in base.spared),
        too_few=too_few_of(len(only_in_base), len(ids[0]), options.max_missing),
        margin=options.margin,
        scope=options.scope,
        mismatches=mismatches,
        notes=notes_of((base, new)),
    )


def too_few_of(absent: int, number: int, max_missing: float) -> str | None:
    """Return why a pass would rest on too few cases of the base, if it would; a run that was cut off has few."""
    if absent <= max_missing * number:
        return None
    return (
        f"{absent:,} of {number:,} cases of the base are not compared; at most {max_missing * 100:.4g}% may be missing"
    )


def _lost_metrics(base: Results, new: Results, wanted: Sequence[str]) -> Iterator[MetricComparison]:
    """Give the metrics that would decide and that the new run does not have, unless others were named."""
    for name, metric in base.metrics.items():
        if metric.is_gated and name not in new.metrics and not wanted:
            reason = f"{new.name} does not have it; --scorer names others"
            yield MetricComparison(name, "undecided", is_gated=True, pairs=0, reason=reason)


def gated_metrics(runs: Sequence[Results], wanted: Sequence[str]) -> list[str]:
    """Return the metrics that decide: those wanted, or all that every run has and that can."""
    shared = [name for name in runs[0].metrics if all(name in one.metrics for one in runs)]
    # A scorer may be named by where it is; its metric has its name.
    wanted = [get_scorer(name).name if name not in shared and ":" in name else name for name in wanted]
    for name in wanted:
        if name not in shared:
            lacking = next(one for one in runs if name not in one.metrics)
            message = f"{lacking.name} has no metric {name!r}{closest(name, shared)}"
            # A note may say why a scorer of the file is not there.
            why = "".join(f"; {note}" for note in lacking.notes if name in note)
            raise UsageError(f"{message} (shared: {', '.join(shared) or 'none'}){why}", code="unknown-metric")
    found = list(wanted) or [name for name in shared if all(one.metrics[name].is_gated for one in runs)]
    if not found:
        having = "; ".join(f"{one.name} has {', '.join(one.metrics) or 'none'}" for one in runs)
        raise UsageError(f"the runs share no metric that could decide: {having}", code="not-comparable")
    return found


def mismatches_of(base: Results, new: Results, options: CompareOptions) -> tuple[str, ...]:
    """Return why two runs should not be compared; `UsageError` unless that is allowed all the same."""
    found = tuple(_mismatches(base, new))
    if found and not options.allow_mismatch:
        message = f"{base.name} and {new.name} cannot be compared: {'; '.join(found)}"
        raise UsageError(f"{message} (--allow-mismatch compares them all the same)", code="not-comparable")
    return found


def _mismatches(base: Results, new: Results) -> Iterator[str]:
    """Say what makes the numbers of two runs different things: another scorer, another judge, other cases."""
    for name, ours in base.metrics.items():
        if name not in new.metrics:
            continue
        theirs = new.metrics[name].origin
        for key, value in ours.origin.items():
            if theirs.get(key, value) != value:
                yield f"{name} has another {key.replace('_', ' ')} ({value} and {theirs[key]})"
        if ours.higher_is_better != new.metrics[name].higher_is_better:
            yield f"{name} is better when higher in one run and when lower in the other"
    mixed = list(dict.fromkeys((*base.mixed, *new.mixed)))
    if mixed:
        yield f"several cases have one id ({_some(mixed)}): name a column that tells them apart with --id"
    changed = [key for key in changed_cases(base, new) if key not in mixed]
    if changed:
        yield f"other cases have the same id ({_some(changed)})"


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - SHOWN:,} more" if len(ids) > SHOWN else ""
    return f"{', '.join(ids[:SHOWN])}{more}"


def changed_cases(base: Results, new: Results) -> list[str]:
    """Return the ids that are another case in each run, as far as both say."""
    changed = []
    for key, fact in base.cases.items():
        digest = new.cases.get(key, _NOTHING).digest
        if digest is not None and fact.digest is not None and digest != fact.digest:
            changed.append(key)
    return changed


def without_cases(results: Results, ids: Collection[str]) -> Results:
    """Return the results without some cases."""
    left_out = set(ids)
    metrics = {
        name: replace(metric, values={key: one for key, one in metric.values.items() if key not in left_out})
        for name, metric in results.metrics.items()
    }
    cases = {key: fact for key, fact in results.cases.items() if key not in left_out}
    return replace(results, metrics=metrics, cases=cases)


def _ids(results: Results) -> dict[str, None]:
    found: dict[str, None] = {}
    for metric in results.metrics.values():
        if not metric.values.keys() <= found.keys():
            found |= dict.fromkeys(metric.values)
    return found


def _with_lost(metric: MetricValues, other: MetricValues, ids: Mapping[str, None]) -> Mapping[str, Values]:
    """Return the values by case; a case that the run has, and only the other run has a value of, lacks its score."""
    if len(metric.values) == len(ids):
        return metric.values
    missing = other.values.keys() - metric.values.keys()
    lost = {key: (None,) for key in other.values if key in missing and key in ids} if missing else {}
    return {**metric.values, **lost} if lost else metric.values


def range_of(metrics: Sequence[MetricValues]) -> Range:
    """Return the range that holds every run's; where nobody says one, scores from 0 to 1 are taken to end there.

    Costs and times have no upper end, however small they are. A range that some value leaves is not known.
    """
    known = [one.range for one in metrics if one.range is not None]
    if not known and not all(one.is_gated and one.higher_is_better for one in metrics):
        return None
    least, most = min((low for low, _ in known), default=0.0), max((high for _, high in known), default=1.0)
    if len(known) < len(metrics):
        found = {value for one in metrics for values in one.values.values() for value in values} - {None}
        if not all(least <= value <= most for value in found):  # type: ignore[operator]  # not None
            return None
    return least, most


def notes_of(runs: Sequence[Results]) -> tuple[str, ...]:
    """Return what the runs have to say, each note with its run."""
    named = [note if note.startswith(one.name) else f"{one.name}: {note}" for one in runs for note in one.notes]
    for other in runs[1:]:
        clusters = ((fact.cluster, other.cases.get(key, _NOTHING).cluster) for key, fact in runs[0].cases.items())
        differ = sum(None not in pair and pair[0] != pair[1] for pair in clusters)
        if differ:
            named.append(f"{other.name}: {differ:,} cases are in another cluster than in {runs[0].name}, which counts")
    return tuple(dict.fromkeys(named))


def join_facts(runs: Sequence[Results]) -> dict[str, CaseFacts]:
    """Return what is known of the cases, of the first run that has each."""
    return {key: fact for one in reversed(runs) for key, fact in one.cases.items()}


def clusters_by(facts: Mapping[str, CaseFacts], column: str | None) -> dict[str, str]:
    """Return the cluster of each case that has one: what its reader found, or the value of a column."""
    if column is None:
        return {key: fact.cluster for key, fact in facts.items() if fact.cluster is not None}
    found = {key: fact.columns[column] for key, fact in facts.items() if column in fact.columns}
    if not found:
        raise UsageError(f"no case has a column {column!r} to cluster by", code="unknown-column")
    return found


def _slices(question: MetricQuestion, facts: Mapping[str, CaseFacts], by: str) -> Iterator[MetricQuestion]:
    """Ask the same for each value of a column, for each tag, or for one tag."""
    groups: dict[str, list[int]] = {}
    for at, key in enumerate(question.pairs.ids):
        fact = facts.get(key, _NOTHING)
        # A column of tags is looked into: each of them is a slice.
        if by in fact.columns and not (by in ("tag", "tags") and fact.tags):
            groups.setdefault(f"{by}={fact.columns[by]}", []).append(at)
        else:
            for tag in fact.tags:
                if by in ("tag", "tags", tag):
                    groups.setdefault(f"tag={tag}", []).append(at)
    if not groups:
        raise UsageError(f"no case has a column or a tag {by!r} to show slices by", code="unknown-column")
    for label, positions in sorted(groups.items()):
        yield replace(question, pairs=question.pairs.at(positions), is_gated=False, margin=None, among=label)
