"""Where somebody labels: the samples of the runs that are looked at, whose labels they are, and the file they go to.

desk = LabelDesk(annotator="ann")
task = desk.task(index, LabelQuery())        the next row of a sample that `ann` has not labelled
desk.answer(index, LabelQuery(), 7, "right", shown=digest_of(index, task.row))
"""

from __future__ import annotations

import getpass
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from adjudge.errors import RunError, UsageError, closest
from adjudge.view._index import RowIndex
from adjudge.view._label_figures import LabelFigures, figures_of_labels
from adjudge.view._label_sample import KINDS, MOST, DrawnRow, LabelSample, RowVerdict, draw, next_row
from adjudge.view._labels import Answer, Label, LabelFile
from adjudge.view._queries import whole_number
from adjudge.view._sources import ViewRow, open_source
from adjudge.view._text import material_of

KEPT = 8  # samples that are kept drawn
USUAL = 100  # rows of a sample


@dataclass(frozen=True, slots=True)
class LabelQuery:
    """What somebody labels: a sample by the verdicts of a scorer; `row` is looked at again, `after` is skipped."""

    kind: str = "random"
    size: int = USUAL
    seed: int = 0
    scorer: int = 0
    row: int | None = None
    after: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, str], scorers: int, usual: int = 0) -> LabelQuery:
        """Read an address or a form; what makes no sense is the usual value."""
        kind = given.get("kind", "")
        size, seed, scorer, row, after = (
            whole_number(given.get(name, "")) for name in ("size", "seed", "scorer", "row", "after")
        )
        return cls(
            kind if kind in KINDS else "random",
            min(max(USUAL if size is None else size, 1), MOST),
            seed or 0,
            min(usual if scorer is None else scorer, max(scorers - 1, 0)),
            row,
            after,
        )

    @property
    def sample(self) -> LabelSample:
        """The sample."""
        return LabelSample(next(kind for kind in KINDS if kind == self.kind), self.size, self.seed)

    @property
    def fields(self) -> dict[str, Any]:
        """What a form has to carry along."""
        return {name: getattr(self, name) for name in ("kind", "size", "seed", "scorer")}

    def address(self, **changes: Any) -> str:
        """Return the end of an address, with some of it changed."""
        one = replace(self, **{"row": None, "after": None, **changes})
        given = {each.name: getattr(one, each.name) for each in fields(one)}
        return f"?{urlencode({name: value for name, value in given.items() if value is not None})}"


class LabelTask(NamedTuple):
    """What is on the page: a row, or None when all of the sample are labelled, and how far it is."""

    row: ViewRow | None
    answer: Answer | None  # what its reader said of this row before
    done: int
    total: int
    back: int | None  # the row that was labelled last


class LabelDesk:
    """Hands out rows and takes labels; any thread may use it."""

    def __init__(self, file: str | Path | None = None, annotator: str | None = None) -> None:
        self.annotator = _login_name() if annotator is None else annotator
        self.proof = secrets.token_urlsafe(18)  # what forms of our own pages have, and nobody else can know
        self._file = None if file is None else LabelFile(file)
        self._drawn: OrderedDict[tuple[Any, ...], tuple[list[DrawnRow], int]] = OrderedDict()

    def file(self, index: RowIndex) -> LabelFile:
        """Return the file of labels for a run."""
        return self._file or LabelFile.beside(index.source.path)

    def task(self, index: RowIndex, query: LabelQuery) -> LabelTask:
        """Return the next row to label, or the one that was asked for."""
        drawn, _ = self._sample(index, query)
        mine = self._mine(index)
        # Whoever chose a row as hard has not yet labelled it for an estimate.
        places = {one.row for one in drawn}
        done = {
            one.row for one in mine if one.row in places and (one.probability is not None or query.kind == "uncertain")
        }
        wanted = next((one for one in drawn if one.row == query.row), None) or next_row(drawn, done, query.after)
        before = list(dict.fromkeys(one.row for one in mine if one.row in places))
        if wanted is not None and wanted.row in before:
            before = before[: before.index(wanted.row)]
        back = before[-1] if before else None
        if wanted is None:
            return LabelTask(None, None, len(done), len(drawn), back)
        said = next((one.answer for one in reversed(mine) if one.row == wanted.row), None)
        answer = said if wanted.row in done else None
        return LabelTask(index.row(wanted.row), answer, len(done), len(drawn), back)

    def answer(self, index: RowIndex, query: LabelQuery, number: int, answer: Answer, *, shown: str) -> bool:
        """Write what was said of a row, and return True; where it is not the row that was `shown`, write nothing."""
        drawn, rows = self._sample(index, query)
        # The label has the texts of this very reading, so nobody can change them behind the comparison.
        row = index.row(number)
        if not hmac.compare_digest(digest_of(index, row).encode(), shown.encode()):
            return False
        one = next((each for each in drawn if each.row == number), None)
        if one is None:
            raise UsageError("This row is not in the sample: the run may have changed.", code="no-such-row")
        known = material_of(row)
        material: dict[str, Any] = {"question": known.question, "reference": list(known.references) or None}
        material |= {"response": known.response or "", "criteria": known.criteria}
        label = Label(
            number,
            row.id,
            answer,
            self.annotator,
            one.probability,
            query.sample.note(rows, _scorer_name(index, query.scorer)),
            {name: value for name, value in material.items() if value is not None},
            run=index.source.path.name,
        )
        self.file(index).append(label)
        return True

    def figures(self, index: RowIndex, query: LabelQuery) -> tuple[LabelFigures, LabelQuery]:
        """Return what the labels say, and the sample that has more to label."""
        labels, unread = self.file(index).read()
        scorer = query.scorer
        is_current = _matcher(index)
        name = index.source.path.name
        # Labels of the same answers serve a run of another judge, too.
        ours = [one for one in labels if one.run == name or is_current(one)]
        verdicts = _verdicts(index, scorer)
        found = figures_of_labels(ours, verdicts, scorer=_scorer_name(index, scorer), is_current=is_current)
        # More of the sample that was labelled last, so that those labels are part of it.
        samples = [one.sample for one in ours if one.probability is not None and one.run == name]
        kind, seed = (samples[-1].get("kind"), samples[-1].get("seed")) if samples else (query.kind, query.seed)
        if kind in KINDS and isinstance(seed, int) and seed >= 0:
            query = replace(query, kind=str(kind), seed=seed)
        wanted = found.used + found.left_out.total() + (found.more or 0)
        # Lines of the file that are not labels are not part of any sample.
        found.left_out.update(unread)
        return found, replace(query, size=min(max(wanted, 1), MOST))

    def _mine(self, index: RowIndex) -> list[Label]:
        name = index.source.path.name
        return [one for one in self.file(index).read()[0] if one.annotator == self.annotator and one.run == name]

    def _sample(self, index: RowIndex, query: LabelQuery) -> tuple[list[DrawnRow], int]:
        """Return a sample, and how many rows it was drawn from."""
        if index.source.is_running:
            raise UsageError("This run is still being written: label it when it is done.", code="in-use")
        # The file may have been replaced since the page was made; an index that is up to date reads nothing.
        index.refresh()
        key = (index.source.path, index.source.stamp, query.sample, query.scorer)
        found = self._drawn.get(key)
        if found is None:
            verdicts = list(_verdicts(index, query.scorer, with_probability=query.kind == "uncertain"))
            if not verdicts:
                raise UsageError("No row of this run has a verdict, so there is nothing to compare labels with.")
            found = draw(query.sample, verdicts), len(verdicts)
            # Several requests may come at once: each keeps what it found, whoever writes last.
            self._drawn = OrderedDict([*list(self._drawn.items())[1 - KEPT :], (key, found)])
        return found


def digest_of(index: RowIndex, row: ViewRow) -> str:
    """Return what tells whether a row is still what a reader saw: the run, and the texts of the row."""
    what = [index.source.identity, row.number, row.id, *material_of(row)]
    return blake2b(json.dumps(what).encode(), digest_size=16).hexdigest()


def label_figures(
    run: str | Path, *, labels: str | Path | None = None, scorer: str | None = None, cache: str | Path | None = None
) -> LabelFigures:
    """Return what the labels of a run say, as the page of its labels shows it.

    `labels` is their file, if not the one beside the run; `scorer` is the judge that they are compared with, if not the
    run's own.
    """
    index = RowIndex(open_source(Path(run)), None if cache is None else Path(cache))
    try:
        index.refresh()
        about = index.source.about
        if scorer is not None and scorer not in about.scorers:
            raise UsageError(f"{run} has no scorer {scorer!r:.100}{closest(scorer, about.scorers)}", code="bad-option")
        at = about.judged or 0 if scorer is None else about.scorers.index(scorer)
        return LabelDesk(labels, "").figures(index, LabelQuery(scorer=at))[0]
    finally:
        index.close()


def _verdicts(index: RowIndex, scorer: int, *, with_probability: bool = False) -> Iterator[RowVerdict]:
    """Give the verdict of every row that has one; a value outside 0..1 is its nearest end."""
    if not with_probability:
        for number, value in index.values(scorer):
            yield RowVerdict(number, min(max(value, 0.0), 1.0))
        return
    name = _scorer_name(index, scorer)
    for row in index.source.rows(0):
        score = (row.scores or {}).get(name)
        if score is not None and score.value is not None:
            sure = score.parts.get("probability")
            # A graded score says by itself how sure it is.
            sure = score.value if sure is None and 0.0 < score.value < 1.0 else sure
            yield RowVerdict(row.number, min(max(score.value, 0.0), 1.0), sure)


def _matcher(index: RowIndex) -> Callable[[Label], bool]:
    """Return a function that says whether a label is about the response that the run has in that row."""
    known: dict[int, tuple[str, str] | None] = {}

    def is_current(one: Label) -> bool:
        if one.row not in known:
            try:
                row = index.row(one.row)
                known[one.row] = row.id, material_of(row).response or ""
            except (RunError, UsageError):
                known[one.row] = None
        return known[one.row] == (one.id, one.material.get("response", ""))

    return is_current


def _scorer_name(index: RowIndex, scorer: int) -> str:
    names = index.source.about.scorers
    return names[scorer] if scorer < len(names) else ""


def _login_name() -> str:
    """Return the name of this user; a container may have none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "annotator"
