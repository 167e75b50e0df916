"""What instances behind HTTP have in common: a client, and the rule that a call without an answer is the end."""

from collections.abc import Mapping
from typing import Any, TypeVar

from adjudge.environments._backend import PoolLimits
from adjudge.environments._errors import EnvDied, EnvProtocolError, EnvStepTimeout
from adjudge.errors import AdjudgeError, DataError
from adjudge.http import AttemptTimeout, DeadlineExceeded, HttpClient, HttpError, HttpReply, Limits, Reader, Request
from adjudge.model import decode_json, to_json

__all__ = ["Remote", "SharedClient", "read_json"]

T = TypeVar("T")

_SLACK_S = 5.0
_AT_ONCE = 4096


class SharedClient:
    """The client of all sessions of one backend; its connections are closed with the last of them.

    `take` and `let_go` are called on the background loop only.
    """

    def __init__(self, *, attempts: int) -> None:
        self._attempts = attempts
        self._client: HttpClient | None = None
        self._users = 0

    def take(self, limits: PoolLimits) -> HttpClient:
        """Return a client whose attempts outlast the longest call that the other side may take."""
        self._users += 1
        if self._client is None:
            longest = max(limits.step_s, limits.start_s) + _SLACK_S
            self._client = HttpClient(
                Limits(in_flight=_AT_ONCE, attempts=self._attempts, attempt_timeout_s=longest, deadline_s=2 * longest)
            )
        return self._client

    async def let_go(self) -> None:
        """Say that one session less needs it."""
        self._users -= 1
        if self._users == 0 and self._client is not None:
            client, self._client = self._client, None
            await client.close()


def read_json(reply: HttpReply) -> Any:
    """Return what a good answer holds."""
    if not 200 <= reply.status < 300:
        said = reply.body[:300].decode("utf-8", "replace")
        raise EnvProtocolError(f"the environment server answered {reply.status}: {said}")
    try:
        return decode_json(reply.body, place="the answer: ")
    except (DataError, RecursionError) as error:
        raise EnvProtocolError(f"the environment server answered something that is no JSON: {error}") from error


class Remote:
    """One session with a server. Once a call has ended without an answer, nobody knows where the episode stands."""

    def __init__(self, shared: SharedClient, url: str, limits: PoolLimits) -> None:
        self._shared: SharedClient | None = shared
        self._client = shared.take(limits)
        self._url = url.rstrip("/")
        self._broken = False

    @property
    def alive(self) -> bool:
        """Whether every call so far had an answer."""
        return not self._broken

    def memory_mb(self) -> float | None:
        """Nothing is known: the memory is the server's."""
        return None

    async def hang_up(self) -> None:
        """Let the client go; calling it twice is legal."""
        self._broken = True
        shared, self._shared = self._shared, None
        if shared is not None:
            await shared.let_go()

    def headers(self) -> Mapping[str, str]:
        """Return what every request carries."""
        return {"Content-Type": "application/json"}

    async def _send(
        self, path: str, body: Any, read: Reader[T], *, method: str = "POST", more: Mapping[str, str] | None = None
    ) -> T:
        if self._broken:
            raise EnvDied(f"a call to {self._url} ended without an answer: nobody knows where the episode stands")
        headers = {**self.headers(), **(more or {})}
        content = None if method == "GET" else to_json(body)
        request = Request(f"{self._url}{path}", content, method, lambda: headers)
        answered = False
        try:
            value = await self._client.send(request, read)
            answered = True
        except (AttemptTimeout, DeadlineExceeded) as error:
            raise EnvStepTimeout(error.message) from error
        except HttpError as error:
            raise EnvDied(f"the environment server cannot be reached: {error.message}") from error
        except AdjudgeError as error:
            answered = not isinstance(error, EnvDied | EnvStepTimeout)
            raise
        finally:
            self._broken = not answered
        return value
