"""How large an answer may be before it is refused, and the two ways of refusing."""

MAX_ANSWER = 8_000
"""Characters of one answer; nothing longer is read."""

MAX_TOKENS = 1_600
"""Tokens of one answer."""

MAX_DEPTH = 48
"""Brackets inside brackets."""

MAX_ITEMS = 128
"""Elements of a list, relations in a chain, pieces of a union."""

MAX_BITS = 40_000
"""Bits of an exact integer; `2006!` has 19,000."""

MAX_TERMS = 400
"""Terms of an expanded polynomial."""


class LimitExceeded(Exception):
    """Evaluating this would take more than a fixed, small amount of work."""


class Unreadable(Exception):
    """The text is not an expression of the grammar."""
