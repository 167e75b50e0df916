r"""Kinds of code in which every character counts, each in one writing: addresses, files, keys, commands, ids.

"http://www.Example.org/a/"  ->  "example.org/a";  "Control-C"  ->  "ctrl+c";  "+49 (30) 1234567"  ->  "49301234567"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import normalize

Reader = Callable[[str], str | None]
"""Returns a text in one writing, if it is of a kind."""

_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"]+", re.IGNORECASE)
_HOST = re.compile(r"(?:https?://)?(?:www\.)?([\w-]+(?:\.[\w-]+)*\.[a-z]{2,})(/[^\s<>\"]*)?", re.IGNORECASE)
_DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s?)?(10\.\d{4,}/\S+)", re.IGNORECASE)
_TAG = re.compile(r"</?([a-z][a-z\d-]*)\s?/?>")
_LITERAL = re.compile(r"(?=.*[,:\"'])(?:\[.*\]|\{.*\}|\(.*\))")
_MAIL = re.compile(r"<?(?:mailto:)?([^\s@<>]+@[^\s@<>]+\.\w+)>?", re.IGNORECASE)
_PATH = re.compile(r"(?:(?:~|\.{1,2})?/|[A-Za-z]:[/\\])[\w.+-]+(?:[/\\][\w.+-]+)*[/\\]?")
_FILE = re.compile(
    r"(?:[\w+-]+/)*[\w.+-]*\.(?:py|pyc|js|jsx|ts|tsx|json|xml|ya?ml|toml|ini|cfg|conf|txt|md|rst|html?|css|csv|tsv|sql"
    r"|sh|bat|java|c|h|cpp|hpp|cs|go|rs|rb|php|exe|dll|zip|tar|gz|pdf|png|jpe?g|gif|svg|log|lock|env|ipynb|gradle|mod)"
)
_LIBRARY = re.compile(r"([A-Za-z][A-Za-z\d]+?)(?:\.js|JS)")
_LANGUAGES = {
    "javascript": "javascript", "js": "javascript", "typescript": "typescript", "ts": "typescript", "c++": "c++",
    "cpp": "c++", "c#": "c#", "c sharp": "c#", "csharp": "c#", "f#": "f#", "f sharp": "f#", ".net": ".net",
    "dotnet": ".net", "golang": "go", "postgresql": "postgresql", "postgres": "postgresql", "java": "java",
}  # fmt: skip
_COLOUR = re.compile(r"#(?:[\da-fA-F]{6}|(?!\d{3})[\da-fA-F]{3})")
_KEY = re.compile(
    r"(?:ctrl|control|alt|option|shift|cmd|command|win|windows|super|meta)(?:\s*[-+]\s*|\s)"
    r"(?:\w+(?:\s*[-+]\s*|\s)){0,2}\w+",
    re.IGNORECASE,
)
_KEYS = {"control": "ctrl", "command": "cmd", "option": "alt", "windows": "win", "escape": "esc", "delete": "del"}
_KEYS |= {"return": "enter", "spacebar": "space", "insert": "ins"}
_PATTERN = re.compile(r"(?=.*(?:\\[dwsbDWSB]|\[\^?[\w-]+\]|\.\*))\S+")
_OPERATOR = re.compile(r"[=<>!&|+*/%^~?:@-]{1,4}")
_SQL = re.compile(
    r"SELECT(?: DISTINCT)?|FROM|WHERE|HAVING|(?:GROUP|ORDER|SORT|PARTITION) BY|UNION(?: ALL)?|INTERSECT|EXCEPT|DISTINCT"
    r"|(?:(?:LEFT|RIGHT|FULL|INNER|CROSS|NATURAL) )?(?:OUTER )?JOIN|INSERT(?: INTO)?|UPDATE|DELETE|TRUNCATE(?: TABLE)?"
    r"|DROP(?: TABLE)?|(?:CREATE|ALTER) TABLE|LIMIT|OFFSET|BETWEEN|LIKE|COUNT|COMMIT|ROLLBACK|UNIQUE|NOT NULL"
    r"|(?:PRIMARY|FOREIGN) KEY"
)
_PROGRAMS = frozenset(
    """git hg svn npm npx yarn pnpm pip pip3 conda brew apt apt-get docker kubectl cargo rustup ls cd mv cp rm grep sed
    awk chmod chown mkdir rmdir sudo ssh scp curl wget tar ps pwd df du dir""".split()
)
_NO_PROGRAM = re.compile(r"(?:sudo |python3? -m )(?=\w)")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_OPTIONS = re.compile(r"-[A-Za-z]{2,}")
_NAME = re.compile(r"@?[A-Za-z_]\w*(?:[.-]\w+)*(?:\(\))?")
_IDENTIFIER = re.compile(r"@[a-z]\w+|[\w.]+\(\)|[a-z\d]+(?:_[a-z\d]+)+|[A-Z\d]+(?:_[A-Z\d]+)+")
_WORD = re.compile(r"[a-z]{2,}(?:-[a-z]+)*(?:[A-Z][a-z]+)*")
_NULLS = frozenset(("none", "null", "nil", "undefined", "nan", "nullptr"))
_FIGURES = re.compile(r"(?:(?:version|release)[: ]+|([^\W\d_]+) )?v?(\d+(?:\.\d+){1,4}(?:-\w+)?)", re.IGNORECASE)
_PARTS = re.compile(r"[\s.()/+#-]+|(?<=[\da-fA-F]{2}):(?=[\da-fA-F]{2})")
_ID = re.compile(r"#?(?:[A-Z\d]{1,6}[ -])*[A-Z\d]{2,}")
_HEX = re.compile(r"[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|(?:[\da-f]{2}[:-]){5}[\da-f]{2}", re.IGNORECASE)
_PHONE = re.compile(r"(?:\+|\(|\d+[ .()/-]+\d)[\d ().X/-]{5,}")
_THOUSANDS = re.compile(r"\d{1,3}(?:[ .]\d{3})+|\d{4}[ -]+\d{4}|\d{1,4}[-./]\d\d?[-./]\d{1,4}")
_ERA = re.compile(r"(?:A\.?D|B?CE?|USD?|EUR|GBP|CHF|INR|AM|PM|FY|NO|KM|KG|II+|IV|VI+) |\d+ ?[A-Z]{1,3}$")


def read_address(text: str) -> str | None:
    """Read an address of the web; the scheme, `www.` and a slash at the end do not count."""
    match = _HOST.fullmatch(text.rstrip(".,;"))
    return None if match is None else match[1].lower() + (match[2] or "").rstrip("/")


def read_doi(text: str) -> str | None:
    """Read the number of a paper."""
    match = _DOI.fullmatch(text)
    return None if match is None else match[1].lower()


def read_tag(text: str) -> str | None:
    """Read a tag of HTML, perhaps without its brackets."""
    match = _TAG.fullmatch(text if text.startswith("<") else f"<{text}>")
    return None if match is None else match[1]


def read_literal(text: str) -> str | None:
    """Read a list, a tuple, a set or an object as a program prints it; the order in a set does not count."""
    if _LITERAL.fullmatch(text) is None:
        return None
    plain = "".join(text.split()).replace("'", '"')
    return "{" + ",".join(sorted(plain[1:-1].split(","))) + "}" if plain[0] == "{" else plain


def read_mail(text: str) -> str | None:
    """Read an address of mail in small letters."""
    match = _MAIL.fullmatch(text.rstrip(".,;"))
    return None if match is None else match[1].lower()


def read_file(text: str) -> str | None:
    """Read the name or the path of a file."""
    if not (_PATH.fullmatch(text) or _FILE.fullmatch(text)):
        return None
    text = text.replace("\\", "/").removeprefix("./")
    return (text.rstrip("/") or text).lower()


def read_colour(text: str) -> str | None:
    """Read a colour in six figures: `#f00` is `#ff0000`."""
    if len(text) == 6:
        text = f"#{text}"
    if _COLOUR.fullmatch(text) is None:
        return None
    figures = text[1:].lower()
    return figures if len(figures) == 6 else "".join(one * 2 for one in figures)


def read_keys(text: str) -> str | None:
    """Read keys that are pressed together; their order does not count but for the last."""
    if _KEY.fullmatch(text) is None:
        return None
    *held, last = (_KEYS.get(one, one) for one in re.split(r"[\s+-]+", text.lower()))
    return (
        "+".join((*sorted(held), last)) if len(last) == 1 or last in _KEYS.values() else "+".join(sorted((*held, last)))
    )


def read_pattern(text: str) -> str | None:
    """Read a regular expression, perhaps between slashes."""
    if _PATTERN.fullmatch(text) is None:
        return None
    return (text[1:-1] if len(text) > 2 and text[0] == text[-1] == "/" else text).replace("[0-9]", r"\d")


def read_operator(text: str) -> str | None:
    """Read the sign of an operation."""
    return text if _OPERATOR.fullmatch(text) else None


def read_sql(text: str) -> str | None:
    """Read a word of SQL."""
    text = " ".join(text.upper().rstrip(";").split())
    return text.replace("OUTER ", "") if _SQL.fullmatch(text) else None


def read_command(text: str) -> str | None:
    """Read a command of a shell: its words, with short options one by one and in order."""
    found: list[str] = []
    for word in _NO_PROGRAM.sub("", text.strip().rstrip(";"), count=1).split():
        found += [f"-{one}" for one in word[1:]] if _OPTIONS.fullmatch(word) else [word]
    if not found or found[0].lower() not in _PROGRAMS:
        return None
    start = next((at for at, word in enumerate(found) if word[0] == "-"), len(found))
    end = next((at for at in range(start, len(found)) if found[at][0] != "-"), len(found))
    return " ".join((found[0].lower(), *found[1:start], *sorted(found[start:end]), *found[end:]))


def read_flag(text: str) -> str | None:
    """Read an option of a command; of one letter, `-v` is not `-V`."""
    if _FLAG.fullmatch(text) is None:
        return None
    return text if len(text) == 2 else text.lower()


def read_name(text: str) -> str | None:
    """Read a name in a program: `print()` is `print`."""
    text = text.rstrip(";")
    return text.removesuffix("()").lstrip("@") if _NAME.fullmatch(text) else None


def read_null(text: str) -> str | None:
    """Read a word for nothing."""
    return text.lower() if text.lower() in _NULLS else None


def read_figures(text: str) -> str | None:
    """Read figures with points between them: a version, an address of a machine."""
    match = _FIGURES.fullmatch(text)
    return None if match is None else " ".join(filter(None, match.groups())).lower()


def read_id(text: str) -> str | None:
    """Read letters and figures without what separates them."""
    plain = _PARTS.sub("", normalize("NFKC", text).replace("(0)", "")).lower()
    is_id = plain.isalnum() and plain.isascii() and sum(map(str.isdigit, plain)) >= 2
    return plain if is_id and not re.search(r"[a-z]{5}", plain) else None


def read_language(text: str) -> str | None:
    """Read the name of a programming language that has another one."""
    return _LANGUAGES.get(text.lower())


def read_library(text: str) -> str | None:
    """Read the name of a library of JavaScript: `Vue.js` and `VueJS` are `vue`."""
    match = _LIBRARY.fullmatch(text)
    return None if match is None else match[1].lower()


def _is_id(text: str) -> bool:
    if _HEX.fullmatch(text):
        return True
    figures = sum(map(str.isdigit, text))
    if _PHONE.fullmatch(text):
        return figures >= 9 and _THOUSANDS.fullmatch(text) is None
    is_mixed = any(map(str.isupper, text)) or text.startswith("#")
    is_long = figures >= 2 and re.search(r"[A-Z]{5}", text) is None
    return is_mixed and is_long and _ID.fullmatch(text) is not None and _ERA.match(text) is None


READERS: dict[str, tuple[Callable[[str], object], Reader]] = {
    "address": (_URL.fullmatch, read_address),
    "doi": (read_doi, read_doi),
    "tag": (_TAG.fullmatch, read_tag),
    "literal": (read_literal, read_literal),
    "mail": (read_mail, read_mail),
    "library": (lambda text: text[:1].isupper() and _LIBRARY.fullmatch(text), read_library),
    "language": (read_language, read_language),
    "figures": (read_figures, read_figures),
    "file": (read_file, read_file),
    "colour": (_COLOUR.fullmatch, read_colour),
    "keys": (read_keys, read_keys),
    "command": (read_command, read_command),
    "flag": (read_flag, read_flag),
    "id": (_is_id, read_id),
    "sql": (_SQL.fullmatch, read_sql),
    "null": (read_null, read_null),
    "name": (_IDENTIFIER.fullmatch, read_name),
    "word": (_WORD.fullmatch, read_name),
    "operator": (read_operator, read_operator),
    "pattern": (read_pattern, read_pattern),
}
"""By kind: whether a reference is plainly of it, and how it is read."""
