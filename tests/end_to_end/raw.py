"""A client without a line of ours: it says whatever it is told to, and shows all that comes back.

Messages are plain lists, by the ordinary msgpack and JSON libraries. Nothing here knows what makes
sense, resends anything or reconnects: what a test does not say is not said.
"""

import asyncio
import itertools
import json
import secrets
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

MSGPACK, JSON = "towerhall.v1.msgpack", "towerhall.v1.json"
BOTH = (MSGPACK, JSON)
SECONDS = 15.0
"""Nothing that a test waits for takes so long, whatever else the machine does."""
NO_CLOSE = 1006


class Answer(NamedTuple):
    """Of an HTTP request. Names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of the refusal; the rest of its shape is checked here as well."""
        assert self.headers["content-type"] == "application/json"
        error = self.document["error"]
        assert set(error) == {"code", "params", "hint", "rule", "doc"}
        assert error["hint"]
        assert error["doc"] == f"/docs/spec#{error['rule']}"
        return str(error["code"])


def ask(
    url: str,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """One request. A body of bytes goes out as it is, any other one as JSON. A POST says that it is
    JSON, unless the headers say something else."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    try:
        declared = {"content-type": "application/json"} if method == "POST" else {}
        connection.request(method, path, data, declared | dict(headers or {}))
        response = connection.getresponse()
        named = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, named, response.read())
    finally:
        connection.close()


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def new_guest(url: str, name: str = "Ada") -> str:
    """The token of somebody new."""
    answer = ask(url, "POST", "/v1/guests", {"name": name})
    assert answer.status == 201, answer.body
    return str(answer.document["token"])


def new_room(url: str, token: str, **wanted: object) -> dict[str, str]:
    """A new room: its code, and its key if it is private."""
    answer = ask(url, "POST", "/v1/rooms", {"game": "five_towers", **wanted}, bearer(token))
    assert answer.status == 201, answer.body
    made: dict[str, str] = answer.document
    return made


def pack(message: object, *, text: bool) -> bytes | str:
    if text:
        return json.dumps(message, ensure_ascii=False)
    packed: bytes = msgpack.packb(message)
    return packed


def unpack(data: bytes | str) -> Any:
    return json.loads(data) if isinstance(data, str) else msgpack.unpackb(data)


class End(NamedTuple):
    """What was still to be read, and how the connection ended."""

    messages: list[list[Any]]
    data: list[bytes | str]
    code: int
    reason: str

    @property
    def error(self) -> str:
        """The code of the last thing that was said, which is an error."""
        name, code, _, hint, rule = self.messages[-1]
        assert name == "error"
        assert hint
        assert rule.startswith("P-")
        return str(code)


class Raw:
    """One connection."""

    def __init__(self, wire: ClientConnection) -> None:
        self.wire = wire
        self.text = wire.subprotocol == JSON
        self.origin = secrets.token_urlsafe(8)
        self._numbers = itertools.count(1)
        self._pings = itertools.count(10_000)

    # Saying

    async def throw(self, data: bytes | str, *, text: bool | None = None) -> None:
        """These very bytes, as a binary or a text message."""
        await self.wire.send(data, text=text)

    async def say(self, *message: object) -> None:
        await self.throw(pack(message, text=self.text))

    async def hello(self, token: str, **more: object) -> None:
        await self.say("hello", {"token": token, "level": 1, "origin": self.origin, **more})

    async def command(
        self, command: str, *, n: int = 0, tag: str = "", dry: bool = False, **fields: object
    ) -> int:
        """Give a command; its number."""
        n = n or next(self._numbers)
        await self.say("command", n, tag, {"command": command, **fields}, dry)
        return n

    def burst(self, *messages: object) -> None:
        """Several messages in one piece, so that the server reads them all before it answers."""
        protocol = self.wire.protocol
        for message in messages:
            packed = pack(message, text=self.text)
            if isinstance(packed, str):
                protocol.send_text(packed.encode())
            else:
                protocol.send_binary(packed)
        self.wire.transport.write(b"".join(protocol.data_to_send()))

    # Hearing

    async def hear(self) -> list[Any]:
        async with asyncio.timeout(SECONDS):
            message: list[Any] = unpack(await self.wire.recv())
        return message

    async def wait_for(self, *start: object) -> list[Any]:
        """The next message that begins like this; what comes before it is dropped."""
        return (await self.up_to(*start))[-1]

    async def up_to(self, *start: object) -> list[list[Any]]:
        """All messages up to the next one that begins like this."""
        heard = [await self.hear()]
        while heard[-1][: len(start)] != list(start):
            heard.append(await self.hear())
        return heard

    async def answer(self, n: int) -> list[Any]:
        """The answer to command n: its frame, `rejected`, `duplicate` or `accepted`."""
        while not self.is_answer(message := await self.hear(), n):
            pass
        return message

    def is_answer(self, message: list[Any], n: int) -> bool:
        if message[0] == "frame":
            return bool(message[3][1:] == [self.origin, n])
        return message[0] in ("rejected", "duplicate", "accepted") and message[1] == n

    async def done(self, command: str, **fields: Any) -> list[Any]:
        """Give a command, which is done; its frame."""
        frame = await self.answer(await self.command(command, **fields))
        assert frame[0] == "frame", frame
        return frame

    async def refused(self, command: str, **fields: Any) -> str:
        """Give a command, which is refused; the code."""
        n = await self.command(command, **fields)
        name, number, code, rule, _, hint = await self.answer(n)
        assert (name, number) == ("rejected", n)
        assert rule
        assert hint
        return str(code)

    async def quiet(self) -> list[list[Any]]:
        """All that comes before the answer to a ping, which is proof of life as well."""
        seq = next(self._pings)
        await self.say("ping", seq)
        return (await self.up_to("pong", seq))[:-1]

    async def end(self) -> End:
        """Read to the end."""
        data: list[bytes | str] = []
        try:
            async with asyncio.timeout(SECONDS):
                while True:
                    data.append(await self.wire.recv())
        except ConnectionClosed as closed:
            close = closed.rcvd
        heard = [unpack(each) for each in data]
        if close is None:
            return End(heard, data, NO_CLOSE, "")
        return End(heard, data, close.code, close.reason)


@asynccontextmanager
async def connected(
    url: str,
    code: str,
    subprotocol: str = MSGPACK,
    *,
    page: str | None = None,
    receive_bytes: int | None = None,
    path: str = "",
) -> AsyncIterator[Raw]:
    """A socket to a room, or to that path, that has not said anything yet. `page` is what a
    browser would tell."""
    parts = urlsplit(url)
    wire = socket.socket()
    if receive_bytes is not None:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    wire.setblocking(False)
    await asyncio.get_running_loop().sock_connect(wire, (parts.hostname, parts.port))
    async with connect(
        f"ws://{parts.netloc}{path or f'/v1/rooms/{code}'}",
        sock=wire,
        origin=None if page is None else Origin(page),
        subprotocols=[Subprotocol(subprotocol)],
        compression=None,
        max_size=1 << 20,
        close_timeout=1,
        ping_interval=None,
    ) as opened:
        assert opened.subprotocol == subprotocol
        yield Raw(opened)


@asynccontextmanager
async def inside(
    url: str,
    code: str,
    token: str,
    subprotocol: str = MSGPACK,
    *,
    receive_bytes: int | None = None,
    **more: object,
) -> AsyncIterator[Raw]:
    """A connection that has been welcomed."""
    async with connected(url, code, subprotocol, receive_bytes=receive_bytes) as raw:
        await raw.hello(token, **more)
        welcome = await raw.hear()
        assert welcome[0] == "welcome", welcome
        yield raw


async def denied(
    url: str, code: str, *, page: str | None = None, subprotocols: tuple[str, ...] = BOTH
) -> Answer:
    """The HTTP answer to a socket that is not opened."""
    try:
        async with connect(
            f"ws://{urlsplit(url).netloc}/v1/rooms/{code}",
            origin=None if page is None else Origin(page),
            subprotocols=[Subprotocol(name) for name in subprotocols] or None,
            compression=None,
            proxy=None,
        ):
            raise AssertionError("the socket was opened")
    except InvalidStatus as error:
        response = error.response
    named = {name.lower(): value for name, value in response.headers.raw_items()}
    return Answer(response.status_code, named, bytes(response.body or b""))
