"""A room inside the test, with the real actor and nothing that is up to chance or to a clock.

Ids, entropy and stamps come from a fixed stream, so that the same steps give the same bytes. Two
`Stage`s that differ in what is hidden are twins: whatever anybody can tell apart was a leak. A
`Tap` is a viewer that keeps what is sent to it as the bytes of both subprotocols; `MemoryLog` keeps
what rooms ask of a store. Steps are plain data: `perform` does on one stage what another one saw.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final, Self, cast

import msgspec
import pytest

from towerhall_protocol.codec import FROM_SERVER, decode
from towerhall_protocol.commands import base64url
from towerhall_protocol.fairness import NONCE_BYTES, SECRET_BYTES, UID_BYTES, nonce_hash
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import (
    ClientCommand,
    Cursor,
    ServerFrame,
    ServerMessage,
    ServerOffers,
    ServerReset,
    ServerWelcome,
)
from towerhall_protocol.offers import Offer
from towerhall_protocol.wire import read_server
from towerhall_server.eventlog.answers import Append, Appended, Following, Line
from towerhall_server.eventlog.append import Request
from towerhall_server.eventlog.entry import (
    COMMIT_ID_BYTES,
    START,
    Entry,
    Point,
    Stamps,
    entry_after,
)
from towerhall_server.eventlog.log import EventLog
from towerhall_server.frames import Prepared
from towerhall_server.game import AnyGame, Seat
from towerhall_server.live import presence as presence_module
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.chat import message_of, say
from towerhall_server.live.follower import Follower
from towerhall_server.live.history import page
from towerhall_server.live.items import Command, Join, TimeIsUp
from towerhall_server.live.node import CommitIds, Node, ServiceClock
from towerhall_server.live.replica import Replica
from towerhall_server.room import steps
from towerhall_server.room.commits import encode_commit
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Plan
from towerhall_server.room.view import view_class
from towerhall_server.store.batch import Later

CODE: Final = "QJXKZB"
WALL_MS: Final = 1_700_000_000_000
NEVER_SECONDS: Final = 1e6
PATIENCE_SECONDS: Final = 20.0


class MemoryLog:
    """What rooms ask of a store, for one room. Its clock goes on with every commit."""

    def __init__(self, secret: bytes) -> None:
        self.kept = secret
        self.entries: list[Entry] = []
        self.asked: list[Append] = []
        self.served_ms = 5_000
        self.lines: list[Line] = []

    async def secret(self, room: str) -> bytes:
        return self.kept

    async def snapshots(self, room: str) -> tuple[int, ...]:
        return ()

    def keep_snapshot(self, *_: object) -> "asyncio.Future[int]":
        """This store keeps none."""
        kept: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        kept.set_result(0)
        return kept

    async def read(self, room: str, place: Point = START, **_: object) -> Following:
        """All that follows: this store knows no pages."""
        return Following(tuple(self.entries[place.seq :]), more=False)

    def ask(
        self,
        wanted: Append,
        answered: Callable[[Appended], Later | None],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        def tell(answer: Appended) -> None:
            later = answered(answer)
            if later is not None:
                later()

        if meanwhile is not None:
            meanwhile()
        asyncio.get_running_loop().call_soon(tell, self.append(wanted))

    @property
    def appender(self) -> Self:
        return self

    def ask_now(self, requests: Iterable[Request]) -> None:
        for request in requests:
            self.ask(*request)

    def append(self, wanted: Append) -> Appended:
        assert wanted.before == (self.entries[-1].point if self.entries else START)
        self.asked.append(wanted)
        self.served_ms = wanted.entry.stamps.served_ms + 10
        self.entries.append(wanted.entry)
        return Appended(wanted.entry.seq)

    async def say(self, room: str, text: bytes, ttl_ms: int) -> None:
        number = len(self.lines)
        self.lines.append(Line(f"{WALL_MS}-{number}", WALL_MS, text))


class LogClock(ServiceClock):
    """It is always as late as the log says."""

    def __init__(self, log: MemoryLog) -> None:
        super().__init__()
        self._log = log

    def now(self, shard: int) -> Stamps:
        return Stamps(WALL_MS + self._log.served_ms, self._log.served_ms)


class Tap:
    """A viewer that keeps all that it gets."""

    def __init__(self, name: str) -> None:
        self.person = Person(f"id-of-{name}", name)
        self.origin = base64url(name.encode().ljust(8, b"."))
        self.seat: Seat | None = None
        self.level = LEVEL
        self.claim = 0
        self.unanswered: set[int] = set()
        self.alive, self.lags = True, False
        self.got: list[tuple[ServerMessage, bytes, bytes]] = []
        """Each message, and its bytes by either subprotocol."""
        self.closed = ""
        self.cursor: Cursor | None = None
        self.offers: tuple[Offer, ...] = ()
        self.next = 1

    @property
    def data(self) -> bytes:
        return b"".join(binary + text for _, binary, text in self.got)

    def answered(self, n: int) -> None:
        self.unanswered.discard(n)

    def send(self, *messages: Prepared) -> None:
        for message in messages:
            self._send(message)

    def _send(self, message: Prepared) -> None:
        if not self.alive:
            return
        told = read_server(decode(message.binary[-message.size :], FROM_SERVER))
        assert told is not None
        self.got.append((told, message.binary, message.text()))
        match told:
            case ServerWelcome(arrival):
                self.cursor = arrival.cursor
            case ServerReset(cursor):
                self.cursor = cursor
            case ServerFrame(seq, mark):
                assert self.cursor is not None
                self.cursor = Cursor(self.cursor.base, seq, mark)
                if "game" in told.patch:
                    self.offers = ()
            case ServerOffers(_, _, offers):
                self.offers = offers

    def close(self, reason: str) -> None:
        self.alive, self.closed = False, reason


class Do(msgspec.Struct, frozen=True):
    """Somebody sends a command."""

    who: str
    asked: ClientCommand


class Come(msgspec.Struct, frozen=True):
    who: str
    cursor: Cursor | None = None


class Go(msgspec.Struct, frozen=True):
    who: str


class Read(msgspec.Struct, frozen=True):
    """Somebody asks for history."""

    who: str
    first: int
    last: int


class Say(msgspec.Struct, frozen=True):
    who: str
    text: str


class TimeOut(msgspec.Struct, frozen=True):
    """Nothing happens until time is up for whoever is to act."""


Step = Do | Come | Go | Read | Say | TimeOut


class Stage:
    """One room, those who look at it, and the log behind it. Made by `stage`."""

    def __init__(self, log: MemoryLog, node: Node, actor: RoomActor, names: Sequence[str]) -> None:
        self.log = log
        self.actor = actor
        self.taps = {name: Tap(name) for name in names}
        self._node = node

    @property
    def room(self) -> Room:
        return self.actor.follower.room

    @property
    def uid(self) -> bytes:
        return self.room.table.uid

    def command(self, who: str, body: Mapping[str, Any], *, dry: bool = False) -> Do:
        """The next command of somebody, as a step."""
        return Do(who, ClientCommand(self.taps[who].next, self.room.tag, dict(body), dry))

    def nonce(self, who: str) -> bytes:
        return random.Random(who).randbytes(NONCE_BYTES)

    def opening(self, seats: Sequence[str], bots: int) -> list[Step]:
        """Everybody comes, the first ones sit, the game is dealt."""
        numbers = dict.fromkeys(seats, 0)
        steps: list[Step] = [Come(who) for who in self.taps]

        def give(who: str, **body: Any) -> None:
            numbers[who] += 1
            steps.append(Do(who, ClientCommand(numbers[who], "", body)))

        for who in seats:
            sealed = base64url(nonce_hash(self.uid, self.nonce(who)))
            give(who, command="sit", nonce=sealed)
            give(who, command="ready")
        for _ in range(bots):
            give(seats[0], command="add_bot", level="easy")
        give(seats[0], command="start")
        for who in seats:
            give(who, command="open", nonce=base64url(self.nonce(who)))
        return steps

    async def perform(self, step: Step) -> None:
        """Do it, and wait until nothing follows from it any more."""
        match step:
            case Do(who, asked):
                tap = self.taps[who]
                tap.next = asked.n + 1
                tap.unanswered.add(asked.n)
                self.actor.put(Command(tap, asked))
            case Come(who, cursor):
                tap = self.taps[who]
                tap.alive = True
                self.actor.put(Join(tap, cursor))
            case Go(who):
                self.taps[who].alive = False
                self.actor.leave(self.taps[who])
            case Read(who, first, last):
                tap = self.taps[who]
                name = view_class(self.room.rules, tap.seat)
                found = await page(self._node, CODE, name, first, last)
                assert found is not None
                tap.send(Prepared(found))
            case Say(who, text):
                await say(self._node.log, self.room.table, self.taps[who], text)
                self.actor.follower.audience.fan_out.tell(message_of(self.log.lines[-1]))
            case TimeOut():
                self.log.served_ms = max(self.log.served_ms, steps.deadline_ms(self.room))
                self.actor.put(TimeIsUp())
        await self._quiet()

    async def _quiet(self) -> None:
        # The inbox is empty while its last item is being handled, so something of our own goes
        # through it: a viewer that is gone is not let in, and nobody hears of it.
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                passing = _Passing()
                self.actor.put(Join(passing, None))
                await passing.asked.wait()
                if steps.bot_to_act(self.room) is None:
                    return
                await asyncio.sleep(0)

    def hide_differently(self, rng: random.Random) -> None:
        """Another secret, and another hidden part of the game: nobody may notice."""
        replica, room = self.actor.follower.replica, self.room
        secret = rng.randbytes(SECRET_BYTES)
        game = None if room.game is None else room.rules.resample(room.game, rng.randbytes(32))
        replica.room = msgspec.structs.replace(room, secret=secret, game=game)
        replica._secret = self.log.kept = secret


class _Passing(Tap):
    """Somebody who is gone before the room gets to them; the room asks, which tells that it did."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        super().__init__("passing")

    @property
    def alive(self) -> bool:
        self.asked.set()
        return False

    @alive.setter
    def alive(self, value: bool) -> None:
        pass


async def no_room(plan: Plan) -> str:
    raise AssertionError("nobody here asks for a rematch")


@asynccontextmanager
async def stage(
    rules: AnyGame,
    seats: int,
    names: Sequence[str],
    *,
    turn_seconds: int = 0,
    key_hash: bytes = b"",
) -> AsyncIterator[Stage]:
    """A room of that game, founded by the first of those names. Always the same."""
    chance = random.Random(1)
    secret, uid = chance.randbytes(SECRET_BYTES), chance.randbytes(UID_BYTES)
    settings = Settings(turn_seconds=turn_seconds, bot_delay_ms=0)
    options = rules.presets["standard"]
    plan = Plan(rules, options, seats, settings, Tap(names[0]).person.id, key_hash)
    first = steps.found(plan, CODE, uid, secret).commit
    blob, commit_id = encode_commit(first), chance.randbytes(COMMIT_ID_BYTES)
    log = MemoryLog(secret)
    stamps = Stamps(WALL_MS + log.served_ms, log.served_ms)
    entry = entry_after(START, stamps, commit_id, blob)
    log.append(Append(mode="create", room=CODE, before=START, entry=entry, ttl_ms=1))
    ids = CommitIds(random.Random(2).randbytes)
    node = Node("node", cast(EventLog, log), LogClock(log), {rules.name: rules}, commit_ids=ids)
    replica = Replica.load(node.games, secret, log.entries)
    with pytest.MonkeyPatch.context() as patch:
        # What a bot draws follows from the hidden seed. It tells nothing of a card, but twins with
        # other seeds would part by it long before a card is turned over.
        patch.setattr(steps, "bot_entropy", lambda _, seq: sha256(b"%d" % seq).digest())
        # Presence comes when it comes: that would be the only thing here that is up to the clock.
        patch.setattr(presence_module, "PRESENCE_SECONDS", NEVER_SECONDS)
        actor = RoomActor(Follower(node, replica), appended_last=True, make_room=no_room)
        try:
            yield Stage(log, node, actor, names)
        finally:
            await actor.stop("restart")
