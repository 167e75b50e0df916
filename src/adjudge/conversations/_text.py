"""How responses are compared with the ground truth before any judge is asked.

"I don’t  know!"  ->  clean_text  ->  "i dont  know"  ->  says_unknown
" Red " and "red" are exactly equal; "Red." and "red" are not
"""

import re

from adjudge.text import fold

# For `re` the underscore is a word character; here it is neither a letter nor a digit.
_DROPPED = re.compile(r"[^\w\s]|_")
_UNKNOWN = re.compile(r"i\s+(?:dont|do\s+not)\s+know")


def clean_text(text: str) -> str:
    """Return the text in lower case, with nothing but its letters, digits and white space.

    Deleting joins. Typographic apostrophes are deleted like the plain one, also the one that Unicode counts among the
    letters.

    >>> clean_text("It’s the Nº-1 “U.S.” car_park!")
    'its the nº1 us carpark'
    """
    return _DROPPED.sub("", fold(text).lower())


def says_unknown(text: str) -> bool:
    """Tell whether "I don't know" or "I do not know" occurs in the text, however it is written.

    >>> says_unknown("Sorry, I don’t  KNOW that.")
    True
    >>> says_unknown("I know.")
    False
    """
    return _UNKNOWN.search(clean_text(text)) is not None


def is_exact(response: str, ground_truth: str) -> bool:
    r"""Tell whether two texts are equal but for case and the white space around them.

    >>> is_exact(" Red\n", "red"), is_exact("Red.", "red")
    (True, False)
    """
    return response.strip().lower() == ground_truth.strip().lower()
