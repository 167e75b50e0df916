"""What can go wrong, and how it reaches you.

    AdjudgeError                 the root: catch this to catch everything that adjudge raises on purpose
    ├── UsageError               the call itself is wrong; nothing was scored          (exit code 2)
    │   ├── UnknownReward        no reward of that name; the closest one is named
    │   ├── ArgumentError        a reward needs an argument that no column supplies
    │   └── MissingExtra         an optional package is not installed; says which `pip install` it needs
    ├── DataError                a row, a file or a gold answer cannot be used         (exit code 2)
    │   ├── RowError             one row is unreadable or lacks something; names file, line and field
    │   └── TrajectoryError      a trajectory has none of the known forms; names the message
    ├── ProcessError             a worker process died or could not be started         (exit code 3)
    └── RunError                 a run file is held by somebody, damaged, too new, full (exit code 3),
        │                        or was started with something else (run-mismatch: exit code 2)
        └── RunStopped           a run ended before its last row; what was done is kept

How a failure is named: every error has a `code`, a short word that stays the same over releases
(`missing-column`, `bad-trajectory`), and a message for a person. `reason` is the two together.

How a failure surfaces: raised where you call something directly. Where rows are scored, a failure of one row is
data: the row gets a `Score` with status `error` (or `unscored`) and that `reason`, the others continue.
No failure ever becomes a number. `Caught` is the one boundary at which a stray exception of somebody's code becomes
such a reason.
"""

from collections.abc import Iterable
from types import TracebackType
from typing import ClassVar, Self

__all__ = [
    "AdjudgeError",
    "ArgumentError",
    "Caught",
    "DataError",
    "MissingExtra",
    "ProcessError",
    "RowError",
    "RunError",
    "RunStopped",
    "TrajectoryError",
    "UnknownReward",
    "UsageError",
    "closest",
    "closest_model",
    "describe_error",
    "printable",
]


class AdjudgeError(Exception):
    """The root of every error that adjudge raises on purpose."""

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code

    @property
    def reason(self) -> str:
        """The code and the message, as a `Score` has them."""
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.message, self.code))


def _rebuild(kind: type[AdjudgeError], message: str, code: str) -> AdjudgeError:
    return kind(message, code=code)


class UsageError(AdjudgeError):
    """The call itself is wrong; nothing was scored."""

    default_code = "usage"


class UnknownReward(UsageError):
    """There is no reward of that name."""

    default_code = "unknown-reward"


class ArgumentError(UsageError):
    """A reward needs an argument that no column supplies, or was given one that it does not take."""

    default_code = "missing-column"


class MissingExtra(UsageError):
    """An optional package is not installed."""

    default_code = "missing-extra"

    @classmethod
    def of(cls, extra: str, purpose: str) -> "MissingExtra":
        """Say which install brings what `purpose` needs."""
        return cls(f"{purpose} needs an optional package: pip install 'adjudge[{extra}]'")


class DataError(AdjudgeError):
    """A row, a file or a gold answer cannot be used."""

    default_code = "bad-data"


class RowError(DataError):
    """One row is unreadable or lacks something that it needs."""

    default_code = "bad-row"


class TrajectoryError(DataError):
    """A trajectory has none of the known forms."""

    default_code = "bad-trajectory"


class ProcessError(AdjudgeError):
    """A worker process died or could not be started."""

    default_code = "process"


class RunError(AdjudgeError):
    """A run file cannot be used: another process holds it, it is damaged, or there is no room for it."""

    default_code = "run"


class RunStopped(RunError):
    """A run ended before its last row; what was done is kept, and `adjudge resume` continues."""

    default_code = "stopped"
    # It must pass every boundary: the row that happened to ask did not fail.
    fatal = True


class Caught:
    """The boundary: `with Caught() as caught:` keeps a stray exception as the reason of an error.

    An exception, a `sys.exit`, or a panic of Rust code in a user's code on one row must not stop the other rows. Only
    interrupts and cancellations pass through, and errors that are `fatal`, because they fail every row (a wrong key);
    `fatal_too` keeps those as well. Code that never waits cannot be cancelled: with `never_waits`, a cancellation that
    it raises is its own.
    """

    __slots__ = ("_fatal_too", "_never_waits", "error", "reason")

    def __init__(self, *, fatal_too: bool = False, never_waits: bool = False) -> None:
        self._fatal_too = fatal_too
        self._never_waits = never_waits
        self.error: BaseException | None = None
        self.reason: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._never_waits and error is not None and _is_cancellation(error):
            error = RuntimeError(describe_error(error))
        if error is None or _passes(error):
            return False
        # Every other row would fail in the same way.
        if getattr(error, "fatal", False) and not self._fatal_too:
            return False
        self.error = error
        self.reason = error.reason if isinstance(error, AdjudgeError) else f"raised: {describe_error(error)}"
        return True


def _passes(error: BaseException) -> bool:
    """Say whether an exception is meant for whoever runs the code, and not for whoever wrote it."""
    if isinstance(error, Exception | SystemExit):
        return False
    # A group is one of them where anything in it is.
    if isinstance(error, BaseExceptionGroup):
        return any(map(_passes, error.exceptions))
    # trio, gevent and pytest have such exceptions too, and are not imported for that.
    home = type(error).__module__.partition(".")[0]
    is_foreign = home in ("_pytest", "gevent", "greenlet", "trio")
    return isinstance(error, KeyboardInterrupt | GeneratorExit) or is_foreign or _is_cancellation(error)


def _is_cancellation(error: BaseException) -> bool:
    if isinstance(error, Exception):
        return False
    from asyncio import CancelledError  # there already, if somebody has raised it

    return isinstance(error, CancelledError)


def describe_error(error: BaseException) -> str:
    """Return an exception's type and message, even where its own `str` fails."""
    from traceback import TracebackException

    shown = TracebackException(type(error), error, None, compact=True)
    # Notes come after the message, and frameworks add some: what was raised is in neither.
    shown.__notes__ = None
    return [*shown.format_exception_only()][-1].strip().removeprefix("asyncio.exceptions.")


def closest(name: str, known: Iterable[str]) -> str:
    """Name what was probably meant: `"; did you mean 'answer'?"`, or nothing where nothing is close.

    >>> closest("anwser", ["answer", "question"])
    "; did you mean 'answer'?"
    >>> closest("zzz", ["answer", "question"])
    ''
    """
    from difflib import get_close_matches

    names = list(known)
    found = get_close_matches(name, names, n=1) or [other for other in names if name and other.startswith(name)]
    return f"; did you mean {found[0]!r}?" if found else ""


def closest_model(name: str) -> str:
    """Name the model that was probably meant by a name without its kind, or nothing.

    >>> closest_model("gpt-4o"), closest_model("claude-sonnet-4"), closest_model("qa_f1")
    ("; did you mean 'openai:gpt-4o'?", "; did you mean 'anthropic:claude-sonnet-4'?", '')
    """
    import re

    kinds = {
        "openai": r"(chat)?gpt-?[0-9]|o[1-9](-|$)|llama|qwen|phi-|gemma|smollm",
        "anthropic": r"claude",
        "litellm": r"gemini|grok|deepseek|mistral|mixtral|command-r",
    }
    # `gemini/gemini-2.5-pro` is a name that LiteLLM knows.
    model = name.rpartition("/")[2]
    found = [kind for kind, pattern in kinds.items() if re.match(pattern, model, re.IGNORECASE)]
    return f"; did you mean '{found[0]}:{name[:80]}'?" if found and ":" not in name else ""


def printable(text: str, most: int = 200) -> str:
    r"""Return text that is safe to print: what a row holds must not move the cursor, fill the screen, or command CI.

    In the logs of CI systems a line with `::error::`, `##[error]`, `##vso[...]` or `##teamcity[...]` is a command.
    Characters that show nothing, such as those that turn the direction of text, could hide one.

    >>> printable("red\x1b[31m"), printable("::error::no"), printable("##vso[task.complete]"), printable("abc", most=2)
    ('red\ufffd[31m', ': :error: :no', '##vso [task.complete]', 'ab…')
    """
    import re

    shown = "".join(character if character.isprintable() else "\ufffd" for character in text[:most])
    return re.sub(r"(:(?=:)|##\w*(?=\[))", r"\1 ", shown if len(text) <= most else f"{shown}…")
