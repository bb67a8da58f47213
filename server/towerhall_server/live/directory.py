"""The rooms of this node: found, made, loaded once however many ask, put to sleep, woken.

A room is in memory while it has viewers or a deadline is near. All others are in the store alone,
whose index of deadlines names the rooms that are due, at most some seconds late.
"""

import asyncio
import logging
import os
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from time import monotonic, time
from typing import Final

from towerhall_protocol.fairness import SECRET_BYTES, UID_BYTES
from towerhall_protocol.messages import ServerGo
from towerhall_server.eventlog.answers import Append, Appended, Beat, Mistimed
from towerhall_server.eventlog.entry import START, Stamps, entry_after
from towerhall_server.eventlog.keys import SHARDS, shard_of
from towerhall_server.eventlog.notifications import (
    Alive,
    Alone,
    Missed,
    MissedIn,
    Said,
    Told,
    Wake,
    Woken,
)
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.chat import message_of
from towerhall_server.live.follower import TTL_MS, Follower
from towerhall_server.live.guests import decode_guests
from towerhall_server.live.items import Distrust, TimeIsUp
from towerhall_server.live.loading import NEWER, load
from towerhall_server.live.neighbours import Neighbours, idle_shards
from towerhall_server.live.node import Node
from towerhall_server.live.replica import Replica
from towerhall_server.room import steps
from towerhall_server.room.aliases import SALT_BYTES
from towerhall_server.room.codes import CODE_LENGTH, CODE_LETTERS
from towerhall_server.room.commits import encode_commit
from towerhall_server.room.debts import opened_of
from towerhall_server.room.sandbox import uid_of
from towerhall_server.room.steps import Plan, Step
from towerhall_server.room.view import summary
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

BEAT_SECONDS: Final = 1.0
"""Seconds between two beats, which advance the service clock."""
SPREAD_SECONDS: Final = 0.8
"""Seconds over which the shards of a beat are spread."""
LEAST_REST_SECONDS: Final = 0.05
"""Seconds, at least, between the end of a beat and the next one."""
IDLE_BEATS: Final = 3
"""Seconds until a shard without open rooms has its turn, at one of all nodes. Its sleeping rooms
wake later by as much. Its service clock must not stop: see `MOST_DOUBT_MS`."""
DRAIN_LOOK_SECONDS: Final = 0.05
"""Seconds between two checks whether all viewers have left."""
CLOSING_SECONDS: Final = 1.0
"""Seconds over which the remaining rooms are closed one by one."""
ASLEEP_SECONDS: Final = 60.0
"""Idle seconds before a room is unloaded."""
QUARANTINE_SECONDS: Final = 60.0
"""Seconds before a room whose log cannot be replayed is tried again."""
CUT_SECONDS: Final = 3.0
"""Seconds of silence from the store before this node reports itself cut off."""
FAILOVER_SECONDS: Final = 8.0
"""The same if another engine may take over meanwhile: no node reaches one that died silently, and
clients that were sent away come back seconds after it was replaced."""
GO_WITHIN_MS: Final = 2_000
"""Milliseconds that clients get to connect to another node."""
LOOKS_AT_ONCE: Final = 16
"""Rooms that are checked for sleep per turn of the event loop."""
SURE_SECONDS: Final = 1.0
"""Seconds without a notification after which a room that other nodes may serve is read again."""

RESTORE_SECONDS: Final = 3.0
"""Seconds after a lost subscription in which a missing log is waited for. A node that holds the log
puts it back within about one."""
RESTORE_LOOK_SECONDS: Final = 0.1


class PoisonedRoomError(Exception):
    """The log of a room cannot be replayed here, perhaps because a newer server wrote it. It is
    not tried again for a minute. Other rooms and other nodes go on."""


def new_code() -> str:
    """A code for a room. Another room may have it."""
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))


class Directory:
    """Finds the actor of a room. A node has at most one actor per room."""

    def __init__(self, node: Node, *, asleep_seconds: float = ASLEEP_SECONDS) -> None:
        self._node = node
        self._asleep_seconds = asleep_seconds
        self._actors: dict[str, RoomActor] = {}
        self._open: Counter[int] = Counter()
        """Number of actors by shard."""
        self._loading: dict[str, asyncio.Task[RoomActor | None]] = {}
        self._idle_since: dict[str, float] = {}
        self._poisoned: dict[str, float] = {}
        self._neighbours = Neighbours()
        self._beat_at = monotonic()
        self._broken_at = float("-inf")
        self.is_cut = False
        """Whether this node alone has lost the store, as far as it can tell."""
        self._waking: asyncio.Task[None] | None = None
        node.upkeep.on_wrong = self._distrust

    def __len__(self) -> int:
        return len(self._actors)

    def __iter__(self) -> Iterator[RoomActor]:
        return iter(self._actors.values())

    @property
    def node(self) -> Node:
        return self._node

    async def create(self, plan: Plan) -> RoomActor:
        """Create a room under a free code. The plan names people by id. Raises `StoreError` if the
        store does not answer."""
        while True:
            code, salt = new_code(), os.urandom(SALT_BYTES)
            uid = uid_of(plan.entropy) if plan.entropy else os.urandom(UID_BYTES)
            if self._node.log.is_down(code):
                continue  # another code leads to another primary
            kept = (plan.entropy or os.urandom(SECRET_BYTES)) + salt
            await self._node.log.heed(code)
            # Store secret and salt before anything depends on them.
            try:
                is_free = await self._node.log.keep_secret(code, kept, TTL_MS)
            except StoreError:
                if self._node.log.is_down(code):
                    continue
                raise
            if is_free:
                actor = await self._found(steps.with_aliases(plan, salt), code, uid, kept)
                if actor is not None:
                    self._node.meters.rooms_created += 1
                    return actor

    def at_hand(self, code: str) -> RoomActor | None:
        """The room of that code if it is in memory."""
        actor = self._actors.get(code)
        return None if actor is None or actor.ended else actor

    async def open(self, code: str) -> RoomActor | None:
        """The room of that code, from memory or from its log."""
        actor = self.at_hand(code)
        if actor is not None:
            return actor
        if self._poisoned.get(code, 0.0) > monotonic():
            raise PoisonedRoomError(code)
        task = self._loading.get(code)
        if task is None:
            task = self._loading[code] = asyncio.create_task(self._load(code))
            task.add_done_callback(lambda _: self._loading.pop(code, None))
        return await asyncio.shield(task)

    async def read(self, code: str) -> Replica | None:
        """The room of that code, read from its log. Waits for a log that may be restored."""
        replica = await load(self._node, code)
        while replica is None and self._may_be_restored():
            await asyncio.sleep(RESTORE_LOOK_SECONDS)
            replica = await load(self._node, code)
        return replica

    async def close(self, reason: str) -> None:
        """End all rooms and close all their connections. No task is left when this returns."""
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)
        # Rooms that are being loaded are ended with the rest.
        await asyncio.gather(*self._loading.values(), return_exceptions=True)
        await asyncio.gather(*(actor.stop(reason) for actor in self._actors.values()))
        self._actors.clear()
        self._open.clear()
        await self._node.upkeep.close()

    async def drain(self, within_ms: int) -> None:
        """Ask all clients to connect to another node, and give them time for it."""
        watched = self._tell_to_go(within_ms)
        deadline = monotonic() + within_ms / 1000
        while any(len(actor.follower.audience) for actor in watched):
            if monotonic() > deadline:
                break
            await asyncio.sleep(DRAIN_LOOK_SECONDS)
        # Close the other rooms one by one, so that their clients do not all reconnect at once.
        for actor in watched:
            if len(actor.follower.audience):
                await actor.stop("restart")
                await asyncio.sleep(CLOSING_SECONDS / len(watched))
        await self.close("restart")

    async def listen(self, wakes: Callable[[], AsyncIterator[Wake]]) -> None:
        """Follow the notifications of all rooms until cancelled."""
        while True:
            try:
                async for wake in wakes():
                    try:
                        self._hear(wake)
                    except Exception:
                        logger.exception("a message of another node is passed over")
            except StoreError as error:
                logger.warning("no news from the store: %s", error)
                self._hear(Missed(is_broken=True))
                await asyncio.sleep(BEAT_SECONDS / 2)

    async def beat(self) -> None:
        """Advance the service clock, wake rooms that are due, unload idle ones, until cancelled."""
        while True:
            began = monotonic()
            try:
                await self.beat_once(self._in_turn(int(time())), within_seconds=SPREAD_SECONDS)
            except StoreError as error:
                logger.warning("no beat: %s", error)
                self._look_for_others(error)
            else:
                self._beat_at = monotonic()
                self.is_cut = False
            await asyncio.sleep(max(began + BEAT_SECONDS - monotonic(), LEAST_REST_SECONDS))

    def _in_turn(self, second: int) -> list[int]:
        """The shards of one beat: those with open rooms, and this node's part of the others."""
        number, nodes = self._neighbours.turn_of(self._node.name)
        idle = idle_shards(second, IDLE_BEATS, number, nodes)
        return sorted({shard for shard, rooms in self._open.items() if rooms}.union(idle))

    async def beat_once(
        self, shards: Sequence[int] = range(SHARDS), *, within_seconds: float = 0.0
    ) -> None:
        self._node.log.be_there()
        self._node.log.heed_only((*self._actors, *self._loading))
        self._miss_neighbours()
        await self._beat_shards(shards, within_seconds)
        await self._let_sleep()

    async def _beat_shards(self, shards: Sequence[int], within_seconds: float = 0.0) -> None:
        """Hear the clocks of shards, and wake their rooms that are due."""
        behind: dict[int, int] = {}

        def heard(shard: int, beat: Beat) -> None:
            known_ms = self._node.clock.hear(shard, beat.now)
            if known_ms > beat.now.served_ms:
                behind[shard] = known_ms

        beats = await self._node.log.beat_all(shards, within_seconds=within_seconds, heard=heard)
        if behind:
            await self._node.log.advance(behind)
        due = [code for beat in beats.values() for code in beat.due]
        if due and (self._waking is None or self._waking.done()):
            # Loading many rooms must not delay the next beat: service time would stand still.
            self._waking = asyncio.create_task(self._wake(due))

    def _miss_neighbours(self) -> None:
        """Drop the viewers that nodes told which have gone."""
        gone = self._neighbours.miss()
        for actor in self._actors.values() if gone else ():
            actor.follower.audience.presence.forget(gone)

    def _look_for_others(self, error: StoreError) -> None:
        """If this node alone is cut off from the store, send its clients to other nodes.

        A store that is down refuses connections, or answers that it is not ready. Then all nodes
        lack it, and clients stay. A store that is only silent may answer other nodes.
        """
        patience = FAILOVER_SECONDS if self._node.log.fails_over else CUT_SECONDS
        is_cut = type(error) is StoreError and monotonic() - self._beat_at >= patience
        if is_cut and not self.is_cut and self._neighbours:
            logger.warning("cut off from the store: guests are sent to other nodes")
            self.is_cut = True
            self._tell_to_go(GO_WITHIN_MS)

    def _tell_to_go(self, within_ms: int) -> list[RoomActor]:
        watched = [actor for actor in self._actors.values() if len(actor.follower.audience)]
        for actor in watched:
            actor.follower.audience.fan_out.tell(ServerGo(within_ms))
        return watched

    async def _wake(self, codes: list[str]) -> None:
        for code in codes:
            try:
                actor = await self.open(code)
                if actor is None:
                    # Its log is gone: remove the rest of it, too.
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
                await asyncio.sleep(0)  # let moves pass
            if self._actors.get(code) is not actor:
                continue
            if actor.ended:
                self._forget(code)
            elif not actor.idle:
                self._idle_since.pop(code, None)
                actor.look()
                if self._neighbours:
                    # A notification may be lost without a trace: read the log again.
                    actor.doubt(SURE_SECONDS)
            elif now - self._idle_since.setdefault(code, now) >= self._asleep_seconds:
                self._forget(code)
                await actor.stop("restart")

    def _forget(self, code: str) -> None:
        if self._actors.pop(code, None) is not None:
            self._open[shard_of(code)] -= 1
        self._idle_since.pop(code, None)

    def _hear(self, wake: Wake) -> None:
        match wake:
            case Woken(room) if room in self._actors:
                self._actors[room].hear(wake.entry)
            case Said(room, line) if room in self._actors:
                self._actors[room].follower.audience.say(message_of(line))
            case Told(room, node, guests) if room in self._actors:
                self._actors[room].follower.audience.hear_of(node, decode_guests(guests))
            case Alive(node):
                self._neighbours.hear(node)
                self._node.log.appender.is_heard = True
            case Alone():
                self._node.log.appender.is_heard = False
            case Missed(is_broken):
                if is_broken:
                    self._broken_at = monotonic()
                self._node.log.appender.is_heard = True
                self._doubt(self._actors.values())
            case MissedIn(shard):
                rooms = self._actors.items()
                self._doubt([actor for code, actor in rooms if shard_of(code) == shard])

    @staticmethod
    def _doubt(actors: Iterable[RoomActor]) -> None:
        for actor in actors:
            if len(actor.follower.audience):
                actor.follower.audience.presence.ask_around()
            actor.doubt()

    async def _found(self, plan: Plan, code: str, uid: bytes, kept: bytes) -> RoomActor | None:
        step = steps.found(plan, code, uid, kept)
        shard = shard_of(code)
        wanted = self._creation(step, kept, self._node.clock.now(shard))
        answer = await self._node.log.append(wanted)
        if isinstance(answer, Mistimed):
            # This node's estimate of the store's clocks is too old.
            self._node.clock.hear(shard, answer.now)
            wanted = self._creation(step, kept, answer.now)
            answer = await self._node.log.append(wanted)
        if not isinstance(answer, Appended):
            return None
        if self._node.owe:
            self._node.owe(code)
        replica = Replica.load(self._node.games, kept, (wanted.entry,))
        self._node.heard(None, replica.room, replica.point.seq)
        return self._start(code, replica, appended_last=True)

    def _creation(self, step: Step, kept: bytes, stamps: Stamps) -> Append:
        """The append that creates the log of a room."""
        commit_id, blob = self._node.commit_ids.new(), encode_commit(step.commit)
        return Append(
            mode="create",
            room=step.after.table.code,
            before=START,
            entry=entry_after(START, stamps, commit_id, blob),
            ttl_ms=TTL_MS,
            due_at_ms=stamps.served_ms + steps.due(step.after).ms,
            summary=summary(step.after.table),
            owed=opened_of(step.after.table) if self._node.owe else b"",
            secret=kept,
        )

    def _distrust(self, code: str) -> None:
        """A room may have been read from a wrong snapshot: read it again."""
        if code in self._actors:
            self._actors[code].put(Distrust())

    async def _make(self, plan: Plan) -> str:
        return (await self.create(plan)).code

    async def _load(self, code: str) -> RoomActor | None:
        try:
            await self._node.log.heed(code)
            shard = shard_of(code)
            if not self._node.clock.is_sure(shard):
                # Other nodes beat this shard while no room of it was open here.
                await self._beat_shards([shard])
            replica = await self.read(code)
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

    def _may_be_restored(self) -> bool:
        """Whether the store may just have been replaced by an older copy of itself. Then another
        node may hold a log that the store lacks, and put it back."""
        is_new = monotonic() - self._broken_at < RESTORE_SECONDS
        return is_new and bool(self._neighbours)

    def _start(self, code: str, replica: Replica, *, appended_last: bool) -> RoomActor:
        follower = Follower(self._node, replica)
        actor = RoomActor(follower, appended_last=appended_last, make_room=self._make)
        if code not in self._actors:
            self._open[shard_of(code)] += 1
        self._actors[code] = actor
        return actor
