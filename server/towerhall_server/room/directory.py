"""The rooms of this node: found, made, loaded once however many ask, put to sleep, woken.

A room is in memory while somebody looks at it or something is due soon. All others live in the
store alone: its index of deadlines names those that want to act, once a second.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator
from time import monotonic
from typing import Final

from towerhall_protocol.fairness import SECRET_BYTES, UID_BYTES
from towerhall_protocol.messages import ServerGo
from towerhall_server.eventlog.entry import START, Entry, link
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.log import Append, Appended
from towerhall_server.eventlog.wakes import Alive, Missed, Said, Told, Wake, Woken
from towerhall_server.room import core
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.attempt import TTL_MS
from towerhall_server.room.chat import message_of
from towerhall_server.room.codes import new_code
from towerhall_server.room.commits import encode_commit
from towerhall_server.room.core import Plan
from towerhall_server.room.follower import Follower
from towerhall_server.room.guests import decode_guests
from towerhall_server.room.inbox import TimeIsUp
from towerhall_server.room.neighbours import Neighbours
from towerhall_server.room.node import Node
from towerhall_server.room.reading import NEWER, load
from towerhall_server.room.replica import Replica
from towerhall_server.room.view import summary
from towerhall_server.telemetry.meters import ROOM_OBJECTS

logger = logging.getLogger(__name__)

BEAT_SECONDS: Final = 1.0
DRAIN_LOOK_SECONDS: Final = 0.05
CLOSING_SECONDS: Final = 1.0
ASLEEP_SECONDS: Final = 60.0
QUARANTINE_SECONDS: Final = 60.0
CUT_SECONDS: Final = 3.0
"""So long nothing came from the store before this node says that it is cut off."""
GO_WITHIN_MS: Final = 2_000
LOOKS_AT_ONCE: Final = 16
SURE_SECONDS: Final = 1.0
"""A room that others may move on as well is looked at after so long without news of it."""


class PoisonedRoomError(Exception):
    """The log of a room cannot be replayed here, perhaps because a newer server wrote it. It is
    not tried again for a while. Other rooms are not affected, nor other nodes that can read it."""


class Directory:
    """Finds the actor of a room, and sees to it that there is at most one on this node."""

    def __init__(self, node: Node, *, asleep_seconds: float = ASLEEP_SECONDS) -> None:
        self._node = node
        self._asleep_seconds = asleep_seconds
        self._actors: dict[str, RoomActor] = {}
        self._loading: dict[str, asyncio.Task[RoomActor | None]] = {}
        self._idle_since: dict[str, float] = {}
        self._poisoned: dict[str, float] = {}
        self._neighbours = Neighbours()
        self._beat_at = monotonic()
        self.is_cut = False
        """Whether this node alone seems to have lost the store."""
        self._waking: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._actors)

    def __iter__(self) -> Iterator[RoomActor]:
        return iter(self._actors.values())

    @property
    def node(self) -> Node:
        return self._node

    async def create(self, plan: Plan) -> RoomActor:
        """A new room under a free code. `StoreError` if the store does not answer."""
        while True:
            code, uid, secret = new_code(), os.urandom(UID_BYTES), os.urandom(SECRET_BYTES)
            # The secret is safe in the store before anything depends on it.
            if await self._node.log.keep_secret(code, secret, TTL_MS):
                actor = await self._found(plan, code, uid, secret)
                if actor is not None:
                    self._node.meters.rooms_created += 1
                    return actor

    async def open(self, code: str) -> RoomActor | None:
        """The room of that code, from memory or from its log."""
        actor = self._actors.get(code)
        if actor is not None and not actor.ended:
            return actor
        if self._poisoned.get(code, 0.0) > monotonic():
            raise PoisonedRoomError(code)
        task = self._loading.get(code)
        if task is None:
            task = self._loading[code] = asyncio.create_task(self._load(code))
            task.add_done_callback(lambda _: self._loading.pop(code, None))
        return await asyncio.shield(task)

    async def close(self, reason: str) -> None:
        """End every room, and send everybody away. Nothing is under way when this returns."""
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)
        # Others may wait for a loading, and what it brings is ended with the rest.
        await asyncio.gather(*self._loading.values(), return_exceptions=True)
        await asyncio.gather(*(actor.stop(reason) for actor in self._actors.values()))
        self._actors.clear()

    async def drain(self, within_ms: int) -> None:
        """Ask everybody to connect elsewhere, and give them the time to."""
        watched = self._tell_to_go(within_ms)
        deadline = monotonic() + within_ms / 1000
        while any(len(actor.follower.audience) for actor in watched):
            if monotonic() > deadline:
                break
            await asyncio.sleep(DRAIN_LOOK_SECONDS)
        # Whoever stays is sent away room by room: not all come back at the same moment.
        for actor in watched:
            if len(actor.follower.audience):
                await actor.stop("restart")
                await asyncio.sleep(CLOSING_SECONDS / len(watched))
        await self.close("restart")

    async def listen(self, wakes: Callable[[], AsyncIterator[Wake]]) -> None:
        """Follow the news of all rooms, for ever."""
        while True:
            try:
                async for wake in wakes():
                    try:
                        self._hear(wake)
                    except Exception:
                        logger.exception("a message of another node is passed over")
            except StoreError as error:
                logger.warning("no news from the store: %s", error)
                self._hear(Missed())
                await asyncio.sleep(BEAT_SECONDS / 2)

    async def beat(self) -> None:
        """Keep the service clock going, wake what is due, let the rest sleep; for ever."""
        while True:
            try:
                await self.beat_once()
            except StoreError as error:
                logger.warning("no beat: %s", error)
                self._look_for_others(error)
            else:
                self._beat_at = monotonic()
                self.is_cut = False
            await asyncio.sleep(BEAT_SECONDS)

    async def beat_once(self) -> None:
        self._node.log.be_there()
        self._miss_neighbours()
        beats = await self._node.log.beat_all()
        for shard, beat in beats.items():
            self._node.clock.hear(shard, beat.served_ms)
        due = [code for beat in beats.values() for code in beat.due]
        if due and (self._waking is None or self._waking.done()):
            # Loading many rooms must not hold up the next beat: time would stand still.
            self._waking = asyncio.create_task(self._wake(due))
        await self._let_sleep()

    def _miss_neighbours(self) -> None:
        """Whoever looked at rooms on a node that has gone does not look any more."""
        gone = self._neighbours.miss()
        for actor in self._actors.values() if gone else ():
            actor.follower.audience.forget(gone)

    def _look_for_others(self, error: StoreError) -> None:
        """A node that alone is cut off from the store sends its guests to those that are not.

        An engine that is down refuses connections, or answers that it is not ready: then nobody
        has it, and nobody has to move. What only stays silent may be there for others.
        """
        is_cut = type(error) is StoreError and monotonic() - self._beat_at >= CUT_SECONDS
        if is_cut and not self.is_cut and self._neighbours:
            logger.warning("cut off from the store: guests are sent to other nodes")
            self.is_cut = True
            self._tell_to_go(GO_WITHIN_MS)

    def _tell_to_go(self, within_ms: int) -> list[RoomActor]:
        watched = [actor for actor in self._actors.values() if len(actor.follower.audience)]
        for actor in watched:
            actor.follower.audience.tell(ServerGo(within_ms))
        return watched

    async def _wake(self, codes: list[str]) -> None:
        for code in codes:
            try:
                actor = await self.open(code)
                if actor is None:
                    # Its log has gone some other way: what is left of it goes, too.
                    await self._node.log.remove(code, START)
                else:
                    actor.put(TimeIsUp())
            except (PoisonedRoomError, StoreError):
                continue

    async def _let_sleep(self) -> None:
        now = monotonic()
        self._poisoned = {code: end for code, end in self._poisoned.items() if end > now}
        for number, (code, actor) in enumerate(tuple(self._actors.items())):
            if number % LOOKS_AT_ONCE == 0:
                await asyncio.sleep(0)  # nobody's move waits for all rooms
            if self._actors.get(code) is not actor:
                continue
            if actor.ended:
                self._forget(code)
            elif not actor.idle:
                self._idle_since.pop(code, None)
                actor.look()
                if self._neighbours:
                    # A single message may be lost, though nobody knows how: look now and then.
                    actor.doubt(SURE_SECONDS)
            elif now - self._idle_since.setdefault(code, now) >= self._asleep_seconds:
                self._forget(code)
                await actor.stop("restart")

    def _forget(self, code: str) -> None:
        self._actors.pop(code, None)
        self._node.meters.left_behind += ROOM_OBJECTS
        self._idle_since.pop(code, None)

    def _hear(self, wake: Wake) -> None:
        match wake:
            case Woken(room) if room in self._actors:
                self._actors[room].hear(wake.entry)
            case Said(room, line) if room in self._actors:
                self._actors[room].follower.audience.tell(message_of(line))
            case Told(room, node, guests) if room in self._actors:
                self._actors[room].follower.audience.hear_of(node, decode_guests(guests))
            case Alive(node):
                self._neighbours.hear(node)
            case Missed():
                for actor in self._actors.values():
                    if len(actor.follower.audience):
                        actor.follower.audience.ask_around()
                    actor.doubt()

    async def _found(self, plan: Plan, code: str, uid: bytes, secret: bytes) -> RoomActor | None:
        step = core.found(plan, code, uid, secret)
        blob, commit_id = encode_commit(step.commit), self._node.commit_ids.new()
        chain = link(START, commit_id, blob)
        answer = await self._node.log.append(
            Append(
                mode="create",
                room=code,
                before=START,
                commit_id=commit_id,
                chain=chain,
                blob=blob,
                ttl_ms=TTL_MS,
                due_in_ms=core.due(step.after).ms,
                summary=summary(step.after.table),
            )
        )
        if not isinstance(answer, Appended):
            return None
        entry = Entry(answer.seq, commit_id, chain, blob, answer.stamps)
        replica = Replica(self._node.games, secret)
        replica.load((entry,))
        self._node.heard(None, replica.room)
        return self._start(code, replica, appended_last=True)

    async def _make(self, plan: Plan) -> str:
        return (await self.create(plan)).code

    async def _load(self, code: str) -> RoomActor | None:
        try:
            replica = await load(self._node, code)
            return None if replica is None else self._start(code, replica, appended_last=False)
        except StoreError:
            raise
        except Exception as error:
            if isinstance(error, NEWER):
                logger.warning("room %s is left to others: %s", code, error)
            else:
                logger.exception("room %s cannot be replayed", code)
            self._poisoned[code] = monotonic() + QUARANTINE_SECONDS
            raise PoisonedRoomError(code) from error

    def _start(self, code: str, replica: Replica, *, appended_last: bool) -> RoomActor:
        follower = Follower(self._node, replica)
        actor = RoomActor(follower, appended_last=appended_last, make_room=self._make)
        self._actors[code] = actor
        return actor
