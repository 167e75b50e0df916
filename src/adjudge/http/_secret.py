r"""A secret in a text of somebody else: found however it is spelt, and masked.

    hide(b"wrong key sk-open-sesame-012", "sk-open-sesame-012")      b"wrong key ***"

Servers, gateways and error pages repeat what they were sent. They write it in JSON (`\u0073`, `\/`), in URLs (`%73`),
in HTML (`&#115;`), in hex, in base64 (alone, behind `Bearer ` or as `user:password`), and they cut it. Whoever knows a
key and wants to show it can; this is for those who do it by accident.
"""

import re
from base64 import b64encode
from bisect import bisect_right
from functools import lru_cache

__all__ = ["hide", "probes_of"]

_SHORTEST_SECRET = 8
"""Shorter ones are placeholders for servers that need no key: taking `token` out would spoil the reply's own words."""
_PUBLIC_PREFIX = re.compile(r"(?:[a-z]{2,5}[-_]){1,2}")
"""`sk-`, `sk-proj-`, `pk-lf-`: what many keys begin with may be read."""
_CODE = re.compile(
    rb"(?=[\\%&])(?:"  # most places need only this look
    rb"\\{1,8}u00([2-7][0-9a-fA-F])"  # JSON, and JSON within JSON, where every backslash is doubled
    rb"|%(?:25){0,2}([2-7][0-9a-fA-F])"  # a URL, and one within another
    rb"|\\{1,8}([\"/])|(\\){2,8}"
    rb"|&#(?:([0-9]{2,3})|[xX]([2-7][0-9a-fA-F]));|&(amp|lt|gt|quot|apos);)"
)
_NAMED = {b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'"}


def hide(body: bytes, *secrets: str) -> bytes:
    """Return a text with `***` for the secrets, and for the first or last eight characters of one; short ones stay.

    Of hex and base64 the beginning is looked for.

    >>> hide(b"no such key: sk-0123456...", "sk-0123456789abcdef")
    b'no such key: ***...'
    """
    for secret in secrets:
        if len(secret) < _SHORTEST_SECRET:
            continue
        spans: list[tuple[int, int]] = []
        plain, places = _decode(body)
        for form in _forms(secret):
            spans += _find(body, *form)
            if places:
                spans += [(_place(places, start), _place(places, end)) for start, end in _find(plain, *form)]
        # From the left, and where two overlap the longer one: what was hidden is not looked at again.
        kept, done = [], 0
        for start, end in sorted(spans):
            if start >= done:
                kept += [body[done:start], b"***"]
            done = max(done, end)
        body = b"".join([*kept, body[done:]])
    return body


@lru_cache(maxsize=16)
def probes_of(secret: str) -> tuple[bytes, ...]:
    """Return pieces of which at least one is in every text that `hide` would change: most texts have none."""
    if len(secret) < _SHORTEST_SECRET:
        return ()
    ends = [form[:first] for form, first, _ in _forms(secret)] + [_forms(secret)[0][0][-_SHORTEST_SECRET:]]
    marks = [b"\\u00", b"%", b"&"]
    # A letter is written as a code only by intent; these are wherever there is JSON.
    if any(mark in end for mark in (b'"', b"\\", b"/") for end in ends):
        marks.append(b"\\")
    return tuple(dict.fromkeys([*ends, *marks]))


@lru_cache(maxsize=16)
def _forms(secret: str) -> tuple[tuple[bytes, int, int], ...]:
    """Return what the secret looks like, each with how many of its first, and of its last, characters give it away.

    0 means that the end by itself is not looked for.
    """
    raw = secret.encode("utf-8", "surrogateescape")
    public = _PUBLIC_PREFIX.match(secret)
    first = min(len(raw), max(_SHORTEST_SECRET, 0 if public is None else public.end() + 1))
    forms = [(raw, first, _SHORTEST_SECRET)]
    forms += [(form.encode(), 2 * first, 0) for form in (raw.hex(), raw.hex().upper())]
    # In base64 three bytes become four characters, so it matters how many bytes stand before the secret. The characters
    # that belong to its neighbours too are left out.
    for before, shared in ((0, 0), (1, 2), (2, 3)):
        inner = b64encode(bytes(before) + raw)[shared : 8 * (before + len(raw)) // 6]
        for form in (inner, inner.translate(bytes.maketrans(b"+/", b"-_"))):
            forms.append((form, 8 * (before + first) // 6 - shared, 0))
    return tuple(dict.fromkeys(forms))


def _find(text: bytes, form: bytes, first: int, last: int) -> list[tuple[int, int]]:
    """Return where a form is, or as much of its beginning or its end as there is."""
    found = []
    at = text.find(form[:first])
    while at >= 0:
        end = at + _common(text[at : at + len(form)], form)
        found.append((at, end))
        at = text.find(form[:first], end)
    # The same from the end, for a text that begins inside the form.
    at = text.find(form[-last:]) if last else -1
    while at >= 0:
        end = at + last
        before = text[max(0, end - len(form)) : end]
        found.append((end - _common(before[::-1], form[::-1]), end))
        at = text.find(form[-last:], end)
    return found


def _common(one: bytes, other: bytes) -> int:
    """Return how many characters two texts begin with in common."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _decode(body: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return the text with every code as what it means, and the places of its parts: here, and in the body."""
    parts: list[bytes] = []
    places: list[tuple[int, int]] = []
    here = done = 0
    for code in _CODE.finditer(body):
        text, place = code[code.lastindex or 0], code.lastindex
        if place in (1, 2, 6):
            text = bytes([int(text, 16)])
        elif place == 5:
            text = bytes([min(int(text), 255)])
        elif place == 7:
            text = _NAMED[text]
        start, end = code.span()
        parts += [body[done:start], text]
        here += start - done
        places += [(here, start), (here + 1, end)]
        here, done = here + 1, end
    return b"".join([*parts, body[done:]]), [(0, 0), *places] if places else []


def _place(places: list[tuple[int, int]], at: int) -> int:
    """Return where in the body something is that was found in the decoded text."""
    here, there = places[bisect_right(places, at, key=lambda place: place[0]) - 1]
    return there + at - here
