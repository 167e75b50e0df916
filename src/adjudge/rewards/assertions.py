"""Assertions about one run, each 1 or 0: what the response says, its form and language, its sources, the tools.

contains_all("Paris, on the Seine", texts=["Paris", "Seine"])            1.0
matches_schema('{"city": "Paris"}', schema={"required": ["country"]})   0.0, with the reason
is_language("Oui.", language="fr")                                      unscored: too short to tell

In a scenario file they are scorers with arguments, and a scenario passes only where they are 1.
"""

import asyncio
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.errors import ArgumentError, MissingExtra
from adjudge.model import Provenance, Score
from adjudge.rewards._checks import (
    RANGE,
    UNKNOWN_TOOLS,
    may_be_hidden,
    number_in,
    quoted,
    shows_tools,
    texts_in,
    verdict,
)
from adjudge.rewards._records import record_of
from adjudge.rewards._tag import Row, by_row, reward
from adjudge.text.refusals import declines, reads_as_english
from adjudge.text.values import text_of

_FENCE = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)
_LINK = re.compile(r"https?://[^\s<>\"'`\]\[{}|\\^]+")
_LINK_ENDS = ".,;:!?)*_"
_MARKS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'})
_LARGEST = 1 << 20  # characters of JSON that is read
_PARTNERS = {"[": "]", "{": "}"}
_TOO_DEEP = "too-deep: the response is nested more deeply than can be read here"


@reward(binary=True, range=RANGE, parts=())
def contains_all(final_response: str | None, *, texts: Sequence[str], ignore_case: bool = True) -> dict[str, Any]:
    """1 if the response contains every one of the texts, else 0.

    >>> contains_all("Paris, on the Seine", texts=["paris", "Seine"])["reward"]
    1.0
    """
    found = _found(final_response, texts, ignore_case=ignore_case)
    missing = [text for text, is_there in found.items() if not is_there]
    return verdict(not missing, f"missing-text: it does not contain {quoted(missing)}")


@reward(binary=True, range=RANGE, parts=())
def contains_any(final_response: str | None, *, texts: Sequence[str], ignore_case: bool = True) -> dict[str, Any]:
    """1 if the response contains at least one of the texts, else 0.

    >>> contains_any("It is Lyon.", texts=["Paris", "Marseille"])["reason"]
    "missing-text: it contains none of 'Paris', 'Marseille'"
    """
    found = _found(final_response, texts, ignore_case=ignore_case)
    return verdict(any(found.values()), f"missing-text: it contains none of {quoted(found)}")


@reward(binary=True, range=RANGE, parts=())
def not_contains(final_response: str | None, *, texts: Sequence[str], ignore_case: bool = True) -> dict[str, Any]:
    """1 if the response contains none of the texts, else 0.

    >>> not_contains("As an AI, I cannot say.", texts=["as an AI"])["reward"]
    0.0
    """
    found = _found(final_response, texts, ignore_case=ignore_case)
    there = [text for text, is_there in found.items() if is_there]
    return verdict(not there, f"unwanted-text: it contains {quoted(there)}")


@reward(binary=True, range=RANGE, parts=())
def starts_with(final_response: str | None, *, texts: Sequence[str], ignore_case: bool = True) -> dict[str, Any]:
    """1 if the response begins with one of the texts, white space aside, else 0.

    >>> starts_with("  Yes, it is.", texts="yes")["reward"]
    1.0
    """
    wanted = texts_in(texts)
    text = _folded(text_of(final_response, "final_response"), ignore_case).lstrip()
    is_there = text.startswith(tuple(_folded(one, ignore_case) for one in wanted))
    return verdict(is_there, f"missing-text: it begins with none of {quoted(wanted)}")


def _regex_score(row: Row, provenance: Provenance) -> Score:
    found = _matches(row["final_response"], row["pattern"])
    if "unscored" in found:
        return Score.unscored(found["unscored"], provenance=provenance)
    return Score.scored(found["reward"], reason=found.get("reason"), provenance=provenance)


_regex_batch = by_row(_regex_score)


async def _regex_abatch(rows: Sequence[Row], provenance: Provenance) -> Sequence[Score]:
    """Wait for the worker process without holding up the event loop."""
    return await asyncio.to_thread(_regex_batch, rows, provenance)


@reward(binary=True, range=RANGE, parts=(), batch=_regex_batch, abatch=_regex_abatch)
def matches_regex(final_response: str | None, *, pattern: str) -> dict[str, Any]:
    r"""1 if the pattern is found in the response, else 0; the search runs in a process that is killed after a second.

    >>> matches_regex("Call 555-0199.", pattern=r"\d{3}-\d{4}")["reward"]
    1.0
    """
    return _matches(final_response, pattern)


def _matches(final_response: object, pattern: object) -> dict[str, Any]:
    from adjudge.processes import LONGEST_TEXT, PatternSearch, check_pattern, search_patterns

    checked = check_pattern(pattern, "pattern", code="bad-option")
    text = text_of(final_response, "final_response")
    if len(text) > LONGEST_TEXT:
        return {"unscored": f"too-large: the response has {len(text):,} characters, and {LONGEST_TEXT:,} are searched"}
    [found] = search_patterns([PatternSearch(checked, text)])
    if found is None:
        return {"unscored": "timeout: the pattern could not be matched in time"}
    return verdict(found, "no-match: the pattern is not found in it")


@reward(version="2", binary=True, range=RANGE, parts=())
def is_json(final_response: str | None) -> dict[str, Any]:
    """1 if the response is JSON, alone or in one code fence, else 0.

    >>> is_json('{"a": 1}')["reward"], is_json("a: 1")["reward"]
    (1.0, 0.0)
    """
    _, fault = _json(final_response)
    return {"unscored": fault} if fault == _TOO_DEEP else verdict(fault is None, fault)


def _schema_score(row: Row, provenance: Provenance) -> Score:
    found = _fits(row["final_response"], row["schema"])
    if "unscored" in found:
        return Score.unscored(found["unscored"], provenance=provenance)
    return Score.scored(found["reward"], reason=found.get("reason"), provenance=provenance)


_schema_batch = by_row(_schema_score)


async def _schema_abatch(rows: Sequence[Row], provenance: Provenance) -> Sequence[Score]:
    """Wait for the worker process without holding up the event loop."""
    return await asyncio.to_thread(_schema_batch, rows, provenance)


@reward(version="2", binary=True, range=RANGE, parts=(), batch=_schema_batch, abatch=_schema_abatch)
def matches_schema(final_response: str | None, *, schema: Mapping[str, Any]) -> dict[str, Any]:
    """1 if the response is JSON, alone or in one code fence, that fits a JSON schema, else 0.

    Needs `jsonschema` (`pip install 'adjudge[schema]'`). A schema refers to nothing outside of itself; its `format`
    counts where jsonschema knows it. Validation runs in a process that is killed after two seconds.
    """
    return _fits(final_response, schema)


def _fits(final_response: object, schema: object) -> dict[str, Any]:
    try:
        import jsonschema
    except ImportError as error:
        raise MissingExtra.of("schema", "matches_schema") from error
    from adjudge.rewards._schemas import fault_of

    if not isinstance(schema, Mapping):
        raise ArgumentError(f"schema must be a mapping, got {schema!r}", code="bad-option")
    given = dict(schema)
    try:
        jsonschema.validators.validator_for(given, default=jsonschema.Draft202012Validator).check_schema(given)
    except jsonschema.SchemaError as error:
        raise ArgumentError(f"schema is not a JSON schema: {error.message}", code="bad-option") from None
    value, fault = _json(final_response)
    if fault == _TOO_DEEP:
        return {"unscored": fault}
    if fault is None:
        try:
            fault = fault_of(given, value)
        except TimeoutError:
            return {"unscored": "timeout: the response could not be held against the schema in time"}
        except RecursionError:
            return {"unscored": _TOO_DEEP}
    return verdict(fault is None, fault)


@reward(binary=True, range=RANGE, parts=())
def is_refusal(final_response: str | None, *, expected: bool = True) -> dict[str, Any]:
    """1 if the response declines what it was asked for, else 0; `expected=False` turns that round. English only.

    >>> is_refusal("I'm sorry, but I can't help with that.")["reward"]
    1.0
    """
    if not isinstance(expected, bool):
        raise ArgumentError(f"expected must be true or false, got {expected!r}", code="bad-option")
    text = text_of(final_response, "final_response")
    found = declines(text)
    if not found and not reads_as_english(text):
        return {"unscored": "unclear-language: refusals are known in English only"}
    return verdict(found is expected, "refusal: it declines" if found else "no-refusal: it does not decline")


@reward(binary=True, range=RANGE, parts=())
def is_language(final_response: str | None, *, language: str) -> dict[str, Any]:
    """1 if the response is written in a language (`de`, `fr`: ISO 639-1), else 0; unscored where that cannot be told.

    Needs `py3langid` (`pip install 'adjudge[language]'`). Code blocks do not count, and a few words are too few.
    """
    from adjudge.rewards._language import language_of, languages

    if language not in languages():
        known = ", ".join(sorted(languages()))
        raise ArgumentError(f"language must be one of {known}, got {language!r}", code="bad-option")
    found, probability = language_of(text_of(final_response, "final_response")) or ("", 0.0)
    # A language that nobody asked for has to be sure.
    if probability < (0.5 if found == language else 0.9):
        return {"unscored": "unclear-language: there is too little text to tell its language"}
    return verdict(found == language, f"other-language: it is written in {found!r}")


@reward(binary=True, range=RANGE, parts=())
def cites_sources(
    final_response: str | None, trajectory: Any = None, *, sources: Sequence[str] | None = None, least: int = 1
) -> dict[str, Any]:
    """1 if the response names at least so many of its sources, and no link that is not among them, else 0.

    The sources are those of the record, or the given ones: links, titles, names of files.

    >>> cites_sources("See https://a.org/x.", sources=["https://a.org/x", "report.pdf"])["reward"]
    1.0
    >>> cites_sources("See https://b.org/y.", sources=["https://a.org/x"])["reason"]
    "unknown-source: it names 'https://b.org/y', which is not among the sources"
    """
    wanted, text = number_in(least, "least"), text_of(final_response, "final_response")
    given = record_of(trajectory).sources if sources is None else texts_in(sources, "sources")
    if not given:
        return {"unscored": "no-sources: the record shows no source that could be named"}
    links = [link.rstrip(_LINK_ENDS) for link in _LINK.findall(text)]
    known = {_address(source) for source in given}
    invented = [link for link in links if _address(link) not in known]
    if invented:
        reason = f"unknown-source: it names {quoted(invented[:3])}, which is not among the sources"
        return {"reward": 0.0, "reason": reason}
    cited = {_address(link) for link in links}
    folded = _folded(text, ignore_case=True)
    named = sum(
        _address(one) in cited or _is_named(_folded(one, ignore_case=True), folded) for one in dict.fromkeys(given)
    )
    return verdict(
        named >= wanted, f"no-source: it names {named} of its {len(set(given))} sources, and {wanted:g} are wanted"
    )


@reward(version="2", binary=True, range=RANGE, parts=())
def tools_requested(trajectory: Any, *, tools: Sequence[str]) -> dict[str, Any]:
    """1 if the agent asked for every one of these tools, whether or not they ran, else 0.

    >>> tools_requested([{"role": "assistant", "content": "Hello."}], tools=["search"])["reason"]
    "missing: the agent did not ask for 'search'"
    """
    wanted, record = texts_in(tools, "tools"), record_of(trajectory)
    asked = set(record.tools_requested)
    missing = [name for name in dict.fromkeys(wanted) if name not in asked]
    # Where replies were not recorded, neither was what they asked for.
    # Of a tool that is only known to have run, nobody knows who asked for it.
    is_seen = shows_tools(record) and all(call.requested for call in record.tool_calls or ())
    is_seen = is_seen and not may_be_hidden(record, missing)
    if missing and (not is_seen or not record.unknown.keys().isdisjoint(("answer", "requests"))):
        return UNKNOWN_TOOLS
    return verdict(not missing, f"missing: the agent did not ask for {quoted(missing)}")


@reward(version="2", range=RANGE, parts=("precision", "recall"))
def tools_f1(trajectory: Any, *, tools: Sequence[str]) -> dict[str, Any]:
    """F1 of the tools that were executed against those that are expected, both counted as often as they occur.

    >>> tools_f1([{"role": "tool", "name": "search", "content": "..."}], tools=["search", "fetch"])["recall"]
    0.5
    """
    wanted, record = Counter(texts_in(tools, "tools")), record_of(trajectory)
    used = Counter(record.tools_used)
    if not shows_tools(record) or may_be_hidden(record, wanted - used):
        return {**UNKNOWN_TOOLS, "precision": None, "recall": None}
    if not used and not wanted:
        return {"reward": 1.0, "precision": 1.0, "recall": 1.0}
    common = (used & wanted).total()
    precision, recall = (common / max(1, side.total()) for side in (used, wanted))
    return {"reward": 2 * common / (used.total() + wanted.total()), "precision": precision, "recall": recall}


def _folded(text: str, ignore_case: bool) -> str:
    """Return text as it is compared: one kind of apostrophe, of quotation mark and of space, accents in one form."""
    plain = " ".join(unicodedata.normalize("NFC", text).translate(_MARKS).split())
    return plain.casefold() if ignore_case else plain


def _address(link: str) -> str:
    """Return a link as it is compared: without scheme, campaign and last slash, the host in small letters."""
    _, there, rest = link.strip().partition("://")
    if not there:
        return link.strip()
    where, _, query = rest.partition("?")
    host, slash, path = where.partition("/")
    kept = "&".join(one for one in query.split("&") if one and not one.startswith("utm_"))
    return f"{host.lower()}{slash}{path}".rstrip("/") + (f"?{kept}" if kept else "")


def _is_named(name: str, text: str) -> bool:
    """Say whether a text has a name, and not only a longer one."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _found(final_response: object, texts: object, *, ignore_case: bool) -> dict[str, bool]:
    """Return for each text whether it is in the response."""
    whole = _folded(text_of(final_response, "final_response"), ignore_case)
    return {text: _folded(text, ignore_case) in whole for text in texts_in(texts)}


def _json(final_response: object) -> tuple[Any, str | None]:
    """Return what a response says as JSON, or what is wrong with it."""
    text = text_of(final_response, "final_response")
    if len(text) > _LARGEST:
        return None, f"too-large: the response has {len(text):,} characters"
    fenced = _FENCE.fullmatch(text)
    try:
        return json.loads(fenced[1] if fenced else text, parse_constant=_no_constant), None
    except ValueError as error:
        return None, f"not-json: {error}"
    except RecursionError:
        # What is no JSON by its brackets alone needs no reader.
        return None, _TOO_DEEP if _is_balanced(text) else "not-json: its brackets do not match"


def _is_balanced(text: str) -> bool:
    """Whether every bracket outside of strings has its partner."""
    expected: list[str] = []
    for bracket in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
        if bracket in _PARTNERS:
            expected.append(_PARTNERS[bracket])
        elif bracket in "]}" and (not expected or expected.pop() != bracket):
            return False
    return not expected


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
