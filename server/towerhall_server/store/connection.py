"""One thin connection to the engine: bytes out, answers back in the same order.

The hot path and the notifications use it; a general client costs several times as much per command.
It speaks RESP2, which every engine and proxy does, to one endpoint.

Failures, and their results:

- No connection: all pending calls end as `StoreError`, and the next call connects again.
- A cut, or silence for `answer_seconds` while an answer is owed: earlier answers stand, the rest is
  unknown (`StoreError`). The connection is dropped, because answers are matched by order alone.
- An error as an answer: a `StoreRefusedError` for that command alone.
- A cancelled caller: the command was sent all the same, and its answer is dropped.

Nothing is ever sent twice. The meaning of commands is unknown here.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from time import monotonic
from typing import Any, Final, TypeAlias, cast

import msgspec
from hiredis import Reader

from towerhall_server.store.endpoint import Endpoint, endpoint
from towerhall_server.store.errors import StoreDownError, StoreError, refused
from towerhall_server.store.resp import packed

INCOMPLETE: Final = object()
MOST_UNHEARD: Final = 10_000
"""Messages that wait for a slow listener before the socket is no longer read."""
PING: Final = packed("PING")
LOOK_SECONDS: Final = 5.0
"""Seconds between two questions where the engine is, if that may change."""
SILENT_SECONDS: Final = 0.5
"""The same while the engine owes an answer for as long as that."""

Find: TypeAlias = Callable[[], Awaitable[Endpoint]]
"""Returns where the engine is now, or raises `StoreError`."""

Answered: TypeAlias = Callable[[list[Any]], None]
"""Receives an answer or an exception for each command. It must not raise."""


class _Exchange(msgspec.Struct):
    count: int
    answers: list[Any]
    answered: Answered


class Wire(asyncio.Protocol):
    """The life of one socket. Made by `open_wire`; once it is `lost`, it stays lost."""

    def __init__(self, answer_seconds: float) -> None:
        self.lost: str | None = None
        """Why the socket cannot be used any more."""
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._reader = Reader(
            protocolError=StoreError, replyError=refused, notEnoughData=INCOMPLETE
        )
        self._owed: deque[_Exchange] = deque()
        self._settled: asyncio.Future[None] | None = None
        self._answer_seconds = answer_seconds
        self._heard_at = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._subscribed = False
        self._pinged = False
        self._unheard: list[Any] = []
        self._paused = False
        self._listener: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports behave like asyncio's, but have another class.
        self._transport = cast(asyncio.Transport, transport)

    def ask(self, commands: bytes, count: int, answered: Answered) -> None:
        """Send that many packed commands in one write."""
        if self.lost is not None:
            answered(_unknown(self.lost, count))
            return
        if not self._owed:
            self._expect()
        self._owed.append(_Exchange(count, [], answered))
        self._transport.write(commands)

    def subscribe(self, command: bytes) -> None:
        """Subscribe: from now on all input is for `hear`."""
        self._subscribed = True
        self._expect()
        self._transport.write(command)

    async def hear(self) -> list[Any]:
        """Return the messages since the last call. Waits for the first one, or for `nudge`."""
        if not self._unheard and self.lost is None:
            self._listener = self._loop.create_future()
            await self._listener
        heard, self._unheard = self._unheard, []
        if not heard and self.lost is not None:
            raise StoreError(self.lost)
        if self._paused:
            self._paused = False
            self._transport.resume_reading()
        return heard

    def nudge(self) -> None:
        """Wake the caller of `hear`, even without a message."""
        if self._listener and not self._listener.done():
            self._listener.set_result(None)

    async def close(self) -> None:
        """Wait for every owed answer, then close."""
        while self._owed:
            self._settled = self._loop.create_future()
            await self._settled
        self.give_up("closed")
        await self._ended

    @property
    def silent_seconds(self) -> float:
        """Seconds for which an answer has been owed and nothing came."""
        return self._loop.time() - self._heard_at if self._owed else 0.0

    def give_up(self, why: str) -> None:
        if self.lost is None:
            self.lost = why
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._loop.time()
        self._pinged = False
        self._reader.feed(data)
        found = iter(self._reader.gets, INCOMPLETE)
        try:
            while self._owed:
                exchange = self._owed[0]
                answers = exchange.answers
                answers.extend(islice(found, exchange.count - len(answers)))
                if len(answers) < exchange.count:
                    return
                self._owed.popleft()
                exchange.answered(answers)
            self._unheard.extend(found)
        except StoreError as error:
            self.give_up(str(error))
            return
        if not self._subscribed:
            if self._unheard:
                self.give_up("the engine sent an answer without a request")
            self._settle()
            return
        if len(self._unheard) > MOST_UNHEARD and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self.nudge()

    def connection_lost(self, error: Exception | None) -> None:
        if self.lost is None:
            self.lost = _why(error) if error else "the engine closed the connection"
        if self._watch:
            self._watch.cancel()
        while self._owed:
            exchange = self._owed.popleft()
            missing = exchange.count - len(exchange.answers)
            exchange.answered(exchange.answers + _unknown(self.lost, missing))
        self._settle()
        self.nudge()
        self._ended.set_result(None)

    def _settle(self) -> None:
        if self._settled is not None and not self._settled.done():
            self._settled.set_result(None)

    def _expect(self) -> None:
        """An answer is owed from now on. One timer serves many exchanges."""
        self._heard_at = self._loop.time()
        if self._watch is None:
            self._watch = self._loop.call_later(self._answer_seconds, self._look)

    def _look(self) -> None:
        self._watch = None
        if not (self._owed or self._subscribed):
            return
        left = self._heard_at + self._answer_seconds - self._loop.time()
        if left <= 0:
            if self._owed or self._pinged:
                self.give_up(f"no answer in {self._answer_seconds:g} s")
                return
            # Silence on a subscription is ambiguous: no news, or a dead peer.
            self._pinged = True
            self._transport.write(PING)
            left = self._answer_seconds
        self._watch = self._loop.call_later(left, self._look)


class Connection:
    """A connection that is opened on demand, and again after a loss.

    The engine is at a URL, or where `find` says. `find` is asked before each connection, every few
    seconds besides, and more often while the engine is silent: an old primary may stay connected
    after others elected another one.
    """

    def __init__(self, where: str | Find) -> None:
        if isinstance(where, str):
            self._endpoint: Endpoint | None = endpoint(where)
        else:
            self._endpoint, self._find = None, where
        self._following: asyncio.Task[None] | None = None
        self._wire: Wire | None = None
        self._opening: asyncio.Task[None] | None = None
        self._waiting: list[tuple[Sequence[bytes], Answered]] = []

    def ask(self, commands: Sequence[bytes], answered: Answered) -> None:
        """Send packed commands in one write, as soon as there is a connection."""
        if not commands:
            answered([])  # no reply would ever come
            return
        wire = self._wire
        if wire is not None and wire.lost is None:
            wire.ask(b"".join(commands), len(commands), answered)
            return
        self._waiting.append((commands, answered))
        if self._opening is None:
            # A task of its own: a cancelled caller must not cancel the write of others.
            self._opening = asyncio.create_task(self._open())

    def renew(self, why: str) -> None:
        """Use another socket for the next call, for example after a demotion of the primary."""
        if self._following is not None:
            self._following.cancel()
        if self._wire is not None:
            self._wire.give_up(why)

    async def close(self) -> None:
        """Wait for calls under way. A later call connects again."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
            self._following = None
        while self._opening is not None:
            await asyncio.shield(self._opening)
        if self._wire is not None:
            await self._wire.close()

    async def _open(self) -> None:
        failed = StoreError("the connection was dropped before it was open")
        try:
            where = self._endpoint or await self._find()
            self._wire = await open_wire(where)
            if self._endpoint is None:
                self._follow(self._wire, where)
        except StoreError as error:
            failed = error
        finally:
            wire, self._opening = self._wire, None
            waiting, self._waiting = self._waiting, []
            for commands, answered in waiting:
                if wire is not None and wire.lost is None:
                    wire.ask(b"".join(commands), len(commands), answered)
                else:
                    answered(_unknown(str(failed), len(commands), type(failed)))

    def _follow(self, wire: Wire, where: Endpoint) -> None:
        if self._following is not None:
            self._following.cancel()
        self._following = asyncio.create_task(self._leave_once_moved(wire, where))

    async def _leave_once_moved(self, wire: Wire, where: Endpoint) -> None:
        looked_at = monotonic()
        while wire.lost is None:
            await asyncio.sleep(SILENT_SECONDS)
            if wire.silent_seconds < SILENT_SECONDS and monotonic() - looked_at < LOOK_SECONDS:
                continue
            looked_at = monotonic()
            try:
                now = await self._find()
            except StoreError:
                continue  # the engine may answer all the same
            if (now.host, now.port) != (where.host, where.port):
                wire.give_up(f"the primary is at {now.host}:{now.port} now")


async def open_wire(where: Endpoint) -> Wire:
    """Connect, authenticate and choose the database."""
    loop = asyncio.get_running_loop()

    def new_wire() -> Wire:
        return Wire(where.answer_seconds)

    try:
        async with asyncio.timeout(where.connect_seconds):
            if where.path:
                _, wire = await loop.create_unix_connection(new_wire, where.path)
            else:
                host, port, tls = where.host, where.port, where.tls
                _, wire = await loop.create_connection(new_wire, host, port, ssl=tls)
    except (ConnectionRefusedError, FileNotFoundError) as error:
        raise StoreDownError(_why(error)) from error
    except (OSError, ValueError) as error:  # timeouts are OSErrors, bad host names ValueErrors
        raise StoreError(_why(error)) from error
    try:
        for answer in await _greeted(wire, where.greeting):
            if isinstance(answer, StoreError):
                raise answer
    except BaseException as error:
        wire.give_up(_why(error))
        raise
    return wire


async def _greeted(wire: Wire, greeting: Sequence[bytes]) -> list[Any]:
    if not greeting:
        return []
    answers: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def answered(found: list[Any]) -> None:
        if not answers.done():
            answers.set_result(found)

    wire.ask(b"".join(greeting), len(greeting), answered)
    return await answers


def _why(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _unknown(why: str | None, count: int, kind: type[StoreError] = StoreError) -> list[Any]:
    """Make one exception for each caller: they are raised in different tasks."""
    return [kind(why) for _ in range(count)]
