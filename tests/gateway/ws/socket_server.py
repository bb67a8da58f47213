"""A real uvicorn with room sockets, and peers that behave as badly as a test wants."""

import asyncio
import contextlib
import functools
import inspect
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any, TypeAlias

import pytest
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from websockets.client import ClientProtocol
from websockets.frames import Close, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from tests.gateway.ws.socket_frames import close_in, masked
from towerhall_server.gateway.ws.socket import RoomSocket, socket_of

PATIENCE = 20.0
MESSAGE_BYTES = 4096

Endpoint: TypeAlias = Callable[[WebSocket], Awaitable[None]]
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def on_each_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test on the loop that the server uses, and on the one that it falls back to."""

    @pytest.mark.parametrize("loop_factory", LOOPS.values(), ids=LOOPS)
    @functools.wraps(test)
    def run(*, loop_factory: Callable[[], asyncio.AbstractEventLoop], **fixtures: Any) -> None:
        with asyncio.Runner(debug=True, loop_factory=loop_factory) as runner:
            runner.run(asyncio.wait_for(test(**fixtures), PATIENCE))

    # What pytest shall pass: what the test wants, and the loop.
    own = inspect.Parameter("loop_factory", inspect.Parameter.KEYWORD_ONLY)
    wanted = (*inspect.signature(test).parameters.values(), own)
    vars(run)["__signature__"] = inspect.Signature(wanted)
    del vars(run)["__wrapped__"]
    typed: Callable[..., None] = run
    return typed


async def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until something holds that nobody announces."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


class Recorder:
    """A listener that remembers."""

    def __init__(self, room_socket: RoomSocket) -> None:
        self.socket = room_socket
        self.messages: list[bytes | str] = []
        self.writables = 0
        self.ends: list[str] = []
        self.losses = 0

    def received(self, data: bytes | str) -> None:
        assert self.losses == 0
        self.messages.append(data)

    def writable(self) -> None:
        assert self.losses == 0
        self.writables += 1

    def ended(self, reason: str) -> None:
        assert self.losses == 0
        self.ends.append(reason)

    def lost(self) -> None:
        self.losses += 1


class QuietServer(uvicorn.Server):
    """Leaves the signals of the test run alone, and stops when it is told to, not a tick later."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told_to_stop = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.told_to_stop.wait()


class Served:
    """A running server."""

    def __init__(self, endpoints: tuple[Endpoint, ...], **settings: Any) -> None:
        self.recorders: list[Recorder] = []
        found = enumerate(endpoints or (self.attach,))
        app = Starlette(routes=[WebSocketRoute(f"/{at}", endpoint) for at, endpoint in found])
        defaults = {"ws_max_size": MESSAGE_BYTES, "lifespan": "off", "log_config": None}
        self.server = QuietServer(
            uvicorn.Config(app, port=0, ws=RoomSocket, **{**defaults, **settings})
        )

    async def attach(self, websocket: WebSocket) -> None:
        """The endpoint of most tests."""
        await websocket.accept()
        recorder = Recorder(socket_of(websocket.scope))
        self.recorders.append(recorder)
        recorder.socket.attach(recorder)

    @property
    def port(self) -> int:
        port: int = self.server.servers[0].sockets[0].getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/0"

    async def recorder(self) -> Recorder:
        """What the newest connection heard; for tests with one."""
        await until(lambda: self.recorders)
        return self.recorders[-1]

    async def peer(self, **options: Any) -> "Peer":
        return await Peer.connected(self.port, **options)


@contextlib.asynccontextmanager
async def serving(*endpoints: Endpoint, **settings: Any) -> AsyncIterator[Served]:
    """A server with these endpoints, numbered from 0; with none, one that attaches a recorder."""
    served = Served(endpoints, **settings)
    task = asyncio.create_task(served.server.serve())
    await until(lambda: served.server.started or task.done())
    try:
        yield served
    finally:
        served.server.told_to_stop.set()
        await task
        assert served.server.server_state.connections == set()
        assert served.server.server_state.tasks == set()


class Peer:
    """A client by hand: it reads only when it is told to, and sends whatever it is told to."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.loop = asyncio.get_running_loop()
        self.protocol = ClientProtocol(parse_uri("ws://localhost"), state=State.OPEN, max_size=None)

    @classmethod
    async def connected(
        cls, port: int, *, endpoint: int = 0, headers: str = "", small: bool = False
    ) -> "Peer":
        """With `small` it takes in next to nothing unless it reads."""
        sock = socket.socket()
        if small:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        peer = cls(sock)
        await peer.loop.sock_connect(sock, ("127.0.0.1", port))
        request = (
            f"GET /{endpoint} HTTP/1.1\r\nHost: localhost\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            f"{headers}\r\n"
        )
        await peer.loop.sock_sendall(sock, request.encode())
        return peer

    async def opened(self) -> "Peer":
        """Read the answer to the request."""
        status = await self.status()
        assert status == 101, status
        return self

    async def status(self) -> int:
        """Of the answer to the request; 0 if there is none."""
        answer = b""
        while b"\r\n\r\n" not in answer:
            data = await self.loop.sock_recv(self.sock, 4096)
            if not data:
                return 0
            answer += data
        head, _, rest = answer.partition(b"\r\n\r\n")
        status = int(head.split(b" ")[1])
        if status == 101:
            self.protocol.receive_data(rest)
        return status

    async def send(self, *frames: bytes) -> None:
        await self.loop.sock_sendall(self.sock, b"".join(frames))

    async def flood(self, frame: bytes, most: int) -> int:
        """Send a frame again and again until the server hangs up; the bytes that it took."""
        batch = frame * (65536 // len(frame))
        sent = 0
        with contextlib.suppress(OSError):
            while sent < most:
                await self.loop.sock_sendall(self.sock, batch)
                sent += len(batch)
                await asyncio.sleep(0)
        return sent

    async def frames(self, count: int | None = None) -> list[Frame]:
        """So many frames, or all until the server closes its side."""
        found: list[Frame] = []
        while True:
            found += [e for e in self.protocol.events_received() if isinstance(e, Frame)]
            assert self.protocol.parser_exc is None
            if count is not None and len(found) >= count:
                return found
            try:
                data = await self.loop.sock_recv(self.sock, 1 << 16)
            except ConnectionError:
                return found
            if not data:
                return found
            self.protocol.receive_data(data)

    async def closed(self) -> Close:
        """How the server ended this: with one close, and nothing after it."""
        return close_in(await self.frames())

    async def leave(self) -> None:
        """As a well-mannered peer does it."""
        await self.send(masked(Opcode.CLOSE, Close(1000, "").serialize()))
        self.sock.close()

    def vanish(self) -> None:
        """As a peer whose machine is switched off: with a reset, and without a word."""
        linger = struct.pack("ii", 1, 0)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.sock.close()

    async def __aenter__(self) -> "Peer":
        return await self.opened()

    async def __aexit__(self, *_: object) -> None:
        self.sock.close()
