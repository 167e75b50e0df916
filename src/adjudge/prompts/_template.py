"""A prompt: fixed text with slots. Filling them changes nothing outside of them, and can be undone.

A prompt file has sections, each behind a line `=== name ===`: `system` and `user` become messages; `schema` or
`nonce` is the request for one form of reply, at the end of the user's message; `again` is put behind it when
a reply could not be read. A slot is alone on its line: `{{response}}` takes a text, `{{sources*}}` a list of
texts. Only `{{nonce}}` may be within a line: its value is ours.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, TypeAlias

from adjudge.errors import DataError, UsageError, closest
from adjudge.model import Message
from adjudge.prompts._encode import decode_field, decode_list, encode_field, encode_list

Form: TypeAlias = Literal["schema", "nonce"]
"""How the answer is asked for: as JSON of a schema, or on a line with a key that only this request has."""

Fields: TypeAlias = Mapping[str, str | Sequence[str]]
"""What goes into the slots, by name."""

_SECTION = re.compile(r"^=== ([a-z]+) ===\n", re.MULTILINE)
_SLOT = re.compile(r"^\{\{([a-z_]+)(\*?)\}\}$", re.MULTILINE)
_NONCE = "{{nonce}}"
_LIKE_DATA = re.compile(r"\||\((?:none|[0-9]+ of [0-9]+)\)")
_SECTIONS = ("system", "user", "schema", "nonce", "again")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt of one version; `hash` goes into the provenance of every score that it led to.

    >>> prompt = Prompt("mine/v1", _EXAMPLE)
    >>> print(prompt.messages({"response": "{{response}}"}, form="nonce", nonce="4f2a")[1].content)
    Response:
    | {{response}}
    <BLANKLINE>
    End with 4f2a and a grade.
    """

    name: str
    text: str = field(repr=False)
    hash: str = field(init=False)
    sections: Mapping[str, str] = field(init=False, repr=False)
    slots: Mapping[str, bool] = field(init=False, repr=False)
    """The slots of the user's message, in order, and whether each takes a list."""
    literals: Sequence[str] = field(init=False, repr=False)
    """The fixed text of the user's message: before the first slot, between slots, behind the last one."""

    def __post_init__(self) -> None:
        """Take the text apart, and refuse one that lacks something."""
        head, *rest = _SECTION.split(self.text)
        names, bodies = rest[::2], [body.removesuffix("\n") for body in rest[1::2]]
        if head or sorted(names) != sorted(_SECTIONS):
            raise UsageError(f"prompt {self.name}: it needs the sections {', '.join(_SECTIONS)}, each once")
        sections = dict(zip(names, bodies, strict=True))
        found = _SLOT.findall(sections["user"])
        slots = {slot: star == "*" for slot, star in found}
        # What looks like a slot anywhere else would be sent to the model as it is.
        others = "".join(_SLOT.sub("", sections[name]) if name == "user" else sections[name] for name in _SECTIONS)
        if not slots or len(found) != len(slots) or "{{" in others.replace(_NONCE, "") or "\r" in self.text:
            raise UsageError(f"prompt {self.name}: every slot must occur once, alone on a line of the user's message")
        # Without text between them `read` could not tell where one block ends.
        if "}}\n{{" in sections["user"]:
            raise UsageError(f"prompt {self.name}: two slots need a line of text between them")
        if _NONCE not in sections["nonce"] or any(_NONCE in sections[name] for name in _SECTIONS if name != "nonce"):
            raise UsageError(f"prompt {self.name}: {_NONCE} belongs in the section nonce, and nowhere else")
        # A fixed line that looks like data would make filled prompts ambiguous.
        if any(_LIKE_DATA.match(line) for line in others.split("\n")):
            raise UsageError(
                f"prompt {self.name}: a line that begins with a bar or a number in brackets looks like data"
            )
        object.__setattr__(self, "hash", sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest())
        object.__setattr__(self, "sections", sections)
        object.__setattr__(self, "slots", slots)
        object.__setattr__(self, "literals", _SLOT.sub("\0", sections["user"]).split("\0"))

    def fill(self, fields: Fields) -> str:
        """Return the user's message up to the request for an answer, with every field in its slot."""
        for name in fields:
            if name not in self.slots:
                raise UsageError(f"prompt {self.name} has no slot {name!r}{closest(name, self.slots)}")
        pieces = [self.literals[0]]
        for (name, is_list), literal in zip(self.slots.items(), self.literals[1:], strict=True):
            value = fields.get(name)
            if is_list:
                if value is None or isinstance(value, str) or not all(isinstance(item, str) for item in value):
                    raise UsageError(f"prompt {self.name}: {name} must be a list of texts")
                pieces += encode_list(value), literal
            elif isinstance(value, str):
                pieces += encode_field(value), literal
            else:
                raise UsageError(f"prompt {self.name}: {name} must be a text")
        return "".join(pieces)

    def read(self, filled: str) -> dict[str, str | tuple[str, ...]]:
        """Return the fields that a filled message holds: what the judge was shown, taken back out of the prompt."""
        fields: dict[str, str | tuple[str, ...]] = {}
        if not filled.startswith(self.literals[0]):
            raise DataError(f"this is not a message of prompt {self.name}", code="bad-block")
        rest = filled[len(self.literals[0]) :]
        for (name, is_list), literal in zip(self.slots.items(), self.literals[1:], strict=True):
            # A literal begins at a line without a bar, which no block contains: the first match is the block's end.
            end = rest.find(literal or "\n\n")
            block, rest = (rest[:end], rest[end + len(literal) :]) if end >= 0 else (rest, "")
            fields[name] = decode_list(block) if is_list else decode_field(block)
        if self.fill(fields) != filled[: len(filled) - len(rest)]:
            raise DataError(f"this is not a message of prompt {self.name}", code="bad-block")
        return fields

    def messages(
        self, fields: Fields, *, form: Form, nonce: str | None = None, again: bool = False
    ) -> tuple[Message, ...]:
        """Return the messages that ask for one form of reply; `again` adds a reminder of that form."""
        if (form == "nonce") != (nonce is not None):
            raise UsageError(f"form {form!r} and a nonce do not go together" if nonce else "form 'nonce' needs a nonce")
        request = self.sections[form].replace(_NONCE, nonce or "")
        reminder = f"\n\n{self.sections['again']}" if again else ""
        return (
            Message("system", self.sections["system"]),
            Message("user", f"{self.fill(fields)}\n\n{request}{reminder}"),
        )


_EXAMPLE = """\
=== system ===
You grade.
=== user ===
Response:
{{response}}
=== schema ===
Reply in JSON.
=== nonce ===
End with {{nonce}} and a grade.
=== again ===
Keep to the form.
"""
