"""Which runs this user started on this machine, and what a run file from elsewhere may not decide.

A run file is meant to travel. The plan in it names scorers, judge and agent, and those names may be code, commands and
addresses. `adjudge resume FILE` does what they say only for a run that carries this user's seal: an HMAC over the run's
id and its plan, with a key in the state folder. Of any other file they are compared with what the caller gives.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from adjudge import files
from adjudge.errors import RunError, UsageError
from adjudge.runs._plan import PLAN, SEAL, Plan
from adjudge.runs._records import RUN_ID
from adjudge.runs._store import Store

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*(\([\w\s=.,'\"-]*\))?")  # a reward by its name, maybe with plain options
_PLAIN_JUDGE = re.compile(r"(panel:|cascade:)?(local(:[01])?|(openai|anthropic|litellm):[\w./@:-]+)(,[\w./@:-]+)*")
_PLAIN_OPTIONS = ("error_budget",)


@dataclass(frozen=True, slots=True)
class GivenAgain:
    """What the caller of `resume` says of the run once more.

    `trust` believes the file; `on_trust` is then called with what it names, before anything of it is run.
    """

    scorers: tuple[str, ...] = ()
    judge: str | None = None
    agent: str | None = None
    trust: bool = False
    on_trust: Callable[[list[str]], None] | None = None


def is_sealed(store: Store) -> bool:
    """Return whether this user started the run, on this machine."""
    run_id = store.meta(RUN_ID)
    (plan,) = store.rows("SELECT body FROM meta WHERE name = ?", PLAN)[0]
    return isinstance(run_id, str) and files.is_sealed(b"%b\0%b" % (run_id.encode(), plan), store.meta(SEAL))


def check_trust(path: str, plan: Plan, given: GivenAgain, options: Mapping[str, Any], *, sealed: bool) -> None:
    """Raise for a plan that names code, commands or addresses which nobody here has named."""
    for name, ours in (("scorers", given.scorers), ("judge", given.judge), ("agent", given.agent)):
        theirs = getattr(plan, name)
        if ours and ours != theirs:
            message = f"{path} is a run with the {name} {_in_words(theirs)}, not {_in_words(ours)}"
            raise RunError(f"{message}: name another run file, or leave the option out", code="run-mismatch")
    named: list[str] = []
    if not given.scorers:
        named += [
            f"--scorer {quote(one)}" for one in plan.scorers if not (_is_plain(_PLAIN_NAME, one) or _is_judge(one))
        ]
    if plan.judge is not None and given.judge is None and not _is_judge(plan.judge):
        named.append(f"--judge {quote(plan.judge)}")
    if plan.agent is not None and given.agent is None and not _is_judge(plan.agent):
        named.append(f"--agent {quote(plan.agent)}")
    for name, value in plan.options.items():
        if name not in _PLAIN_OPTIONS and options.get(name) is None:
            named.append(f"--{quote(name.replace('_', '-'))} {quote(str(value))}")
    if sealed or not named:
        return
    if not given.trust:
        message = f"{path} was not started by you on this machine, and names what it wants to run or to call"
        raise UsageError(f"{message}: give the same again ({' '.join(named)}), or --trust", code="untrusted")
    if given.on_trust is not None:
        given.on_trust(named)


def _is_plain(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.fullmatch(text.strip()) is not None


def _is_judge(text: str) -> bool:
    return _is_plain(_PLAIN_JUDGE, text) and "//" not in text


def _in_words(value: Sequence[str] | str | None) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)
