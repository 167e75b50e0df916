"""What numbers written as words look like: `forty two`, `one hundred and five`, the `thirds` of `two thirds`.

>>> read_number_words("one hundred and forty-two")
142
>>> read_number_words("apples") is None
True
"""

__all__ = ["NUMBER_WORDS", "PART_WORDS", "read_number_words"]

_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_SCALES = {"dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

NUMBER_WORDS = frozenset(_UNITS) | frozenset(_TENS) | frozenset(_SCALES) | {"hundred"}

PART_WORDS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4, "fifth": 5,
    "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8, "ninth": 9,
    "ninths": 9, "tenth": 10, "tenths": 10, "hundredth": 100, "hundredths": 100,
}  # fmt: skip
"""How many of each part make a whole."""


def read_number_words(text: str) -> int | None:
    """Read a whole number written in English words, or nothing where any word is not part of one."""
    words = text.lower().replace("-", " ").split()
    if not words or len(words) > 24:
        return None
    negative = words[0] in {"minus", "negative"}
    words = words[1:] if negative else words
    total = group = 0
    previous = ""
    for position, word in enumerate(words):
        if word in _UNITS:
            clash = (previous in _UNITS) or (previous in _TENS and not 0 < _UNITS[word] < 10)
            if clash:
                return None
            group += _UNITS[word]
        elif word in _TENS:
            if previous in _UNITS or previous in _TENS:
                return None
            group += _TENS[word]
        elif word == "hundred":
            if not (previous in _UNITS or position == 0):
                return None
            group = (group or 1) * 100
        elif word in _SCALES:
            if previous in _SCALES:
                return None
            total += (group or 1) * _SCALES[word]
            group = 0
        elif word == "and" and (previous == "hundred" or previous in _SCALES) and position < len(words) - 1:
            pass
        else:
            return None
        previous = word
    if not previous:
        return None
    return -(total + group) if negative else total + group
