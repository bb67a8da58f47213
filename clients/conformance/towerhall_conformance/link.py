"""One connection of a client, seen from the server's side, byte by byte where a case wants that."""

import asyncio
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from towerhall_conformance.case import BrokenError
from towerhall_conformance.conduct import MOST_FRAGMENTS, Message, check_form
from towerhall_protocol import codec
from towerhall_protocol.level import MSGPACK


class GoneError(Exception):
    """The client is not there any more."""


class Link:
    """A socket to the client under test."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self._is_msgpack = socket.subprotocol == MSGPACK
        self._incoming: asyncio.Queue[Message | Exception] = asyncio.Queue()
        self._over: Exception | None = None
        self._reader = asyncio.create_task(self._read())
        self.greeting: dict[str, Any] = {}

    @property
    def cursor(self) -> list[Any] | None:
        """Where the client said that it stands."""
        return self.greeting.get("cursor")

    async def send(self, *messages: Message) -> None:
        """Several messages go out at once, so that the client can hardly act in between."""
        try:
            for message in messages:
                await self._socket.send(self._encoded(message))
        except ConnectionClosed:
            raise GoneError from None

    async def receive(self, seconds: float) -> Message:
        """The next message. `TimeoutError` if none came, `GoneError` if the client left."""
        if self._over is not None:
            raise self._over
        async with asyncio.timeout(seconds):
            item = await self._incoming.get()
        if isinstance(item, Exception):
            self._over = item
            raise item
        return item

    def bytes_of(self, message: Message) -> bytes:
        """The WebSocket frame that would carry it."""
        data = self._encoded(message)
        opcode, data = (
            (Opcode.TEXT, data.encode()) if isinstance(data, str) else (Opcode.BINARY, data)
        )
        return Frame(opcode, data).serialize(mask=False)

    async def write(self, data: bytes) -> None:
        """Raw bytes, which need not be a whole frame."""
        self._socket.transport.write(data)
        await asyncio.sleep(0)

    async def ping(self, seconds: float) -> None:
        """A WebSocket ping; `TimeoutError` unless it is answered."""
        try:
            async with asyncio.timeout(seconds):
                await (await self._socket.ping())
        except ConnectionClosed:
            raise GoneError from None

    async def cut(self) -> None:
        """Break off without a close, after everything that was written."""
        self._socket.transport.close()
        await self._socket.wait_closed()

    async def close(self, code: int, reason: str = "") -> None:
        await self._socket.close(code, reason)

    async def gone(self, seconds: float) -> None:
        """Wait until the client has left. Its last messages are ignored."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self.receive(seconds)
        except GoneError:
            return

    def refuse_subprotocol(self) -> None:
        """The client offered none that there is."""
        self._over = BrokenError("P-1", "it offered neither subprotocol")

    def forget(self) -> None:
        self._reader.cancel()

    async def _read(self) -> None:
        try:
            while True:
                self._incoming.put_nowait(check_form(self._decoded(await self._whole())))
        except ConnectionClosed:
            self._incoming.put_nowait(GoneError())
        except BrokenError as error:
            self._incoming.put_nowait(error)

    async def _whole(self) -> str | bytes:
        pieces = [piece async for piece in self._socket.recv_streaming()]
        if len(pieces) > MOST_FRAGMENTS:
            raise BrokenError("P-3", f"a message has {len(pieces)} fragments")
        return "".join(pieces) if isinstance(pieces[0], str) else b"".join(pieces)  # type: ignore[arg-type]

    def _encoded(self, message: Message) -> str | bytes:
        return codec.encode(message) if self._is_msgpack else codec.encode_json(message)

    def _decoded(self, data: str | bytes) -> object:
        if isinstance(data, bytes) != self._is_msgpack:
            raise BrokenError(
                "P-2", f"a message is {'text' if isinstance(data, str) else 'binary'}"
            )
        try:
            return codec.decode(data) if isinstance(data, bytes) else codec.decode_json(data)
        except codec.CodecError as error:
            clause = "P-11" if error.code == "number_out_of_range" else "P-10"
            clause = "P-70" if error.code in ("message_too_large", "nested_too_deep") else clause
            raise BrokenError(clause, f"a message cannot be read: {error}") from None
