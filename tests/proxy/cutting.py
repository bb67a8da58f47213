"""A proxy to a server that cuts connections at an exact byte, and records all traffic.

A `CuttingProxy` passes bytes on as they come and keeps all of them. Each new connection takes the
next `Cut` from a list: exactly that many bytes are passed one way, and then the connection ends.
After the list is used up, connections last. `split` finds the WebSocket frames afterwards: no
message is interpreted here.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

import msgspec

from tests.proxy.carrier import HOST
from tests.proxy.carrier import Direction as Way

HEAD_END = b"\r\n\r\n"


class Cut(msgspec.Struct, frozen=True):
    """Where a connection ends."""

    way: Way
    """`down` counts what the server sends, `up` what the client sends."""
    after: int
    """So many bytes are passed: of the whole connection, or from the beginning of a frame on."""
    frame: int = 0
    """Which frame; 1 is the first after the handshake."""
    reset: bool = False
    """Rudely: then the last bytes before it may be lost as well. Otherwise they all arrive."""


class Traffic:
    """Everything that one connection carried."""

    def __init__(self) -> None:
        self.down, self.up = bytearray(), bytearray()
        self.cut: Cut | None = None
        """What ended it, once it did."""

    def of(self, way: Way) -> bytearray:
        return self.down if way == "down" else self.up

    @property
    def place(self) -> str:
        """Where in the stream the cut fell."""
        assert self.cut is not None
        stream = split(bytes(self.of(self.cut.way)))
        if not stream.head:
            return "handshake"
        if not stream.rest:
            return "between frames"
        return "payload" if len(stream.rest) >= _header_bytes(stream.rest) else "header"


class Stream(msgspec.Struct, frozen=True):
    """One direction of a connection, taken apart."""

    head: bytes
    """The handshake; nothing while it is not whole."""
    starts: tuple[int, ...]
    """Where frames begin, the one that is not whole included, and so is the one to come."""
    messages: tuple[bytes, ...]
    """The payloads of all whole data frames. Those of clients are unmasked."""
    rest: bytes
    """What is left over of a frame that is not whole."""


class CuttingProxy:
    """An address that leads to a server, with accidents. To be used as a context."""

    def __init__(self, port: int, cuts: Iterable[Cut] = ()) -> None:
        self._port = port
        self._cuts = deque(cuts)
        self._tasks: set[asyncio.Task[None]] = set()
        self._pairs: set[_Pair] = set()
        self._parted = asyncio.Event()
        self._server: asyncio.Server | None = None
        self.url = ""
        self.traffic: list[Traffic] = []
        """Of all connections, in the order in which they came."""

    @property
    def drops(self) -> int:
        """So many connections have been cut."""
        return sum(traffic.cut is not None for traffic in self.traffic)

    @property
    def cuts_left(self) -> int:
        return len(self._cuts)

    def places(self) -> Counter[tuple[str, str]]:
        """How often a cut fell where: way and place."""
        return Counter((t.cut.way, t.place) for t in self.traffic if t.cut is not None)

    def drop_all(self) -> None:
        """Cut every connection that stands, now."""
        for pair in tuple(self._pairs):
            pair.drop()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._accept, HOST, 0)
        self.url = f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}/"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for pair in tuple(self._pairs):
            pair.abort()
        # A socket is closed when the loop says so, and not before.
        while self._pairs:
            self._parted.clear()
            await self._parted.wait()
        await self._server.wait_closed()

    def _accept(self) -> asyncio.Protocol:
        traffic = Traffic()
        self.traffic.append(traffic)
        pair = _Pair(traffic, self._cuts.popleft() if self._cuts else None, self._part)
        self._pairs.add(pair)
        task = asyncio.ensure_future(pair.connect(self._port))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return pair.client

    def _part(self, pair: "_Pair") -> None:
        self._pairs.discard(pair)
        self._parted.set()


class _End(asyncio.Protocol):
    """One of the two sockets of a connection."""

    def __init__(self, pair: "_Pair", way: Way) -> None:
        self._pair = pair
        self._way: Way = way
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self._pair.aborted:
            transport.abort()
        elif self._way == "up":
            # Until there is somebody to pass it on to.
            transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        self._pair.carry(self._way, data)

    def eof_received(self) -> bool:
        """The peer says no more. Whether it may still be told something."""
        return self._pair.pass_end(self._way)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._pair.lost()


class _Pair:
    """A connection from a client and one to the server, until one of them ends."""

    def __init__(self, traffic: Traffic, cut: Cut | None, over: Callable[["_Pair"], None]) -> None:
        self.client, self.server = _End(self, "up"), _End(self, "down")
        self._traffic = traffic
        self._cut = cut
        self._over = over
        self._silent = 0
        self._early: bytes | None = b""
        """What came before there was somebody to pass it on to."""
        self.aborted = False

    async def connect(self, port: int) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: self.server, HOST, port)
        except OSError:
            self.abort()
            return
        waiting = self.client.transport
        if waiting is None:
            self.abort()
            return
        waiting.resume_reading()
        early, self._early = self._early, None
        if early:
            self.carry("up", early)
        if self._cut is not None and not (self._cut.after or self._cut.frame):
            self.drop(self._cut)

    def carry(self, way: Way, data: bytes) -> None:
        if self._traffic.cut is not None:
            return
        if way == "up" and self._early is not None:
            # Python 3.11.2 reads on although it was told to pause.
            self._early += data
            return
        passed = self._traffic.of(way)
        limit = self._limit(way, bytes(passed) + data)
        if limit is not None:
            data = data[: max(limit - len(passed), 0)]
        passed += data
        target = (self.client if way == "down" else self.server).transport
        if target is not None:
            target.write(data)
        if limit is not None:
            self.drop(self._cut)

    def _limit(self, way: Way, stream: bytes) -> int | None:
        """Where this stream is to end, if it is long enough to tell."""
        cut = self._cut
        if cut is None or cut.way != way:
            return None
        start = 0
        if cut.frame:
            starts = split(stream).starts
            if len(starts) < cut.frame:
                return None
            start = starts[cut.frame - 1]
        return start + cut.after if len(stream) >= start + cut.after else None

    def drop(self, cut: Cut | None = None) -> None:
        """End both sides. They are read on, because closing before all is read is a reset."""
        if self._traffic.cut is not None:
            return
        self._traffic.cut = cut or Cut("down", len(self._traffic.down))
        if self._traffic.cut.reset:
            self.abort()
            return
        for end in (self.client, self.server):
            if end.transport is not None and end.transport.can_write_eof():
                end.transport.write_eof()

    def pass_end(self, way: Way) -> bool:
        self._silent += 1
        if self._traffic.cut is not None:
            return False
        target = (self.client if way == "down" else self.server).transport
        if self._silent == 2:
            if target is not None:
                target.close()
            return False
        if target is not None:
            target.write_eof()
        return True

    def lost(self) -> None:
        ends = [end.transport for end in (self.client, self.server) if end.transport is not None]
        if not ends:
            self._over(self)
        elif self._traffic.cut is None:
            for transport in ends:
                transport.close()

    def abort(self) -> None:
        self.aborted = True
        for end in (self.client, self.server):
            if end.transport is not None:
                end.transport.abort()


def split(data: bytes) -> Stream:
    """What a stream of bytes is made of: a handshake, then frames (RFC 6455, 5.2)."""
    end = data.find(HEAD_END)
    if end < 0:
        return Stream(b"", (), (), data)
    at = end + len(HEAD_END)
    starts, messages = [at], list[bytes]()
    while True:
        rest = data[at:]
        header = _header_bytes(rest)
        if len(rest) < header or len(rest) < header + _size(rest):
            return Stream(data[: starts[0]], tuple(starts), tuple(messages), rest)
        whole = header + _size(rest)
        if rest[0] & 0x0F in _DATA:
            messages.append(_unmasked(rest[:header], rest[header:whole]))
        at += whole
        starts.append(at)


_DATA = (1, 2)
_IN_16_BITS, _IN_64_BITS = 126, 127


def _header_bytes(frame: bytes) -> int:
    """How long the header of a frame is that begins like this; at least two bytes tell."""
    if len(frame) < 2:
        return 2
    mask = 4 if frame[1] & 0x80 else 0
    return 2 + {_IN_16_BITS: 2, _IN_64_BITS: 8}.get(frame[1] & 0x7F, 0) + mask


def _size(frame: bytes) -> int:
    short = frame[1] & 0x7F
    if short < _IN_16_BITS:
        return short
    return int.from_bytes(frame[2 : 4 if short == _IN_16_BITS else 10], "big")


def _unmasked(header: bytes, payload: bytes) -> bytes:
    if not header[1] & 0x80:
        return payload
    mask = header[-4:]
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
