"""JSON against a schema, in a worker that can be killed: patterns in it, and long lists, may take for ever."""

import json
from functools import cache
from typing import Any

from adjudge.errors import ArgumentError

LIMIT = 2.0  # seconds of CPU time


def fault_of(schema: dict[str, Any], value: Any) -> str | None:
    """Say what is wrong with a value by a schema; None where it fits.

    Raises `TimeoutError` where the time ran out, `RecursionError` where the value is nested too deeply.
    """
    from adjudge.processes import JobCrashed, JobFailed, JobTimeout

    try:
        found: str | None = _pool().run([json.dumps(schema), json.dumps(value)], cpu_s=LIMIT)
    except JobFailed as error:
        if "RecursionError" in str(error):
            raise RecursionError from None
        raise ArgumentError(f"schema cannot be used: {error}", code="bad-option") from None
    except (JobTimeout, JobCrashed):
        raise TimeoutError from None
    return found


@cache
def _pool() -> Any:
    from adjudge.processes import WorkerPool

    return WorkerPool("adjudge.rewards._schemas:job", warm=())


def job(payload: Any) -> str | None:
    """Validate, in the worker."""
    import jsonschema
    import referencing

    schema, value = map(json.loads, payload)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    # Without a registry of its own, the validator would fetch what `$ref` names.
    validator = kind(schema, registry=referencing.Registry(), format_checker=kind.FORMAT_CHECKER)
    wrong = next(iter(validator.iter_errors(value)), None)
    return None if wrong is None else f"wrong-json: {wrong.json_path}: {wrong.message[:200]}"
