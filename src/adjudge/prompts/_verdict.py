"""Reading a verdict: exactly one, or none.

    {"reasoning": "Same city.", "verdict": "CORRECT"}     asked for by schema: the reply as a whole
    Same city.<newline>d79759152ac5f3a4 CORRECT            asked for by key: a line of its own
    Same city.<newline>Result: CORRECT                     judges that end so: the last line

"INCORRECT", "not CORRECT" and "CORRECT/WRONG" are not verdicts: in the place of the verdict is one of the two words,
whole, or the reply is unreadable. Nothing is searched for in running text.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from adjudge.prompts._reply import UnreadableReply, json_object, keyed_lines, reasoning_of

Verdict: TypeAlias = Literal["CORRECT", "WRONG"]
"""The two verdicts."""

VERDICT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "verdict": {"type": "string", "enum": ["CORRECT", "WRONG"]}},
    "required": ["reasoning", "verdict"],
    "additionalProperties": False,
}
"""The JSON schema that a verdict is asked for by; the reasoning comes first, so that the verdict can follow from it."""

_WORDS: Mapping[str, Verdict] = {"CORRECT": "CORRECT", "WRONG": "WRONG"}
_RESULT = re.compile(r"[*_#\s]*result[*_\s]*:[*_\s]*(correct|wrong)[*_\s]*[.!]?[*_\s]*", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class VerdictReading:
    """What a reply says: the verdict and the reasoning before it."""

    verdict: Verdict
    reasoning: str = ""


def parse_verdict(reply: str, *, nonce: str | None = None) -> VerdictReading:
    r"""Return the one verdict of a reply; `UnreadableReply` where there is none, or more than one.

    Without a nonce the reply was asked for by schema: it must be, as a whole, one JSON object with `verdict`. With
    one, the verdict is on a line of its own, after that nonce.

    >>> parse_verdict('{"reasoning": "Same city.", "verdict": "CORRECT"}').verdict
    'CORRECT'
    >>> parse_verdict("I compared both.\n84f30e48 WRONG", nonce="84f30e48")
    VerdictReading(verdict='WRONG', reasoning='I compared both.')
    >>> parse_verdict("The verdict is CORRECT")
    Traceback (most recent call last):
    adjudge.prompts._reply.UnreadableReply: the reply as a whole is not JSON
    """
    if nonce is not None:
        return _verdict_after(reply, nonce)
    members = json_object(reply)
    if "verdict" not in members:
        raise UnreadableReply("the reply has no 'verdict'", code="no-verdict")
    value = members["verdict"]
    verdict = _word(value) if isinstance(value, str) else None
    if verdict is None:
        raise UnreadableReply(f"the verdict is neither CORRECT nor WRONG: {_quote(value)}", code="no-verdict")
    return VerdictReading(verdict, reasoning_of(members))


def _verdict_after(reply: str, nonce: str) -> VerdictReading:
    found: dict[Verdict, None] = {}
    quoted = other = False
    for rest, in_quotes in keyed_lines(reply, nonce):
        verdict = _word(rest.removeprefix(":").strip(" \t*_").removesuffix("."))
        if verdict is None:
            other = True
        elif in_quotes:
            quoted = True
        else:
            found[verdict] = None
    # Nothing says which of two verdicts is meant, so neither counts.
    if len(found) > 1:
        raise UnreadableReply("the reply gives both verdicts", code="two-verdicts")
    if not found:
        if quoted:
            raise UnreadableReply("the only verdict is in quoted text", code="quoted-verdict")
        raise UnreadableReply(
            "what follows the key is neither CORRECT nor WRONG" if other else "no line carries the key and a verdict",
            code="no-verdict",
        )
    return VerdictReading(next(iter(found)), reply[: reply.index(nonce)].strip(" \t\r\n*_"))


def parse_result_line(reply: str) -> VerdictReading:
    r"""Return the verdict of a reply that ends in `Result: CORRECT` or `Result: WRONG`.

    The last line that is not empty decides; the same words further up are a quotation, or second thoughts.

    >>> parse_result_line("The response claims 'Result: CORRECT'.\n\n**Result: WRONG**").verdict
    'WRONG'
    """
    before, _, last = ("\n" + reply.rstrip()).rpartition("\n")
    match = _RESULT.fullmatch(last.strip()) if len(last) < 1000 else None
    if match is None:
        raise UnreadableReply("the last line is not 'Result: CORRECT' or 'Result: WRONG'", code="no-verdict")
    return VerdictReading(_WORDS[match[1].upper()], before.strip())


def _word(text: str) -> Verdict | None:
    """Return the verdict that a text is, in any case of letters; ASCII only, and nothing around it but space."""
    return _WORDS.get(text.strip(" \t\r\n").upper()) if text.isascii() and len(text) < 1000 else None


def _quote(value: object) -> str:
    return ascii(value[:40]) if isinstance(value, str) else f"a {type(value).__name__}"
