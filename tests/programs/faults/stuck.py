"""Peers that say hello and never read again: their kernel's buffers fill, and then the server's."""

import asyncio
import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from websockets.frames import Opcode

from tests.gateway.ws.socket_frames import masked
from towerhall_protocol.codec import encode
from towerhall_protocol.level import LEVEL, MSGPACK
from towerhall_protocol.messages import ClientHello, ClientHistory, Greeting

RECEIVE_BYTES: Final = 4096
ORIGIN: Final = "AAAAAAAAAAA"
MOST_SEQ: Final = 1 << 20
ESTABLISHED: Final = "01"
ACCEPTED: Final = b"HTTP/1.1 101"


def request(address: str, code: str) -> bytes:
    """Asks for a WebSocket to a room."""
    head = (
        f"GET /v1/rooms/{code} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dG93ZXJoYWxsIHRvd2VyaA==\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {MSGPACK}\r\n\r\n"
    )
    return head.encode()


async def handshake(address: str, code: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A raw connection to a room, after its handshake."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request(address, code))
    answer = await reader.readuntil(b"\r\n\r\n")
    assert answer.startswith(ACCEPTED), answer
    return reader, writer


class Stuck:
    """One of them. It asks for all of the past again and again, to be sent as much as can be."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        self._socket.setblocking(False)
        self._ends = (0, 0)

    async def enter(self, address: str, code: str, token: str) -> None:
        loop = asyncio.get_running_loop()
        host, _, port = address.partition(":")
        await loop.sock_connect(self._socket, (host, int(port)))
        self._ends = (int(port), self._socket.getsockname()[1])
        await loop.sock_sendall(self._socket, request(address, code))
        answer = await loop.sock_recv(self._socket, 1024)
        assert answer.startswith(ACCEPTED), answer
        hello = ClientHello(Greeting(token, LEVEL, ORIGIN))
        await loop.sock_sendall(self._socket, masked(Opcode.BINARY, encode(hello)))

    def ask(self) -> None:
        """For everything once more."""
        with suppress(OSError):
            self._socket.send(masked(Opcode.BINARY, encode(ClientHistory(1, MOST_SEQ))))

    @property
    def ends(self) -> tuple[int, int]:
        """The ports of the connection, the server's first: one alone may have several."""
        return self._ends

    def close(self) -> None:
        self._socket.close()


def sent_away(peers: Iterable[Stuck]) -> int:
    """How many of them the server has given up. They cannot tell: its last word waits, too, in a
    buffer that nobody reads. The kernel knows (Linux)."""
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    standing = {(_port(row[1]), _port(row[2])) for row in rows if row[3] == ESTABLISHED}
    return sum(peer.ends not in standing for peer in peers)


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)
