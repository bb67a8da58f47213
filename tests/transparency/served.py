"""A public log as it is served over HTTP, with a face that may lie."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.transparency.logs import ORIGIN
from towerhall_server.access.rates import Buckets, Rate
from towerhall_server.eventlog.log import EventLog
from towerhall_server.gateway.http.log_routes import LogRoutes, Serve
from towerhall_server.gateway.responses import RefusedError, error_handlers
from towerhall_server.transparency.service import Transparency, open_public_log

SEED = bytes(range(32))
Lie = Callable[[str, bytes], bytes | None]
"""From an address and the true answer. None: not found."""


class Face:
    """What a service shows of its log."""

    def __init__(self, public: Transparency) -> None:
        self.public = public
        self.lie: Lie = lambda path, data: data
        self.url = ""

    def reading(self, path: str, serve: Serve) -> Route:
        async def endpoint(request: Request) -> Response:
            answer = await serve(request)
            shown = self.lie(request.url.path, bytes(answer.body))
            if shown is None:
                raise RefusedError("not_found")
            return Response(shown, answer.status_code)

        return Route(path, endpoint, methods=["GET"])


@asynccontextmanager
async def served(
    log: EventLog, witnesses: tuple[str, ...] = (), *, seeds: tuple[bytes, ...] = (SEED,)
) -> AsyncIterator[Face]:
    """The routes of the log on a port of their own."""
    face = Face(await open_public_log(log, seeds, ORIGIN, (), witnesses))
    hall: Any = SimpleNamespace(gets=Buckets(Rate(10_000, 10_000)))
    routes = LogRoutes(hall, face.public).table(face.reading)
    app = Starlette(routes=routes, exception_handlers=error_handlers())
    config = uvicorn.Config(app, port=0, lifespan="off", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    face.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield face
    finally:
        server.should_exit = True
        await running
