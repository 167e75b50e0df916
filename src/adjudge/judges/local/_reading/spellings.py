"""British and irregular spellings, written as American and regular ones: `colour` as `color`, `mice` as `mouse`.

Both sides of a comparison are written so; what a word becomes need not be one.
"""

from __future__ import annotations

import re
from functools import cache

from adjudge.judges.local._lexicon import lexicon

_OUR = re.compile(r"(?<=[bdlmnpv])our(?=(?:s|ed|ing|able|ite|al|ful)?$)")
_RE = re.compile(r"(?<=\w[bt])re(?=[sd]?$)")
_ISE = re.compile(r"(?<=\w{2}[cdglnmrt])is(?=(?:es?|ed|ers?|ing|ations?)$)")


@cache
def _table() -> dict[str, str]:
    return dict(pair.split() for pair in lexicon("spellings")["pairs"].split(";"))


def american(word: str) -> str:
    """Return a word in small letters as it is spelt in America, a plural that is none by its ending as the singular.

    >>> [american(word) for word in "colours centre organised grey mice theatres".split()]
    ['colors', 'center', 'organized', 'gray', 'mouse', 'theaters']
    """
    found = _table().get(word) or _table().get(word.removesuffix("s"))
    if found is not None:
        return found
    if "our" in word:
        word = _OUR.sub("or", word)
    if "re" in word[-4:]:
        word = _RE.sub("er", word)
    return _ISE.sub("iz", word) if "is" in word[-8:] else word
