"""Live rooms for tests: nodes on a real store, and clients that mind every message.

A `Client` decodes the bytes that it is sent and takes them in as any client does: a frame that is
missing or comes twice is a fault, and nobody leaves a test with one. A `FakeViewer` is a client
that sits in the same process as its room. A `WatchedLog` notes what the store answered, and lets
a test do something just before an append.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any, TypeVar

import msgspec
from redis.asyncio import Redis

from tests.games import tile_duel as duel
from tests.live.search_threads import start_search_thread
from tests.room.pure_rooms import id_of
from towerhall_protocol import updates as u
from towerhall_protocol.codec import FROM_SERVER, decode
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import (
    ClientCommand,
    ServerAccepted,
    ServerDuplicate,
    ServerFrame,
    ServerMessage,
    ServerRejected,
)
from towerhall_protocol.replay import Replay
from towerhall_protocol.statements import Sign, unsigned
from towerhall_protocol.wire import read_server
from towerhall_server.eventlog.answers import (
    Answer,
    Append,
    Following,
    Reading,
)
from towerhall_server.eventlog.append import Appender
from towerhall_server.eventlog.entry import START, Entry, Point
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.log import PAGE, EventLog
from towerhall_server.eventlog.notifications import Missed, Wake, listen
from towerhall_server.frames import Prepared
from towerhall_server.game import AnyGame, Perspective, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.archive import Archive
from towerhall_server.live.directory import Directory
from towerhall_server.live.items import Command, Join
from towerhall_server.live.node import Node, ServiceClock, no_listener, no_wait
from towerhall_server.live.searches import Searches
from towerhall_server.room.commits import Commit, decode_commit
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person, guest_of
from towerhall_server.room.state import Room, sender_of
from towerhall_server.room.steps import Plan
from towerhall_server.room.table import Table
from towerhall_server.store.batch import Later
from towerhall_server.store.errors import StoreError
from towerhall_server.store.opening import Store

PATIENCE_SECONDS = 20.0
CLAIMS = count(1)
DUEL: AnyGame = duel.GAME


def _own_columns(state: duel.State, viewer: Perspective) -> dict[str, object]:
    own = {} if viewer is None else {str(viewer): state.columns[viewer]}
    return {**duel.view(state, viewer), "columns": own}


HIDDEN: AnyGame = replace(duel.GAME, name="hidden", view=_own_columns)
"""A game in which columns are only for those who own them."""
GAMES: Mapping[str, AnyGame] = {game.name: game for game in (FIVE_TOWERS, DUEL, HIDDEN)}
Found = TypeVar("Found")
OwnAnswer = ServerFrame | ServerRejected | ServerDuplicate | ServerAccepted


class Client:
    """One person at one screen, over whatever way the messages come."""

    def __init__(self, name: str, origin: str = "") -> None:
        self.owner = Person(id_of(name), name)
        self.replay = Replay(os.urandom, origin=origin, keep_frames=True)
        self.got: list[ServerMessage] = []
        self.faults: list[str] = []
        self.closed: str | None = None
        self._came = asyncio.Event()

    @property
    def view(self) -> Mapping[str, Any]:
        return self.replay.view

    @property
    def status(self) -> str:
        return str(self.view["room"]["status"]) if self.view else ""

    @property
    def frames(self) -> list[ServerFrame]:
        return [message for message in self.got if isinstance(message, ServerFrame)]

    @property
    def seqs(self) -> list[int]:
        return [frame.seq for frame in self.frames]

    def of(self, kind: type[Found]) -> list[Found]:
        """All messages of a kind."""
        return [message for message in self.got if isinstance(message, kind)]

    def take(self, data: bytes) -> None:
        message = read_server(decode(data, FROM_SERVER))
        assert message is not None
        self.got.append(message)
        for update in self.replay.receive(message):
            if isinstance(update, u.Faulted):
                self.faults.append(update.reason)
        self._came.set()

    def end(self, reason: str) -> None:
        self.closed = self.closed or reason
        self._came.set()

    async def until(self, ready: Callable[[], Found]) -> Found:
        """Wait for messages until it is so."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (found := ready()):
                self._came.clear()
                await self._came.wait()
        return found

    async def ended(self) -> str:
        """Wait to be sent away; why."""
        return await self.until(lambda: self.closed) or ""

    async def have(self, count: int, kind: type[Found]) -> list[Found]:
        """Wait for so many messages of a kind."""
        await self.until(lambda: len(self.of(kind)) >= count)
        return self.of(kind)

    async def reach(self, seq: int) -> None:
        await self.until(lambda: self.replay.seq >= seq)

    def answers(self, n: int) -> list[OwnAnswer]:
        """Everything that was said about a command; one thing, if all is well."""
        found: list[OwnAnswer] = []
        for message in self.got:
            match message:
                case ServerFrame(cause=(_, origin, number)):
                    if (origin, number) == (self.replay.origin, n):
                        found.append(message)
                case ServerRejected() | ServerDuplicate() | ServerAccepted():
                    if message.n == n:
                        found.append(message)
        return found

    async def answer(self, n: int) -> OwnAnswer:
        return (await self.until(lambda: self.answers(n)))[-1]

    # How commands leave: set by those who know a way.

    def hand_over(self, command: ClientCommand) -> None:
        raise NotImplementedError

    def ask(self, command: str, **fields: Any) -> int:
        """Send a command, and do not wait for it. Its number."""
        asked = self.replay.command({"command": command, **fields})
        self.hand_over(asked)
        return asked.n

    async def do(self, command: str, **fields: Any) -> ServerFrame:
        """Send a command that is accepted."""
        answer = await self.answer(self.ask(command, **fields))
        assert isinstance(answer, ServerFrame), answer
        return answer

    async def refused(self, command: str, **fields: Any) -> str:
        """Send a command that is not; why."""
        answer = await self.answer(self.ask(command, **fields))
        assert isinstance(answer, ServerRejected), answer
        return answer.code

    async def offered(self) -> dict[str, Any]:
        """Wait for one's turn; the first thing that could be done then."""
        await self.until(lambda: self.replay.offers)
        return next(iter(self.replay.offers[0].commands()))

    async def move(self, chance: Random | None = None) -> OwnAnswer:
        """Wait for one's turn and do something."""
        body = await self.offered()
        if chance is not None:
            body = chance.choice([one for offer in self.replay.offers for one in offer.commands()])
        return await self.answer(self.ask(**body))

    async def play(self, chance: Random) -> None:
        """Play to the end, whatever the others do."""
        while self.status != "over":
            await self.until(lambda: self.replay.offers or self.status == "over")
            if self.replay.offers:
                await self.move(chance)


class FakeViewer(Client):
    """A client in the same process as its room."""

    def __init__(self, name: str, origin: str = "") -> None:
        super().__init__(name, origin)
        self.person = self.owner
        """From the greeting on as the room knows them."""
        self.origin = self.replay.origin
        self.level = LEVEL
        self.seat: Seat | None = None
        self.claim = next(CLAIMS)
        self.unanswered: set[int] = set()
        self.alive = True
        self.lags = False
        self._room: RoomActor | None = None
        self.on_frame: Callable[[ServerFrame], None] | None = None
        """Called in the very moment in which a frame comes."""

    @property
    def room(self) -> RoomActor:
        """Whom it talks to."""
        assert self._room is not None
        return self._room

    @property
    def code(self) -> str:
        return self.room.code

    @property
    def table(self) -> Table:
        return self.room.follower.room.table

    @property
    def place(self) -> Point:
        """Where in its log the room is."""
        return self.room.follower.replica.point

    def answered(self, n: int) -> None:
        self.unanswered.discard(n)

    def send(self, *messages: Prepared) -> None:
        for message in messages:
            self._send(message)

    def _send(self, message: Prepared) -> None:
        if not self.alive:
            return
        self.take(payload(message))
        latest = self.got[-1]
        if self.on_frame is not None and isinstance(latest, ServerFrame):
            self.on_frame(latest)

    def close(self, reason: str) -> None:
        self.leave()
        self.end(reason)

    def leave(self) -> None:
        """The connection is no more."""
        self.alive = False
        if self._room is not None:
            self._room.leave(self)

    def hand_over(self, command: ClientCommand) -> None:
        self.unanswered.add(command.n)
        self.room.put(Command(self, command))

    def greet(self, actor: RoomActor, lines: tuple[ServerMessage, ...] = ()) -> None:
        """Say hello, with the cursor of what is known."""
        self._room = actor
        self.person = guest_of(actor.follower.room, self.owner)
        self.replay.hello("")
        actor.put(Join(self, self.replay.cursor, lines))

    async def enter(self, actor: RoomActor) -> "FakeViewer":
        self.greet(actor)
        await self.until(lambda: self.replay.welcomed)
        return self

    def again(self) -> "FakeViewer":
        """The same client on a new connection: it knows what it knew."""
        other = FakeViewer(self.owner.name)
        other.replay, other.origin = self.replay, self.origin
        self.leave()
        return other


def payload(message: Prepared) -> bytes:
    """What is inside the WebSocket frame."""
    return message.binary[-message.size :]


class WatchedAppender(Appender):
    """Tells its log every answer, and lets it do something before each append."""

    def __init__(self, log: "WatchedLog", batch: Store) -> None:
        super().__init__(batch, log.node)
        self._log = log
        self._waiting: set[asyncio.Task[None]] = set()

    def ask(
        self,
        wanted: Append,
        answered: Callable[[Answer | StoreError], Later | None],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        def noted(answer: Answer | StoreError) -> Later | None:
            if not isinstance(answer, StoreError):
                self._log.answers.append(answer)
            return answered(answer)

        async def later(first: Awaitable[None]) -> None:
            await first
            Appender.ask(self, wanted, noted, meanwhile)

        if self._log.before_append is None:
            super().ask(wanted, noted, meanwhile)
        else:
            task = asyncio.create_task(later(self._log.before_append(wanted)))
            self._waiting.add(task)
            task.add_done_callback(self._waiting.discard)


class WatchedLog(EventLog):
    """A log that notes every answer to an append."""

    def __init__(self, url: str, node: str) -> None:
        super().__init__(url, node)
        self.answers: list[Answer] = []
        self.before_append: Callable[[Append], Awaitable[None]] | None = None
        """Awaited before each append goes out."""
        self.appender = WatchedAppender(self, self._batch)
        self.loads = 0
        self.entries_read = 0
        self.page = PAGE
        """Entries of one read."""

    def next_append(self, first: Callable[[], Awaitable[object]]) -> None:
        """Do something just before the next append goes out."""

        async def once(_: Append) -> None:
            self.before_append = None
            await first()

        self.before_append = once

    async def read(
        self, room: str, place: Point = START, *, page: int = PAGE, found: Sequence[Any] = ()
    ) -> Reading:
        reading = await super().read(room, place, page=min(page, self.page), found=found)
        if isinstance(reading, Following):
            self.entries_read += len(reading.entries)
        return reading

    async def secret(self, room: str) -> bytes | None:
        self.loads += 1
        return await super().secret(room)

    def count(self, kind: type[Answer]) -> int:
        return sum(isinstance(answer, kind) for answer in self.answers)


def untapped(wakes: AsyncIterator[Wake]) -> AsyncIterator[Wake]:
    """News that no one else hears."""
    return wakes


class LiveNode:
    """A server without a network. Made by `live_node`."""

    def __init__(self, url: str, log: WatchedLog, directory: Directory) -> None:
        self.url = url
        self.log = log
        self.directory = directory
        self._tasks: list[asyncio.Task[None]] = []

    def beat(self) -> None:
        """Keep the service clock going from now on."""
        self._tasks.append(asyncio.create_task(self.directory.beat()))

    async def listen(
        self, tap: Callable[[AsyncIterator[Wake]], AsyncIterator[Wake]] = untapped
    ) -> None:
        """Hear the news of others from now on; returns when it does."""
        subscribed = asyncio.Event()

        async def wakes() -> AsyncIterator[Wake]:
            async for wake in listen(self.url, self.directory.node.name):
                if isinstance(wake, Missed):
                    subscribed.set()
                yield wake

        self._tasks.append(asyncio.create_task(self.directory.listen(lambda: tap(wakes()))))
        await subscribed.wait()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.directory.close("restart")
        await self.directory.node.searches.close()

    async def open(self, code: str) -> RoomActor:
        actor = await self.directory.open(code)
        assert actor is not None
        return actor

    async def enter(self, code: str, name: str) -> FakeViewer:
        return await FakeViewer(name).enter(await self.open(code))

    async def found(self, rules: AnyGame = DUEL, seats: int = 2, **settings: Any) -> RoomActor:
        options = rules.presets["standard"]
        host = id_of("ann")
        chosen = msgspec.convert({"bot_delay_ms": 0, **settings}, Settings)
        return await self.directory.create(Plan(rules, options, seats, chosen, host))


@asynccontextmanager
async def live_node(
    url: str,
    name: str = "one",
    *,
    listens: bool = True,
    beats: bool = True,
    games: Mapping[str, AnyGame] = GAMES,
    keep_days: int = 30,
    asleep_seconds: float = 60.0,
    wait_ms: Callable[[str], Awaitable[int]] = no_wait,
    searches: Searches | None = None,
    sign: Sign = unsigned,
    owe: Callable[[str], None] | None = None,
    archive: Archive | None = None,
    heard: Callable[[Room | None, Room, int], None] = no_listener,
) -> AsyncIterator[LiveNode]:
    """A node that knows the time, unless it may not, and hears of others, likewise. Without other
    searches it searches in threads."""
    searches = searches or Searches(start_search_thread, 2)
    async with WatchedLog(url, name) as log:
        more: Any = {"sign": sign, "wait_ms": wait_ms, "searches": searches, "owe": owe}
        more |= {"archive": archive, "heard": heard}
        node = Node(name, log, ServiceClock(), games, keep_days, **more)
        live = LiveNode(url, log, Directory(node, asleep_seconds=asleep_seconds))
        if beats:
            await live.directory.beat_once()
        if listens:
            await live.listen()
        try:
            yield live
        finally:
            await live.close()


async def sit_down(host: Client, *others: Client, bots: int = 0) -> None:
    """Everybody has a seat and is ready. The host is who founded the room: ann."""
    for client in (host, *others):
        await client.do("sit")
    for _ in range(bots):
        await host.do("add_bot", level="easy")
    for client in others:
        await client.do("ready")


async def begin(host: Client, *others: Client, bots: int = 0) -> None:
    await sit_down(host, *others, bots=bots)
    await host.do("start")


# The store, seen by somebody who has no part in it


async def whole_log(url: str, code: str) -> tuple[Entry, ...]:
    """All entries of a log, every link checked."""
    async with EventLog(url) as log:
        entries: list[Entry] = []
        more = True
        while more:
            reading = await log.read(code, entries[-1].point if entries else START)
            assert isinstance(reading, Following), reading
            entries += reading.entries
            more = reading.more
        return tuple(entries)


async def commits_of(url: str, code: str, rules: AnyGame = DUEL) -> list[Commit]:
    return [decode_commit(entry.blob, rules) for entry in await whole_log(url, code)]


def commands_in(commits: list[Commit]) -> list[tuple[str, int]]:
    """Sender and number of every command that was done. Each is there once, or the test fails."""
    found = [(sender_of(commit.cause), commit.cause.n) for commit in commits if commit.cause.n]
    assert len(set(found)) == len(found)
    return found


def sender(client: Client) -> str:
    return f"{client.replay.you}/{client.replay.origin}"


Copy = dict[str, bytes]


async def copy_of(redis: Redis, code: str) -> Copy:
    """All of a room that the store holds, as a backup or a lagging replica would have it."""
    keys = room_keys(code)
    shard = keys.shard
    own = (keys.log, keys.chat, keys.secret, keys.snapshots)
    names = (*own, shard.due, shard.lobby, shard.clock)
    return {name: data for name in names if (data := await redis.dump(name)) is not None}


async def go_back(redis: Redis, code: str, copy: Copy) -> None:
    """What a failover to that copy leaves of the room."""
    async with redis.pipeline(transaction=True) as together:
        together.delete(room_keys(code).snapshots)
        for name, data in copy.items():
            together.restore(name, 0, data, replace=True)
        await together.execute()


async def hurry(redis: Redis, code: str, ms: int) -> None:
    """Move the room's service clock on, and let the next beat be one that gives out rooms."""
    clock = room_keys(code).shard.clock
    await redis.hincrby(clock, "served", ms)
    await redis.hincrby(clock, "last", -1000)


def no_fault(*clients: Client) -> None:
    """Nobody has missed a frame or got one twice, and nobody was answered twice."""
    for client in clients:
        assert client.faults == []
        numbers = {frame.cause[2] for frame in client.frames if len(frame.cause) == 3}
        assert all(len(client.answers(n)) <= 1 for n in numbers)
