"""The private port: `GET /metrics` for permitted readers, and nothing else."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import uvicorn
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from towerhall_server.telemetry.private import may_look

logger = logging.getLogger(__name__)

HEADERS: Final = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
START_SECONDS: Final = 10.0


class MetricsPortError(Exception):
    """The private port cannot be opened; the message says why."""


def metrics_app(shown: CollectorRegistry, token: str) -> Starlette:
    """The application of the private port."""

    async def metrics(request: Request) -> Response:
        if not may_look(token, request.headers.get("authorization", "")):
            refused = {**HEADERS, "www-authenticate": "Bearer"}
            return PlainTextResponse("the token of the metrics is needed\n", 401, refused)
        encode, kind = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(shown), 200, {**HEADERS, "content-type": kind})

    app = Starlette(routes=[Route("/metrics", metrics, methods=["GET"])])
    app.router.redirect_slashes = False
    return app


class _Beside(uvicorn.Server):
    """A server beside the service; the service alone handles signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def metrics_port(app: Starlette, host: str, port: int) -> AsyncIterator[str]:
    """Serve it for the length of an `async with` block. Yields the address of the metrics."""
    with _bound(host, port) as listening:
        config = uvicorn.Config(
            app,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        server = _Beside(config)
        task = asyncio.create_task(server.serve([listening]), name="metrics")
        try:
            async with asyncio.timeout(START_SECONDS):
                while not server.started and not task.done():  # noqa: ASYNC110 - it has no event
                    await asyncio.sleep(0.01)
            name, number = listening.getsockname()[:2]
            address = f"http://{f'[{name}]' if ':' in name else name}:{number}/metrics"
            logger.info("metrics are at %s", address)
            yield address
        finally:
            server.should_exit = True
            await asyncio.gather(task, return_exceptions=True)


def _bound(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, *_, address = found[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise MetricsPortError(f"no metrics at {host}, port {port}: {error}") from error
