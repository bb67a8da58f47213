"""One thin connection to the engine: bytes out, answers back in the same order, and nothing else.

It is what the hot path and the wake-ups go through; a general client costs several times as much
per command. It speaks RESP2, which every engine and proxy does, to one endpoint.

What may go wrong, and what then happens:

- No connection: everything asked for ends as `StoreError`, and the next call tries anew.
- A cut, or nothing heard for `answer_seconds` while an answer is owed: what was answered
  stands, all the rest is unknown (`StoreError`). The connection is given up, for answers are
  matched by their order alone.
- An error as an answer: a `StoreRefusedError` in that command's place, and only there.
- A caller that is cancelled: the command was sent all the same, and its answer is dropped.

Nothing is ever sent twice. What commands mean lives elsewhere.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias, cast

import msgspec
from hiredis import Reader

from towerhall_server.eventlog.commands import packed
from towerhall_server.eventlog.endpoint import Endpoint, endpoint
from towerhall_server.eventlog.errors import StoreDownError, StoreError, StoreRefusedError

INCOMPLETE: Final = object()
MOST_UNHEARD: Final = 10_000
"""Messages that may wait for a slow listener before no more are taken from the socket."""
PING: Final = packed("PING")


Answered: TypeAlias = Callable[[list[Any]], None]
"""Gets an answer or an exception for each command. It must not fail."""


class _Exchange(msgspec.Struct):
    count: int
    answers: list[Any]
    answered: Answered


class Wire(asyncio.Protocol):
    """The life of one socket. Made by `open_wire`; once it is `lost`, it stays so."""

    def __init__(self, answer_seconds: float) -> None:
        self.lost: str | None = None
        """Why nothing can be asked any more."""
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._reader = Reader(
            protocolError=StoreError, replyError=StoreRefusedError, notEnoughData=INCOMPLETE
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
        # uvloop's transports behave like asyncio's, but are not of their class.
        self._transport = cast(asyncio.Transport, transport)

    def ask(self, commands: bytes, count: int, answered: Answered) -> None:
        """Send so many packed commands in one write."""
        if self.lost is not None:
            answered(_unknown(self.lost, count))
            return
        if not self._owed:
            self._expect()
        self._owed.append(_Exchange(count, [], answered))
        self._transport.write(commands)

    def subscribe(self, command: bytes) -> None:
        """From now on nothing is asked: all that comes is for `hear`."""
        self._subscribed = True
        self._expect()
        self._transport.write(command)

    async def hear(self) -> list[Any]:
        """What has come since the last call; waits for the first of it, or to be nudged."""
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
        """Let whoever hears look up, though perhaps nothing has come."""
        if self._listener and not self._listener.done():
            self._listener.set_result(None)

    async def close(self) -> None:
        """Wait for every answer that is owed, then part."""
        while self._owed:
            self._settled = self._loop.create_future()
            await self._settled
        self.give_up("closed")
        await self._ended

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
                self.give_up("the engine answered what nobody had asked")
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
        """Something has to be heard from now on. One timer serves many exchanges."""
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
            # Silence on a subscription may mean that nothing happens, or that nobody is there.
            self._pinged = True
            self._transport.write(PING)
            left = self._answer_seconds
        self._watch = self._loop.call_later(left, self._look)


class Connection:
    """A connection that is opened when it is needed, and anew after it was lost."""

    def __init__(self, url: str) -> None:
        self._endpoint = endpoint(url)
        self._wire: Wire | None = None
        self._opening: asyncio.Task[None] | None = None
        self._waiting: list[tuple[Sequence[bytes], Answered]] = []

    def ask(self, commands: Sequence[bytes], answered: Answered) -> None:
        """Send packed commands in one write, as soon as there is a connection."""
        wire = self._wire
        if wire is not None and wire.lost is None:
            wire.ask(b"".join(commands), len(commands), answered)
            return
        self._waiting.append((commands, answered))
        if self._opening is None:
            # A task of its own: a caller that is cancelled takes no write with it.
            self._opening = asyncio.create_task(self._open())

    def renew(self, why: str) -> None:
        """Use another socket for the next call, as when this one leads to a demoted primary."""
        if self._wire is not None:
            self._wire.give_up(why)

    async def close(self) -> None:
        """Wait for what is under way. A later call opens the connection again."""
        while self._opening is not None:
            await asyncio.shield(self._opening)
        if self._wire is not None:
            await self._wire.close()

    async def _open(self) -> None:
        failed = StoreError("given up before it was open")
        try:
            self._wire = await open_wire(self._endpoint)
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
    except (OSError, ValueError) as error:  # timeouts are of the first kind, odd names of the other
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
    """One exception each: they are raised in different tasks."""
    return [kind(why) for _ in range(count)]
