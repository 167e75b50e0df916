"""Conversations out of rows, one after the other: memory holds those that somebody keeps.

    for read in read_conversations("crag-mm/validation.parquet", num_conversations=100):
        read.conversation.turns[0].question, read.image.load()

A row that cannot be used raises `RowError`, or goes to `on_fault` and the others go on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.datasets._image import Fetch, RowImage, WebImage, image_source
from adjudge.datasets._labels import Vocabulary
from adjudge.datasets._layout import (
    LayoutTurn,
    Parts,
    build,
    conversation_of,
    flag_of,
    is_conversation_row,
    number_of,
    question_of,
    raw_session,
    session_of,
    url_of,
)
from adjudge.datasets._repeats import IdTable
from adjudge.datasets._sources import PlacedRow, RowSource, open_source
from adjudge.errors import RowError, UsageError
from adjudge.model import Conversation

OnFault = Callable[[RowError], None]


class ConversationRead(NamedTuple):
    """A conversation as it was read: with its image, if it has one, and its place."""

    conversation: Conversation
    image: RowImage | None
    place: str


@dataclass(frozen=True, slots=True)
class Conversations:
    """The conversations of a data set, read as they are asked for.

    `vocabularies` name the labels (`domain`, `query_category`, `dynamism`, `image_quality`); `count` is how many rows
    there are, where that is known without reading them.
    """

    source: RowSource = field(repr=False)
    num_conversations: int | None = None
    image_folder: Path | None = None
    fetch: Fetch | None = field(default=None, repr=False)
    require_answers: bool = True
    on_fault: OnFault | None = field(default=None, repr=False)

    @property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        """The names of the labels, by column."""
        return self.source.vocabularies

    @property
    def count(self) -> int | None:
        """How many conversations there will be at most, if that is known."""
        known, wanted = self.source.count, self.num_conversations
        return wanted if known is None else known if wanted is None else min(known, wanted)

    def __iter__(self) -> Iterator[ConversationRead]:
        return islice(_Reading(self).conversations(), self.num_conversations)


def read_conversations(
    source: Any,
    *,
    split: str | None = None,
    num_conversations: int | None = None,
    image_folder: str | Path | None = None,
    allow_hosts: Iterable[str] = (),
    require_answers: bool = True,
    on_fault: OnFault | None = None,
) -> Conversations:
    """Read conversations from a file, a folder, `hub:OWNER/NAME`, a mapping of splits, or rows in any iterable.

    Rows have a CRAG-MM layout, or are questions with answers; consecutive ones with one `session_id` are one
    conversation. `num_conversations` is how many whole conversations are read. Files that rows name lie in
    `image_folder`, by default beside the data; images are fetched from `allow_hosts` only. `on_fault` gets the error of
    each row that cannot be used; without it the first such error ends the reading.

    >>> rows = [{"question": "Capital of France?", "answer": "Paris"}]
    >>> [read.conversation.turns[0].references for read in read_conversations(rows)]
    [('Paris',)]
    """
    if num_conversations is not None and (type(num_conversations) is not int or num_conversations < 0):
        raise UsageError(f"num_conversations must be a whole number, not {num_conversations!r}")
    fetch = None
    if allow_hosts:
        from adjudge.datasets._fetch import ImageFetcher

        fetch = ImageFetcher(allow_hosts)
    found = open_source(source, split)
    folder = found.folder if image_folder is None else Path(image_folder)
    return Conversations(found, num_conversations, folder, fetch, require_answers, on_fault)


class _Reading:
    """One pass over a data set."""

    def __init__(self, data: Conversations) -> None:
        self._data = data
        self._seen = IdTable()

    def conversations(self) -> Iterator[ConversationRead]:
        """Give the conversations in order, those that cannot be used to `on_fault`."""
        for rows in _group_rows(self._data.source.rows()):
            try:
                read = self._read(rows)
            except RowError as error:
                if self._data.on_fault is None:
                    raise
                self._data.on_fault(error)
                continue
            yield read

    def _read(self, rows: list[PlacedRow]) -> ConversationRead:
        first = rows[0]
        if first.columns is None:
            raise RowError(first.fault or f"{first.place}: cannot be read")
        strict = self._data.require_answers
        if is_conversation_row(first.columns):
            parts = conversation_of(first.columns, first.place, require_answers=strict)
        else:
            parts = _of_questions(rows, require_answers=strict)
        self._refuse_repeats(parts, first)
        image = self._image(rows, parts.url)
        path = None if image is None else image.path
        return ConversationRead(build(parts, None if path is None else str(path)), image, first.place)

    def _image(self, rows: list[PlacedRow], url: str | None) -> RowImage | None:
        folder, fetch = self._data.image_folder, self._data.fetch
        for row in rows:
            # Decoded when somebody asks for it, not while rows are read.
            if row.late_image is not None:
                return RowImage(row.place, partial(_look_up_image, row, folder, url), fetch)
            source = image_source((row.columns or {}).get("image"), row.place, folder)
            if source is not None:
                return RowImage(row.place, source, fetch)
        return None if url is None else RowImage(rows[0].place, WebImage(url), fetch)

    def _refuse_repeats(self, parts: Parts, row: PlacedRow) -> None:
        before = self._seen.add(f"session {parts.session}", row.number)
        if before is not None:
            where = f"is also in {self._data.source.place_of(before)}"
            raise RowError(
                f"{row.place}: session_id {parts.session!r} {where}: the rows of a conversation must follow one another"
            )
        for turn in parts.turns:
            before = self._seen.add(f"turn {turn.identity}", row.number)
            if before is not None:
                place = self._data.source.place_of(before)
                where = "occurs twice in it" if before == row.number else f"is also in {place}"
                raise RowError(f"{row.place}: interaction_id {turn.identity!r} {where}")


def _group_rows(rows: Iterable[PlacedRow]) -> Iterator[list[PlacedRow]]:
    """Put together the rows of one conversation: one row, or questions of one session that follow on one another."""
    held: list[PlacedRow] = []
    session = None
    for row in rows:
        columns = row.columns
        # A row that is a whole conversation never joins its neighbours.
        its = None if columns is None or is_conversation_row(columns) else raw_session(columns)
        if held and (its is None or its != session):
            yield held
            held = []
        session = its
        if its is None:
            yield [row]
        else:
            held.append(row)
    if held:
        yield held


def _of_questions(rows: list[PlacedRow], *, require_answers: bool) -> Parts:
    """Make one conversation of its questions, in the order of their `turn_idx` where all have one."""
    turns: list[tuple[int, LayoutTurn]] = []
    session, url, is_ego = None, None, None
    for row in rows:
        columns, place = row.columns or {}, row.place
        turn = question_of(columns, place, require_answers=require_answers)
        index = number_of(columns, "turn_idx", place)
        turns.append((len(turns) if index is None else index, turn))
        session = session or session_of(columns, place)
        url = url or url_of(columns, place)
        is_ego = flag_of(columns, "is_ego", place) if is_ego is None else is_ego
    # Two turns in one place have no order.
    if len({index for index, _ in turns}) < len(turns):
        raise RowError(f"{rows[0].place}: two turns of session {session!r} have the same turn_idx")
    ordered = [turn for _, turn in sorted(turns, key=lambda one: one[0])]
    return Parts(session or ordered[0].identity, ordered, url, is_ego=url is None if is_ego is None else is_ego)


def _look_up_image(row: PlacedRow, folder: Path | None, url: str | None) -> Any:
    """Return the image of a row that is looked up only now."""
    value = None if row.late_image is None else row.late_image()
    source = image_source(value, row.place, folder)
    return WebImage(url) if source is None and url is not None else source
