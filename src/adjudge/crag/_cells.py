r"""Text in the cells of a CSV file: nothing that a spreadsheet would run, and it reads back equal.

=1+1     ->  '=1+1       -40  ->  -40 (a plain number is none)      '=1+1  ->  ''=1+1
a\0b     ->  json:"a\u0000b"       what UTF-8 or other readers cannot take, as a JSON string
"""

import json
import re

_FORMULA = "=+-@\t\r\n＝＋－＠"
_SUSPECT = frozenset("'" + _FORMULA)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
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


def unfit(cell: str) -> str:
    """Return the text that `fit` was given; raises `ValueError` where the cell is none that it gave."""
    if not cell.startswith(_AS_JSON):
        return cell
    text = json.loads(cell.removeprefix("json:"))
    if not isinstance(text, str):
        raise ValueError("not a JSON text")  # noqa: TRY004 (one error for every cell that cannot be read)
    return text
