"""A server of environments that repeats the token does not bring it into an error."""

import pytest
from aiohttp import web

from adjudge.environments import HttpBackend, Pool
from adjudge.errors import UsageError
from adjudge.http import listening
from environments.toys import ToySpec

TOKEN = "tok-0123456789abcdef"  # noqa: S105 (not one)


async def test_the_token_is_not_repeated() -> None:
    """The error says what the server said, without the token in it."""

    async def refuse(request: web.Request) -> web.Response:
        return web.json_response({"error": ["usage", "refused", f"no {request.headers['Authorization']}"]}, status=401)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", refuse)
    async with (
        listening(app, "127.0.0.1", 0) as port,
        Pool(ToySpec(), 1, HttpBackend(f"http://127.0.0.1:{port}", token=TOKEN)) as pool,
    ):
        with pytest.raises(UsageError, match=r"no Bearer \*\*\*") as caught:
            await pool.acquire("r")
    assert TOKEN not in str(caught.value)
