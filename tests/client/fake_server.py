"""A server that does what a test tells it to: one script for each connection, in turn.

It speaks the wire over real sockets, and knows nothing of rooms. A script that ends closes its
connection; connections after the last script get the last one again.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from towerhall_client.connection import Table, connect
from towerhall_client.retry import Retry
from towerhall_protocol import codec
from towerhall_protocol import messages as m
from towerhall_protocol.commands import base64url
from towerhall_protocol.errors import CLOSES
from towerhall_protocol.level import LEVEL, MSGPACK, SUBPROTOCOLS
from towerhall_protocol.wire import read_client

UID = bytes(range(16))
BASE = "base"
WAITING: dict[str, Any] = {
    "room": {"uid": base64url(UID), "status": "waiting", "seats": {}, "code": "QJXKZB"}
}
PLAYING: dict[str, Any] = {"room": {"status": "playing"}, "game": {"turn": 0}}


class Visit:
    """One connection, from the server's side."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self.greeting = m.Greeting("", 0, "")
        self.seq = 0

    async def send(self, message: m.ServerMessage | list[Any]) -> None:
        msgpack = self.socket.subprotocol == MSGPACK
        await self.socket.send(codec.encode(message) if msgpack else codec.encode_json(message))

    async def receive(self) -> m.ClientMessage:
        data = await self.socket.recv()
        assert isinstance(data, bytes) == (self.socket.subprotocol == MSGPACK)
        document = codec.decode(data) if isinstance(data, bytes) else codec.decode_json(data)
        return read_client(document)

    async def command(self) -> m.ClientCommand:
        """The next command; pings are answered on the way."""
        while True:
            message = await self.receive()
            if isinstance(message, m.ClientCommand):
                return message
            assert isinstance(message, m.ClientPing)
            await self.send(m.ServerPong(message.seq, (0, 0)))

    async def hello(self) -> None:
        message = await self.receive()
        assert isinstance(message, m.ClientHello)
        self.greeting = message.greeting

    async def welcome(self, view: object = WAITING, seq: int = 1, **more: Any) -> None:
        """Everything anew, as after the first hello."""
        cursor = m.Cursor(BASE, seq, f"mark{seq}")
        fields: dict[str, Any] = {"view": view, "cursor": cursor, **more}
        self.seq = seq
        await self.hello()
        await self.send(m.ServerWelcome(m.Arrival("p_1", "Ada", LEVEL, (0, 0), **fields)))

    async def welcome_back(self) -> None:
        """Go on from where the client says that it is."""
        await self.hello()
        assert self.greeting.cursor is not None
        self.seq = self.greeting.cursor.seq
        arrival = m.Arrival("p_1", "Ada", LEVEL, (0, 0), self.greeting.cursor)
        await self.send(m.ServerWelcome(arrival))

    async def commit(self, cause: tuple[Any, ...] = (), **patch: Any) -> None:
        self.seq += 1
        facts = (("seen", self.seq),)
        await self.send(m.ServerFrame(self.seq, f"mark{self.seq}", cause, facts, patch))

    async def do(self, command: m.ClientCommand, **patch: Any) -> None:
        """Commit it: the frame is its acknowledgement."""
        await self.commit((0, self.greeting.origin, command.n), **patch)

    async def drop(self) -> None:
        """Break off in the middle, without a word."""
        self.socket.transport.abort()
        await self.socket.wait_closed()

    async def close(self, name: str) -> None:
        await self.socket.close(CLOSES[name].code, name)

    async def stay(self) -> None:
        """Until the client goes; pings are answered."""
        while True:
            message = await self.receive()
            if isinstance(message, m.ClientPing):
                await self.send(m.ServerPong(message.seq, (0, 0)))


Script: TypeAlias = Callable[[Visit], Awaitable[None]]


class FakeServer:
    """The scripts, and who came."""

    def __init__(self, scripts: tuple[Script, ...]) -> None:
        self._scripts = scripts
        self.visits: list[Visit] = []
        self.paths: list[str] = []
        self.problems: list[BaseException] = []
        self.answers: list[tuple[int, bytes]] = []
        """In place of a connection: HTTP status and body for the next ones."""
        self.url = ""

    async def serve(self, socket: ServerConnection) -> None:
        visit = Visit(socket)
        self.visits.append(visit)
        assert socket.request is not None
        self.paths.append(socket.request.path)
        script = self._scripts[min(len(self.visits), len(self._scripts)) - 1]
        try:
            await script(visit)
        except ConnectionClosed:
            pass
        except Exception as error:  # noqa: BLE001 - told to the test at its end
            self.problems.append(error)

    def refuse(self, socket: ServerConnection, request: Request) -> Response | None:
        if not self.answers:
            return None
        status, body = self.answers.pop(0)
        response = socket.respond(status, "")
        response.body = body
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(body))
        return response


@asynccontextmanager
async def fake_server(*scripts: Script) -> AsyncIterator[FakeServer]:
    fake = FakeServer(scripts)
    server: Server = await serve(
        fake.serve,
        "127.0.0.1",
        0,
        subprotocols=list(SUBPROTOCOLS),  # type: ignore[arg-type]
        process_request=fake.refuse,
        compression=None,
        close_timeout=1,
    )
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        server.close()
        await server.wait_closed()
    assert not fake.problems, fake.problems


class Sleeps:
    """Waits of a client that are noted and not waited for."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(round(seconds, 6))
        await asyncio.sleep(0)


@asynccontextmanager
async def joined(
    server: FakeServer, sleeps: Sleeps | None = None, **more: Any
) -> AsyncIterator[Table]:
    """A client of that server that does not wait, and whose chance is always one half."""
    more.setdefault("retry", Retry(sleep=sleeps or Sleeps(), chance=lambda: 0.5))
    async with connect(server.url, "QJXKZB", "token", **more) as table:
        yield table
