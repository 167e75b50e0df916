"""A judge's reply, before anything is read out of it: the whole of it as JSON, or its lines that carry the key.

Every reading goes through the reply once, line by line or by Python's own decoder of JSON; patterns that repeat are
possessive, and a reply with more than `_MOST` marks of structure is `not-json`. So the reply's size bounds the work.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from adjudge.errors import AdjudgeError

_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)")
_OPENING = re.compile(r"(`{3,}+)[ \t]*[A-Za-z0-9_+-]*[ \t]*\r?\n")
_MOST = 50_000  # marks of JSON's structure in one reply: the cost of more than that grows faster than the reply
_SPACE = " \t\r\n\f\v\ufeff"
_QUOTING = ">|`\"'“”‘’«» \t*_"


class UnreadableReply(AdjudgeError):
    """A judge's reply does not contain exactly one readable answer; ask once more, then leave it unscored.

    Codes: `empty`, `not-json`, `duplicate-key`, `no-verdict`, `two-verdicts`, `quoted-verdict`, `missing-score`,
    `bad-score`, `copied`.
    """

    default_code = "unreadable"


def json_object(reply: str) -> dict[str, Any]:
    r"""Return the JSON object that is the whole reply, bare or in one Markdown fence.

    >>> json_object('```json\n{"verdict": "WRONG"}\n```')
    {'verdict': 'WRONG'}
    """
    text, ticks = reply.lstrip(_SPACE), ""
    opening = _OPENING.match(text)
    if opening is not None:
        text, ticks = text[opening.end() :].lstrip(_SPACE), opening[1]
    if not text or (ticks and text.startswith(ticks)):
        raise UnreadableReply("the reply is empty", code="empty")
    # Counting is quick; decoding so much would not be.
    if any(text.count(mark) > _MOST for mark in '"[{'):
        raise UnreadableReply("the reply has far more members than were asked for", code="not-json")
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError:
        raise UnreadableReply("the reply is nested too deeply", code="not-json") from None
    except ValueError:
        raise UnreadableReply("the reply as a whole is not JSON", code="not-json") from None
    rest = text[end:].lstrip(_SPACE)
    if ticks:
        # The fence that closes the code block is on a line of its own.
        if not rest.startswith(ticks) or "\n" not in text[end : len(text) - len(rest)]:
            raise UnreadableReply("the code block around the JSON is not closed", code="not-json")
        rest = rest[len(ticks) :].lstrip(_SPACE)
    if rest:
        raise UnreadableReply("the reply as a whole is not JSON", code="not-json")
    if not isinstance(value, dict):
        raise UnreadableReply(f"the reply must be a JSON object, got {type(value).__name__}", code="not-json")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise UnreadableReply("a member of the JSON object occurs twice", code="duplicate-key")
    return members


def _constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def keyed_lines(reply: str, nonce: str) -> Iterator[tuple[str, bool]]:
    """Yield what follows the key on each line that begins with it, and whether that line is in quoted text.

    Quoted is a line in a code block, or behind `>`, a bar, a backtick or quotation marks. Emphasis is none.
    """
    fence: str | None = None
    for whole in reply.splitlines():
        # Most lines carry neither the key nor a fence.
        if nonce not in whole and "```" not in whole and "~~~" not in whole:
            continue
        line = whole.strip(_SPACE)
        opening = _FENCE.match(whole)
        if opening is not None and fence is None:
            fence = opening[1]
            continue
        if opening is not None and fence is not None and opening[1].startswith(fence) and line == opening[1]:
            fence = None
            continue
        bare = line.strip("*_")
        if bare.startswith(nonce):
            yield bare[len(nonce) :], fence is not None or whole.startswith(("    ", "\t"))
        elif line.lstrip(_QUOTING).startswith(nonce):
            yield line[line.index(nonce) + len(nonce) :].strip(_QUOTING), True


def reasoning_of(members: dict[str, Any]) -> str:
    """Return the member `reasoning`, which may be missing but not anything else than text."""
    reasoning = members.get("reasoning")
    if reasoning is not None and not isinstance(reasoning, str):
        raise UnreadableReply(f"reasoning must be text, got {type(reasoning).__name__}", code="not-json")
    return reasoning or ""
