"""A real uvicorn with request sockets, and strangers who send it what a test wants."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from tests.gateway.ws.socket_server import QuietServer, Recorder, until
from towerhall_server.access.arrivals import Arrivals
from towerhall_server.access.rates import Limits
from towerhall_server.gateway.responses import answer, error_handlers, read_body
from towerhall_server.gateway.ws.request_socket import request_sockets
from towerhall_server.gateway.ws.socket import RoomSocket, socket_of
from towerhall_server.telemetry.meters import Meters

SECONDS = 0.4
"""The time of a request here."""
LARGE = bytes(24 << 20)
"""More than the kernel takes in on both sides of a loopback connection."""


class Told(NamedTuple):
    """What came until the server hung up."""

    data: bytes
    seconds: float

    @property
    def status(self) -> int:
        """Of the first answer; 0 if there is none."""
        return int(self.data.split(b" ", 2)[1]) if self.data else 0

    @property
    def code(self) -> str:
        """Of the refusal, whose form is checked as well."""
        head, _, body = self.data.partition(b"\r\n\r\n")
        assert b"content-type: application/json" in head
        assert b"connection: close" in head
        assert f"content-length: {len(body)}".encode() in head
        error = json.loads(body)["error"]
        assert set(error) == {"code", "params", "hint", "rule", "doc"}
        assert "?" not in error["hint"], "a parameter is missing"
        return str(error["code"])


class Stranger:
    """One connection by hand."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.loop = asyncio.get_running_loop()
        self.opened = self.loop.time()

    async def send(self, *pieces: bytes, pause: float = 0.0) -> None:
        """All of them, or those that the server lets come."""
        with contextlib.suppress(OSError):
            for piece in pieces:
                await self.loop.sock_sendall(self.sock, piece)
                await asyncio.sleep(pause)

    async def hear(self, until: bytes) -> bytes:
        """What comes, up to there."""
        heard = b""
        while until not in heard:
            data = await self.loop.sock_recv(self.sock, 65_536)
            assert data, heard
            heard += data
        return heard

    async def end(self) -> Told:
        """What comes until the end."""
        heard = b""
        with contextlib.suppress(ConnectionError):
            while data := await self.loop.sock_recv(self.sock, 1 << 20):
                heard += data
        return Told(heard, self.loop.time() - self.opened)

    def close(self) -> None:
        self.sock.close()


class Entrance:
    """A running server."""

    def __init__(self, limits: Limits, room: int, trusted: tuple[str, ...]) -> None:
        self.recorders: list[Recorder] = []
        self.meters = Meters()
        self.arrivals = Arrivals(limits.connections_per_ip, room, trusted)
        self.strangers: list[Stranger] = []
        routes = [
            Route("/healthz", self.fine, methods=["GET"]),
            Route("/body", self.body, methods=["POST"]),
            Route("/large", self.large, methods=["GET"]),
            WebSocketRoute("/socket", self.socket),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes, exception_handlers=error_handlers()),
            port=0,
            ws=RoomSocket,
            http=request_sockets(self.arrivals, limits, self.meters),
            lifespan="off",
            log_config=None,
        )
        self.server = QuietServer(config)

    async def fine(self, request: Request) -> Response:
        return answer({"status": "ok"})

    async def body(self, request: Request) -> Response:
        return answer(await read_body(request, dict[str, int]))

    async def large(self, request: Request) -> Response:
        return Response(LARGE)

    async def socket(self, websocket: WebSocket) -> None:
        await websocket.accept()
        recorder = Recorder(socket_of(websocket.scope))
        self.recorders.append(recorder)
        recorder.socket.attach(recorder)

    async def stranger(self, source: str = "127.0.0.1", *, small: bool = False) -> Stranger:
        """A connection that the server has taken, or has refused."""
        sock = socket.socket()
        if small:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.bind((source, 0))
        sock.setblocking(False)
        stranger = Stranger(sock)
        self.strangers.append(stranger)
        port = self.server.servers[0].sockets[0].getsockname()[1]
        await stranger.loop.sock_connect(sock, ("127.0.0.1", port))
        return stranger

    async def asked(self, request: bytes, source: str = "127.0.0.1") -> Told:
        """What is told to a request that is not followed by another."""
        stranger = await self.stranger(source)
        await stranger.send(request)
        told = await stranger.end()
        stranger.close()
        return told


@contextlib.asynccontextmanager
async def entrance(
    *, room: int = 100, trusted: tuple[str, ...] = (), **limits: Any
) -> AsyncIterator[Entrance]:
    wanted = msgspec.structs.replace(Limits(request_seconds=SECONDS), **limits)
    made = Entrance(wanted, room, trusted)
    task = asyncio.create_task(made.server.serve())
    await until(lambda: made.server.started or task.done())
    try:
        yield made
    finally:
        made.server.told_to_stop.set()
        await task
        for stranger in made.strangers:
            stranger.close()
        assert made.server.server_state.connections == set()
        assert made.server.server_state.tasks == set()
        await until(lambda: not made.arrivals.total)
        assert not made.arrivals.of_networks
