"""Rows of conversations, in the layouts that CRAG-MM and its relatives have, as conversations.

    {"session_id": "s1", "image": ..., "image_url": None,
     "turns": {"interaction_id": ["i1"], "query": ["What is it?"], "domain": [3], ...},       a list a column,
     "answers": {"interaction_id": ["i1"], "ans_full": ["A lute."]}}
    {"session_id": "s1", "turns": [{"interaction_id": "i1", "query": "What is it?", ...}],    or a mapping a turn
     "answers": [{"interaction_id": "i1", "ans_full": "A lute."}]}
    {"id": "q1", "question": "Capital of France?", "answer": "Paris"}                         or one question a row

Pure: what a row lacks or has wrong is a `RowError` that names the place, the field and what was probably meant.
"""

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adjudge.datasets._labels import LABELS
from adjudge.errors import RowError, closest
from adjudge.model import Conversation, Turn

QUESTIONS = ("question", "query", "prompt", "input")
ANSWERS = ("answer", "answers", "ground_truth", "reference", "references", "ans_full")
SESSIONS = ("session_id", "conversation_id")
IDS = ("interaction_id", "id")
_OPTIONAL = ("image", "image_url", "image_quality")
_REQUIRED = frozenset({"session_id", "turns", "answers", "interaction_id", "query"})


class LayoutTurn(NamedTuple):
    """One turn as it was read."""

    identity: str
    query: str
    references: tuple[str, ...]
    labels: dict[str, int | str | None]


class Parts(NamedTuple):
    """What a conversation is made of."""

    session: str
    turns: list[LayoutTurn]
    url: str | None
    is_ego: bool


def is_conversation_row(row: Mapping[str, Any]) -> bool:
    """Say whether a row holds a whole conversation; else it is one question."""
    return "turns" in row or not any(name in row for name in QUESTIONS)


def conversation_of(row: Mapping[str, Any], place: str, *, require_answers: bool = True) -> Parts:
    """Read a row that holds a whole conversation."""
    if "turns" not in row:
        hint = closest("turns", row) or closest("question", row)
        message = f"{place}: the row has neither 'turns' (a conversation) nor 'question' (one question)"
        raise RowError(f"{message}{hint or f'; it has {_names(row)}'}")
    _refuse_misspelt(row, _OPTIONAL, place)
    session = _identity(row, "session_id", place)
    turns = _records(row["turns"], f"{place}: turns", "query")
    answers = _answers(row, place, require_answers)
    found: list[LayoutTurn] = []
    for index, fields in enumerate(turns):
        where = f"{place}: turns[{index}]"
        _refuse_misspelt(fields, LABELS, where)
        identity = _identity(fields, "interaction_id", where)
        query = _text(fields, "query", where)
        # A turn without its answer would count as wrong for every agent.
        if require_answers and identity not in answers:
            message = f"{where}: no answer has its interaction_id {identity!r}"
            raise RowError(f"{message}{closest(identity, answers)}")
        gold = answers.get(identity)
        found.append(LayoutTurn(identity, query, () if gold is None else (gold,), _labels(fields, row, where)))
    if not found:
        raise RowError(f"{place}: turns: there is none")
    url = url_of(row, place)
    return Parts(session, found, url, is_ego=url is None)


def question_of(row: Mapping[str, Any], place: str, *, require_answers: bool = True) -> LayoutTurn:
    """Read a row that is one question, by itself or as a turn of a conversation; without an id its place is its id."""
    name = next(name for name in QUESTIONS if name in row)
    given = _first(row, ANSWERS)
    if given is None and require_answers:
        raise RowError(f"{place}: the row has no 'answer'{closest('answer', row)}")
    own = _first(row, IDS)
    identity = place if own is None else _identity(row, own, place)
    references = () if given is None else _references(row[given], f"{place}: {given}")
    return LayoutTurn(identity, _text(row, name, place), references, _labels(row, {}, place))


def raw_session(row: Mapping[str, Any]) -> str | None:
    """Return what a question calls its conversation, in a form that can be compared whatever it is."""
    name = _first(row, SESSIONS)
    return None if name is None else repr(row[name])


def session_of(row: Mapping[str, Any], place: str) -> str | None:
    """Return which conversation a question belongs to, if it says so."""
    name = _first(row, SESSIONS)
    return None if name is None else _identity(row, name, place)


def build(parts: Parts, image: str | None) -> Conversation:
    """Make a conversation; its cases have the columns of the CRAG-MM turn data among their metadata."""
    about = {
        "session_id": parts.session,
        "is_ego": parts.is_ego,
        "image_url": parts.url,
        "total_turn_count": len(parts.turns),
    }
    turns = (
        Turn(query, references, image, identity, {"interaction_id": identity, "turn_idx": index, **labels})
        for index, (identity, query, references, labels) in enumerate(parts.turns)
    )
    return Conversation(parts.session, tuple(turns), about)


def url_of(row: Mapping[str, Any], place: str) -> str | None:
    """Return where the image is on the web; None, nothing and NaN all mean nowhere."""
    url = _whole(row.get("image_url"))
    if url is None or isinstance(url, str):
        return (url or "").strip() or None
    raise RowError(f"{place}: image_url: must be text, got {_said(url)}")


def flag_of(row: Mapping[str, Any], name: str, place: str) -> bool | None:
    """Return a column that is true, false or not there; in CSV it is a word."""
    value = _whole(row.get(name))
    if isinstance(value, str):
        value = {"": None, "true": True, "false": False}.get(value.strip().lower(), value)
    if value is None or isinstance(value, bool):
        return value
    raise RowError(f"{place}: {name}: must be true or false, got {_said(value)}")


def number_of(row: Mapping[str, Any], name: str, place: str) -> int | None:
    """Return a column that is a whole number or not there; in CSV it is a text."""
    value = _whole(row.get(name))
    if isinstance(value, str):
        # Digits of other scripts and numbers beyond 64 bits are not taken for numbers.
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 19 else value or None
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise RowError(f"{place}: {name}: must be a whole number, got {_said(value)}")


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of the names under which the row has something; nothing, no text and NaN are not."""
    values = ((name, _whole(row.get(name))) for name in names)
    return next((name for name, value in values if not (value is None or (isinstance(value, str) and not value))), None)


def _answers(row: Mapping[str, Any], place: str, required: bool) -> dict[str, str]:
    if row.get("answers") is None:
        if required:
            raise RowError(f"{place}: the row has no 'answers'{closest('answers', row)}")
        return {}
    answers: dict[str, str] = {}
    for index, fields in enumerate(_records(row["answers"], f"{place}: answers", "ans_full")):
        where = f"{place}: answers[{index}]"
        identity = _identity(fields, "interaction_id", where)
        # Which of two answers is meant cannot be guessed.
        if identity in answers:
            raise RowError(f"{where}: interaction_id {identity!r} occurs twice among the answers")
        if fields.get("ans_full") is None and not required:
            continue
        answers[identity] = _text(fields, "ans_full", where)
    return answers


def _records(value: Any, where: str, text: str) -> list[Mapping[str, Any]]:
    """Return a mapping a record, from either layout: a list of mappings, or a mapping of lists."""
    if isinstance(value, Mapping):
        # Some data sets write a single record without a list around it.
        if isinstance(value.get(text), str):
            return [value]
        columns = {str(name): _as_list(column, f"{where}.{name}") for name, column in value.items()}
        sizes = {name: len(column) for name, column in columns.items()}
        # Columns of different lengths cannot be cut into records.
        if len(set(sizes.values())) > 1:
            lengths = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise RowError(f"{where}: the columns have different lengths: {lengths}")
        count = next(iter(sizes.values()), 0)
        return [{name: column[index] for name, column in columns.items()} for index in range(count)]
    records = _as_list(value, where)
    for index, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise RowError(f"{where}[{index}]: must be a mapping, got {_said(record)}")
    return records


def _as_list(value: Any, where: str) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value)
    # An array of a data library is a list here.
    if hasattr(value, "tolist") and isinstance(listed := value.tolist(), list):
        return listed
    raise RowError(f"{where}: must be a list, got {_said(value)}")


def _identity(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if type(value) is not str:
        value = _whole(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return _text(row, name, where)


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    if name not in row:
        raise RowError(f"{where}: there is no {name!r}{closest(name, row) or f'; it has {_names(row)}'}")
    value = row[name]
    if not isinstance(value, str):
        raise RowError(f"{where}: {name}: must be text, got {_said(value)}")
    if not value.strip():
        raise RowError(f"{where}: {name}: is empty")
    return value


def _references(value: Any, where: str) -> tuple[str, ...]:
    # SQuAD writes answers as {"text": [...], "answer_start": [...]}.
    if isinstance(value, Mapping) and "text" in value:
        value = value["text"]
    texts = [value] if isinstance(value, str | int | float) and not isinstance(value, bool) else _as_list(value, where)
    # Data sets often hold numbers as answers.
    texts = [str(text) if isinstance(text, int | float) and not isinstance(text, bool) else text for text in texts]
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise RowError(f"{where}: must be text that is not empty, or a list of such, got {_said(text)}")
    if not texts:
        raise RowError(f"{where}: is an empty list")
    return tuple(texts)


def _labels(turn: Mapping[str, Any], row: Mapping[str, Any], where: str) -> dict[str, int | str | None]:
    """Return the labels of a turn; the quality of the image may be beside the image."""
    labels: dict[str, int | str | None] = {}
    for name in LABELS:
        value = turn.get(name)
        if value is None and name == "image_quality":
            value = row.get(name)
        labels[name] = _label(value, f"{where}: {name}")
    return labels


def _label(value: Any, where: str) -> int | str | None:
    # Nearly every label is a whole number already.
    if value is None or type(value) is int:
        return value
    # Of a list the first element counts.
    if hasattr(value, "__len__") and not isinstance(value, str | Mapping):
        value = value[0] if len(value) else None
    value = _whole(value)
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    raise RowError(f"{where}: must be a number or a name, got {_said(value)}")


def _whole(value: Any) -> Any:
    """Return a whole number as an int, whatever library it came from; NaN, a table's word for nothing, as None."""
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value  # noqa: PLR0124 (NaN)
    # A truth value has an index too, but is not a number here.
    if isinstance(value, bool) or hasattr(value, "__len__") or not hasattr(value, "__index__"):
        return value
    return operator.index(value)


def _refuse_misspelt(given: Mapping[str, Any], optional: Sequence[str], where: str) -> None:
    """Refuse a field that is nearly an optional one: left out without a word, it would change the numbers."""
    from difflib import get_close_matches

    others = [str(other) for other in given if other not in optional and other not in _REQUIRED]
    for name in optional if others else ():
        if name in given:
            continue
        if near := get_close_matches(name, others, n=1, cutoff=0.87):
            raise RowError(f"{where}: there is no field {near[0]!r}; did you mean {name!r}?")


def _names(row: Mapping[str, Any]) -> str:
    names = [repr(str(name)) for name in row]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "") if names else "no fields"


def _said(value: object) -> str:
    if value is None:
        return "nothing"
    shown = repr(value) if isinstance(value, bool | int | float | str) else ""
    return f"{type(value).__name__} {shown[:40]}".strip()
