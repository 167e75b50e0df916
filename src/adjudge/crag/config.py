"""The constants of the CRAG-MM evaluation, under their own names and with their own defaults.

`MAX_BATCH_SIZE` is read from the environment whenever it is used, never at import.
"""

DEFAULT_EVAL_MODEL = "gpt-4o"
"""The model that judges where no other is named."""

MAX_API_RETRIES = 3
"""How many attempts one call of the judge gets."""

DEFAULT_NUM_WORKERS = 1
"""How many calls are in flight where nothing else is said."""

MIN_BATCH_SIZE = 1
"""The smallest batch that an agent is given."""

MAX_BATCH_SIZE: int
"""The largest batch that an agent is given: 16, or what the environment variable of that name says."""

MAX_RESPONSE_LENGTH_IN_TOKENS = 75
"""Where an agent's response is cut, in content tokens."""

MAX_EVAL_TOKENS = 1024
"""How long a judge's reply may be, in tokens."""

__all__ = [
    "DEFAULT_EVAL_MODEL",
    "DEFAULT_NUM_WORKERS",
    "MAX_API_RETRIES",
    "MAX_BATCH_SIZE",
    "MAX_EVAL_TOKENS",
    "MAX_RESPONSE_LENGTH_IN_TOKENS",
    "MIN_BATCH_SIZE",
]


def __getattr__(name: str) -> int:
    if name != "MAX_BATCH_SIZE":
        raise AttributeError(f"module 'adjudge.crag.config' has no attribute {name!r}")
    import os

    from adjudge.errors import UsageError

    given = os.environ.get(name, "").strip()
    if not given:
        return 16
    if not (given.isascii() and given.isdigit() and 1 <= len(given) <= 9 and int(given) >= MIN_BATCH_SIZE):
        message = f"the environment variable {name} must be a whole number from {MIN_BATCH_SIZE} on, got {given[:50]!r}"
        raise UsageError(message, code="bad-setting")
    return int(given)
