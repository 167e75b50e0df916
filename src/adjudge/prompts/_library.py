"""The prompts that come with the package, by name and version."""

from functools import cache
from pkgutil import get_data

from adjudge.errors import UsageError, closest
from adjudge.prompts._template import Prompt

NAMES = ("evaluation/criteria/v1", "evaluation/quality/v1", "evaluation/rubric/v1", "evaluation/verdict/v1")


def load_prompt(name: str) -> Prompt:
    """Return the prompt of that name.

    >>> load_prompt("evaluation/verdict/v1").slots
    {'question': False, 'references': True, 'response': False}
    >>> load_prompt("evaluation/verdict/v9")
    Traceback (most recent call last):
    adjudge.errors.UsageError: there is no prompt 'evaluation/verdict/v9'; did you mean 'evaluation/verdict/v1'?
    """
    if name not in NAMES:
        raise UsageError(f"there is no prompt {name!r}{closest(name, NAMES)}", code="unknown-prompt")
    return _load(name)


@cache
def _load(name: str) -> Prompt:
    data = get_data("adjudge.prompts", f"{name}.prompt")
    if data is None:
        raise UsageError(f"prompt {name!r} cannot be read from the installed package", code="unknown-prompt")
    return Prompt(name, data.decode("utf-8"))
