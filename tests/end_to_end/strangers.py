"""What a stranger can do to a server again and again, without a token that holds: one table.

Each act is what one stranger sends. Ten requests share a connection, all other acts need one each.
No two acts are alike: codes, tokens and paths change each time, and so does the address of each
connection. A server that kept anything by one of these would grow.
"""

import asyncio
import socket
import struct
from random import Random
from typing import Final, NamedTuple

from tests.end_to_end.raw import MSGPACK, pack
from towerhall_server.room.codes import CODE_LENGTH, CODE_LETTERS

AT_ONCE: Final = 10
"""Requests in one piece, over one connection."""
CHANGES: Final = "ABCDEF"
"""Stands for letters of a room's code that are others each time."""
WRONG: Final = f"WyJBQUVDQXdRRkJnYyIsIkFubiJd.aWUJgA.{CHANGES:A<43}"
"""A token of the right shape that no server signed."""


def request(line: str, *headers: str, body: bytes = b"") -> bytes:
    head = [f"{line} HTTP/1.1", "host: localhost", *headers]
    if body:
        head.append(f"content-length: {len(body)}")
    return "\r\n".join([*head, "", ""]).encode() + body


JSON: Final = "content-type: application/json"


def upgrade(path: str, *headers: str) -> bytes:
    return request(
        f"GET {path}",
        "connection: Upgrade",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
        *headers,
    )


def masked(message: object) -> bytes:
    data = pack(message, text=False)
    assert isinstance(data, bytes)
    assert len(data) < 65_536
    return struct.pack("!BBH4x", 0x82, 0x80 | 126, len(data)) + data


PLAY: Final = upgrade(f"/v1/rooms/{CHANGES}", f"sec-websocket-protocol: {MSGPACK}")
HELLO: Final = masked(["hello", {"token": WRONG, "level": 1, "origin": "b3JpZ2luMTE"}])


class Act(NamedTuple):
    """What is sent, and what the answers to it begin with."""

    data: bytes
    answer: bytes
    keeps: bool = False
    """Whether a connection may do it again."""
    then: bytes = b""
    """Is sent after the answer."""


ACTS: Final = {
    "bad token": Act(
        request("GET /v1/me/rooms", f"authorization: Bearer {WRONG}"), b"HTTP/1.1 401", keeps=True
    ),
    "bad json": Act(
        request("POST /v1/guests", JSON, body=b'{"%b": ' % CHANGES.encode()),
        b"HTTP/1.1 4",
        keeps=True,
    ),
    "wrong path": Act(request(f"GET /nothing/{CHANGES}"), b"HTTP/1.1 404", keeps=True),
    "wrong room": Act(request(f"GET /v1/rooms/{CHANGES}"), b"HTTP/1.1 404", keeps=True),
    "wrong method": Act(request(f"DELETE /v1/guests?{CHANGES}"), b"HTTP/1.1 405", keeps=True),
    "half a request": Act(f"GET /v1/games HTTP/1.1\r\nhost: {CHANGES}".encode(), b""),
    "half a body": Act(
        request("POST /v1/guests", JSON, "content-length: 100") + b'{"%b' % CHANGES.encode(), b""
    ),
    "half a handshake": Act(PLAY[:-2], b""),
    "no request": Act(b"\0\1\2\3\r\n\r\n", b"HTTP/1.1 400"),
    "bad chunks": Act(
        request("POST /v1/guests", JSON, "transfer-encoding: chunked") + b"zz\r\n", b"HTTP/1.1 400"
    ),
    "bad handshake": Act(PLAY.replace(b": 13", b": 12"), b"HTTP/1.1 400"),
    "socket elsewhere": Act(upgrade(f"/elsewhere/{CHANGES}"), b"HTTP/1.1 404"),
    "hello with a bad token": Act(PLAY, b"HTTP/1.1 101", then=HELLO),
    "no frame": Act(PLAY, b"HTTP/1.1 101", then=b"\xff" * 10),
    "handshake and away": Act(PLAY + HELLO, b""),
}


async def flood(port: int, act: Act, count: int, *, beside: int = 32) -> None:
    """Do it so often, from some connections at a time."""
    share, rest = divmod(count, beside)
    once = _again if act.keeps else _each
    async with asyncio.TaskGroup() as group:
        for number in range(beside):
            stranger = _Stranger(port, Random())
            group.create_task(once(stranger, act, share + (number < rest)))


class _Stranger(NamedTuple):
    """Is another one each time."""

    port: int
    chance: Random

    def fresh(self, data: bytes) -> bytes:
        letters = "".join(self.chance.choices(CODE_LETTERS, k=CODE_LENGTH))
        return data.replace(CHANGES.encode(), letters.encode())

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        source = f"127.{self.chance.randrange(1, 255)}." + ".".join(
            str(self.chance.randrange(1, 255)) for _ in range(2)
        )
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(source, 0))


async def _again(stranger: _Stranger, act: Act, count: int) -> None:
    while count > 0:
        reader, writer = await stranger.connect()
        batch = min(AT_ONCE, count)
        writer.write(b"".join(stranger.fresh(act.data) for _ in range(batch)))
        heard = b""
        while (answers := heard.count(b"HTTP/1.1 ")) < batch:
            data = await reader.read(65_536)
            assert data, heard
            heard += data
        assert answers == heard.count(act.answer) == batch, heard
        count -= batch
        leave(writer)


async def _each(stranger: _Stranger, act: Act, count: int) -> None:
    for _ in range(count):
        reader, writer = await stranger.connect()
        writer.write(stranger.fresh(act.data))
        if act.answer:
            heard = await reader.read(12)
            assert heard.startswith(act.answer), heard
        if act.then:
            writer.write(stranger.fresh(act.then))
            await reader.read()
        leave(writer)


def leave(writer: asyncio.StreamWriter) -> None:
    """With a reset: no port of this side stays taken."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
