"""One room socket without a server and without a network, for very many short lives."""

import asyncio
from types import TracebackType
from typing import Any

import uvicorn
from uvicorn.server import ServerState
from websockets.frames import Opcode

from tests.gateway.ws.socket_frames import frames_in
from towerhall_server.gateway.ws.socket import RoomSocket, socket_of

REQUEST = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class Wire(asyncio.Transport):
    """A transport whose peer reads at once. It is its own socket, too."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.over = False
        self.ended_writing = False

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", 1

    getpeername = getsockname

    def setsockopt(self, *option: int) -> None:
        pass

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self if name == "socket" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.ended_writing
        self.written += bytes(data)

    def write_eof(self) -> None:
        self.ended_writing = True

    def is_closing(self) -> bool:
        return self.over

    def close(self) -> None:
        self.over = True

    abort = close


class Echo:
    """A listener that answers every message with its length."""

    def __init__(self, room_socket: RoomSocket) -> None:
        self.socket = room_socket

    def received(self, data: bytes | str) -> None:
        self.socket.write_frame(bytes((0x82, 1, len(data) % 256)))

    def writable(self) -> None:
        raise AssertionError("nothing was ever held back")

    def ended(self, reason: str) -> None:
        raise AssertionError("nothing was wrong")

    def lost(self) -> None:
        pass


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    room_socket = socket_of(scope)
    room_socket.attach(Echo(room_socket))


CONFIG = uvicorn.Config(_echo, ws=RoomSocket, ws_max_size=4096, log_config=None, lifespan="off")
CONFIG.load()


class Lone:
    """An open connection with an echo behind it."""

    def __enter__(self) -> "Lone":
        self.loop = asyncio.new_event_loop()
        self.wire = Wire()
        self.socket = RoomSocket(CONFIG, ServerState(), {}, self.loop)
        self.socket.connection_made(self.wire)
        self.socket.data_received(REQUEST)
        self.loop.run_until_complete(asyncio.gather(*self.socket.tasks))
        assert self.wire.written.startswith(b"HTTP/1.1 101 ")
        self.wire.written = b""
        return self

    def feed(self, data: bytes) -> None:
        """What a peer sends, as long as somebody reads."""
        if data and not self.wire.over:
            self.socket.data_received(data)

    def check_what_was_written(self) -> None:
        """Whole frames, and at most one close, which is the last of them."""
        opcodes = [frame.opcode for frame in frames_in(self.wire.written)]
        assert Opcode.CLOSE not in opcodes[:-1]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.socket.connection_lost(None)
        self.loop.close()
