r"""What is around an answer and says nothing of it: comments, marks of a page, notes of sources, courtesy.

"<!-- v3 -->\n## Answer\n\n**Paris** [1]\n\n[1] https://example.org"  ->  "Paris"
"Great question! It is Paris. Let me know if you need more."          ->  "It is Paris."
"""

from __future__ import annotations

import re

_LONGEST = 200  # characters of a sentence that is courtesy
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(\w{1,20})\b[^<>]{0,200}?(?:\bhidden\b|display:\s?none|font-size:\s?0)[^<>]{0,200}>.*?(?:</\1>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_HEADING = re.compile(
    r"^[ \t]*#{1,6}[ \t]*(?:the |my |final |short )*(?:answer|response|result|solution|summary)[ \t]*:?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_HEAD = re.compile(
    r"^[ \t]*\|?[^\n|]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(?:\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$", re.MULTILINE
)
_ROW = re.compile(r"^[ \t]*\|[ \t]*([^\n|]*?)[ \t]*\|[ \t]*([^\n|]*?)[ \t]*\|[ \t]*$", re.MULTILINE)
_SOURCE = re.compile(r"^[ \t]*\[\^?\d{1,3}\]:?[ \t]*<?https?://\S+[ \t]*$", re.MULTILINE)
_NOTE = re.compile(r"(?:(?<=[.,!?)*\"'])|[ \t])\[\^?\d{1,3}\](?=[\s.,;:!?)]|\Z)")
_OPENING = re.compile(
    r"\s{0,20}(?:(?:what an? )?(?:great|good|excellent|interesting|nice) question"
    r"|(?:sure|certainly|absolutely|gladly)(?: thing)?|of course|happy to help|glad you asked|hi|hello|hi there"
    r"|thanks? (?:you )?for (?:asking|your (?:question|patience|message))|hello there)[!.]{1,3}\s{1,20}",
    re.IGNORECASE,
)
_MAY_CLOSE = re.compile(r"know|ask|reach|tell|anything|hope|have a|happy|if you", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?<=[.!?*)\"'\]])\s{1,20}(?:please |just |feel free to |do |and )*(?:let me know|ask me|reach out|tell me"
    r"|is there anything|hope (?:this|that|it)|i hope (?:this|that|it)|have a (?:great|good|nice|lovely)"
    r"|happy to (?:help|explain)"
    r"|if you (?:need|have|want|would like|'d like) (?:any(?:thing)?|more|further|other))\b"
    rf"[^.!?\n\d]{{0,{_LONGEST}}}[.!?]{{0,3}}\s{{0,20}}\Z",
    re.IGNORECASE,
)
_UNLESS = re.compile(
    r"\bunless otherwise (?:stated|noted|specified|indicated|mentioned|agreed|said),?[ \t]?", re.IGNORECASE
)


def unwrapped(text: str) -> str:
    r"""Return a response without what is around its answer; all of it, if nothing else is there.

    >>> unwrapped("| City | Country |\n|---|---|\n| Rome | Italy |")
    'Rome: Italy'
    >>> unwrapped("<!-- nothing -->")
    '<!-- nothing -->'
    """
    found = text
    if "<" in found:
        found = _HIDDEN.sub(" ", found)
    if "#" in found:
        found = _HEADING.sub("", found)
    if "--" in found and "|" in found:
        found = _of_one_row(found)
    # `[1]` is a note only where its source is named: it may be a list.
    if "[" in found and _SOURCE.search(found):
        found = _NOTE.sub("", _SOURCE.sub("", found))
    if "nless" in found:
        found = _UNLESS.sub("", found)
    opening = _OPENING.match(found)
    found = found if opening is None else found[opening.end() :]
    if found is not text or _MAY_CLOSE.search(found, max(0, len(found) - _LONGEST)):
        found = _CLOSING.sub("", found)
    return found.strip() if found != text and _has_words(found) else text


def _of_one_row(text: str) -> str:
    """Return a table of one row as that row; one of several is left, since only some of it is the answer."""
    bare = _HEAD.sub("", text)
    return _ROW.sub(r"\1: \2", bare) if len(_ROW.findall(bare)) == 1 else text


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))
