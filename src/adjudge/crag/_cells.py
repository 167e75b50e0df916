r"""Text in the cells of a CSV file: nothing that a spreadsheet would run, and it reads back equal.

=1+1     ->  '=1+1       -40  ->  -40 (a plain number is none)      '=1+1  ->  ''=1+1
a\0b     ->  json:"a\u0000b"       what UTF-8 or other readers cannot take, as a JSON string
"""

import json
import re

_FORMULA = "=+-@\t\r\n＝＋－＠"
_SUSPECT = frozenset("'" + _FORMULA)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_AS_JSON = 'json:"'
_UNFIT = re.compile("[\0\ud800-\udfff]")


def guard(text: str) -> str:
    """Return the text with a leading apostrophe if a spreadsheet would run it as a formula.

    >>> guard("=1+1"), guard("-40"), guard("-40 degrees"), guard("'=1")
    ("'=1+1", '-40', "'-40 degrees", "''=1")
    """
    return f"'{text}" if text[:1] in _SUSPECT and _runs(text) else text


def unguard(cell: str) -> str:
    """Return the text that `guard` was given.

    >>> unguard("'=1+1"), unguard("'tis"), unguard("''=1")
    ('=1+1', "'tis", "'=1")
    """
    return cell[1:] if cell[:1] == "'" and _runs(cell[1:]) else cell


def _runs(text: str) -> bool:
    bare = text.lstrip("'")
    return bare[:1] in _SUSPECT and bare != "" and _NUMBER.fullmatch(bare) is None


def fit(text: str) -> str:
    r"""Return text that UTF-8 and other readers of CSV can take: as JSON if there is NUL or half a character in it.

    >>> fit("a\0"), fit("a"), fit('json:"')
    ('json:"a\\u0000"', 'a', 'json:"json:\\""')
    """
    return f"json:{json.dumps(text)}" if text.startswith(_AS_JSON) or _UNFIT.search(text) else text


def is_fit(text: str) -> bool:
    """Tell at once that nothing in a long text needs `fit`."""
    if "\0" in text or _AS_JSON in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def unfit(cell: str) -> str:
    """Return the text that `fit` was given; raises `ValueError` where the cell is none that it gave."""
    if not cell.startswith(_AS_JSON):
        return cell
    text = json.loads(cell.removeprefix("json:"))
    if not isinstance(text, str):
        raise ValueError("not a JSON text")  # noqa: TRY004 (one error for every cell that cannot be read)
    return text


def category_text(value: int | str | None) -> str:
    """Return a category as text, so that a name cannot be taken for a number, or for nothing.

    >>> category_text(3), category_text("sports"), category_text("3"), category_text(None)
    ('3', 'sports', '"3"', '')
    """
    if isinstance(value, str):
        return json.dumps(value) if not value or value[0] == '"' or _WHOLE.fullmatch(value) else value
    return "" if value is None else str(value)


def category_of(text: str) -> int | str | None:
    """Return the category that `category_text` was given; raises `ValueError` where it gave no such text."""
    if not text or text[0] == '"':
        return str(json.loads(text)) if text else None
    return int(text) if _WHOLE.fullmatch(text) else text
