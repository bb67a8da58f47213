"""A replica that follows its log: it reads, heals, and shows each commit that it takes in.

Here the room's value, the store and the audience meet. `actor` decides what to append, and `writer`
appends it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from time import monotonic
from typing import Final, TypeVar

from towerhall_protocol.error_messages import error_of
from towerhall_protocol.messages import Cursor, ServerPaused
from towerhall_server.eventlog.answers import (
    Answer,
    Append,
    Appended,
    Behind,
    Conflict,
    Following,
    Forked,
    Gone,
    Reading,
)
from towerhall_server.eventlog.entry import Entry, mark
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.live.audience import Audience
from towerhall_server.live.current_searches import CurrentSearches
from towerhall_server.live.fan_out import Change, Draft
from towerhall_server.live.guests import Guests, encode_guests
from towerhall_server.live.healing import healing, restoring
from towerhall_server.live.loading import NEWER, load
from towerhall_server.live.node import Node
from towerhall_server.live.record_store import find_or_make_record, keep_record
from towerhall_server.live.replica import Replica
from towerhall_server.room import steps
from towerhall_server.room.debts import dropped_of
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Due
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)
Reply = TypeVar("Reply")

TTL_MS: Final = 60 * 24 * 3_600_000
"""Milliseconds until the store drops a log. Rooms end by their own deadline long before."""
BACKSTOP_MS: Final = 3_000
"""Milliseconds after a deadline at which the store's index wakes a room that has no actor."""
FIRST_WAIT_SECONDS: Final = 0.05
"""Seconds before the first retry of a request to the store. Each wait doubles the one before."""


class RoomGoneError(Exception):
    """The log is gone."""

    reason = "room_gone"


class UnreadableLogError(RoomGoneError):
    """This node cannot follow the log, as after an update of other nodes: let them serve it."""

    reason = "server_fault"


class Follower:
    """A room that follows its log, and its viewers."""

    __slots__ = (
        "ahead", "audience", "code", "node",
        "paused", "replica", "searches", "shard", "sure_at",
    )  # fmt: skip

    def __init__(self, node: Node, replica: Replica) -> None:
        self.node = node
        self.replica = replica
        self.code = replica.room.table.code
        self.shard = shard_of(self.code)
        self.audience = Audience(self._tell_others, node.name, node.sign, node.chat_fan_out)
        self.searches = CurrentSearches(node.searches)
        self.paused = False
        self.sure_at = monotonic()
        """When this replica was last known to be up to date."""
        self.ahead: Due = steps.due(self.room)
        """The next deadline."""

    @property
    def room(self) -> Room:
        return self.replica.room

    @property
    def deadline_ms(self) -> int:
        """The service time of the next deadline."""
        return self.ahead.at_ms(self.room)

    def now_ms(self) -> int:
        return self.node.clock.now_ms(self.shard)

    def rank(self, ranks: int) -> int:
        """The rank of this node among those that wait for a deadline which another should meet."""
        text = f"{self.node.name}/{self.code}/{self.replica.point.seq}"
        return blake2b(text.encode(), digest_size=1).digest()[0] % ranks

    def _tell_others(self, guests: Guests) -> None:
        self.node.log.tell(self.code, encode_guests(guests))

    async def take_news(self, entry: Entry) -> bool:
        """Take in an entry of another node. True if it was new."""
        if self.replica.holds(entry):
            return False
        if not entry.follows(self.replica.point):
            return await self.catch_up()
        self._take(entry)
        self.sure_at = monotonic()
        return True

    async def catch_up(self) -> bool:
        """Read the log beyond this replica. True if anything has changed."""
        changed, more = False, True
        while more:
            match await self._read():
                case Following(entries, more):
                    self.replica.broken_at = None
                    for entry in entries:
                        self._take(entry)
                    changed = changed or bool(entries)
                    self.sure_at = monotonic()
                case Behind(top):
                    await self._heal(top)
                    return True
                case Forked(seq) if seq == self.replica.broken_at:
                    return changed
                case Forked():
                    await self._reload()
                    return True
                case Gone():
                    await self._restore()
                    changed = more = True
        return changed

    async def knows(self, cursor: Cursor) -> bool:
        """Whether the cursor is a place in this log. An old one is looked up in the store."""
        if not self.replica.has_forgotten(cursor.seq):
            return self.replica.knows(cursor)
        entry = await self.insist(lambda: self.node.log.entry(self.code, cursor.seq))
        return entry is not None and mark(entry.chain) == cursor.mark

    async def start_over(self) -> None:
        """A snapshot of this room was wrong: read the whole log."""
        await self.catch_up()
        await self._reload(whole=True)

    async def lose(self, count: int) -> None:
        """Let the log of a sandbox room lose its newest commits. This replica does not put them
        back: viewers are told, as if no server had them. A room that is over keeps its log, because
        its record was made of it."""
        await self.catch_up()
        if self.room.table.status != "over" and await self.node.log.lose(self.code, count):
            await self._reload()

    async def remove(self) -> None:
        """Remove the room from the store. A finished game leaves its record."""
        node, owed = self.node, b""
        if self.room.table.status == "over":
            owed = await self.insist(self._leave_record)
        elif node.owe:
            owed = dropped_of(self.room.table)
        answer = await self.insist(lambda: node.log.remove(self.code, self.replica.point, owed))
        if isinstance(answer, Conflict):
            await self.catch_up()
            return
        if node.owe:
            node.owe(self.code)
        raise RoomGoneError

    async def _leave_record(self) -> bytes:
        """Keep the record beyond the log, or drop it where none are kept. Returns what the public
        log is owed for it."""
        node, kept = self.node, None
        if node.keep_days or node.owe or node.archive:
            kept = await find_or_make_record(node.log, self.code, node.games, node.sign)
        if not node.keep_days and not node.archive:
            await node.log.drop_record(self.code)
        elif kept is not None:
            kept = await keep_record(
                node.log, self.code, kept, node.keep_days, archive=node.archive
            )
        return kept.owed if kept is not None and node.owe else b""

    def _take(self, entry: Entry) -> None:
        try:
            change = self.replica.follow(entry)
        except NEWER as error:
            # A newer server wrote it, or the room was moved to another store.
            logger.warning("room %s is left to others at %d", self.code, entry.seq)
            raise UnreadableLogError from error
        except Exception as error:
            logger.exception("room %s cannot be followed beyond %d", self.code, entry.seq - 1)
            raise UnreadableLogError from error
        self.ahead = steps.due(change.after)
        self.show(change)

    def show(self, change: Change, announced: Draft | None = None) -> None:
        """Show a change, and keep its frames for resuming. Announced ones are not sent again."""
        try:
            shown = self.audience.show(change, announced)
            for name, (_, prepared) in shown.views.items():
                self.replica.keep_frame(name, change.seq, prepared)
        except Exception as error:
            logger.exception("room %s cannot be shown at %d", self.code, change.seq)
            raise UnreadableLogError from error
        self.searches.follow(self.replica.room, self.audience)

    async def _restore(self) -> None:
        """The store has no log. Put it back if it was lost and this replica holds all of it."""
        lost = restoring(self.replica, self.deadline_ms + BACKSTOP_MS, TTL_MS)
        if lost is not None and await self.insist(lambda: self.node.log.restore(lost)):
            logger.warning("room %s: the store has lost its log, which is put back", self.code)
            self.node.restored(self.room)
            return
        # The store forgets after some hours that a room which is over was removed.
        is_over = self.room.table.status == "over"
        if not is_over and not await self.insist(lambda: self.node.log.has_ended(self.code)):
            seq = self.replica.point.seq
            logger.warning("room %s: its log is lost, and %d commits with it", self.code, seq)
            self.node.meters.lost_commits += seq
        raise RoomGoneError

    async def _heal(self, top: Entry) -> None:
        """The log has lost its end. Put it back, or go on from the rest."""
        attempts = healing(self.replica, top, self.deadline_ms + BACKSTOP_MS, TTL_MS)
        logger.warning("room %s: the log ends at %d", self.code, top.seq)
        for attempt in attempts:
            answer = await self.until_known(attempt)
            if isinstance(answer, Gone):
                raise RoomGoneError
            if not isinstance(answer, Appended):
                attempts = ()
                break
        if not attempts:
            await self._reload()

    async def _reload(self, *, whole: bool = False) -> None:
        """Read the log anew, and tell all viewers how many commits are lost."""
        old = self.replica
        try:
            new = await self.insist(lambda: load(self.node, self.code, whole=whole))
        except Exception as error:
            logger.exception("room %s cannot be read again", self.code)
            raise UnreadableLogError from error
        if new is None:
            raise RoomGoneError
        if (new.point, new.room) == (old.point, old.room):
            return
        lost = old.point.seq - old.shared_with(new)
        logger.warning("room %s: %d commits are lost", self.code, lost)
        self.node.meters.lost_commits += lost
        self.replica, self.ahead = new, steps.due(new.room)
        self.audience.reset(new.place, lost)
        if new.broken_at is not None:
            self.audience.fan_out.tell(error_of("log_damaged"))
        self.searches.follow(self.replica.room, self.audience)

    async def _read(self) -> Reading:
        return await self.insist(lambda: self.node.log.read(self.code, self.replica.point))

    async def until_known(self, wanted: Append) -> Answer:
        """Send the same bytes until the store answers."""
        return await self.insist(lambda: self.node.log.append(wanted))

    async def insist(self, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """Retry until the store answers. Until then the room is shown as paused."""
        wait = FIRST_WAIT_SECONDS
        while True:
            try:
                reply = await ask()
            except StoreError as error:
                self.pause(error)
                await asyncio.sleep(wait)
                wait = min(2 * wait, self.node.log.longest_wait_seconds)
            else:
                if self.paused:
                    self.paused = False
                    self.audience.fan_out.tell(ServerPaused(False))
                return reply

    def pause(self, error: StoreError) -> None:
        if not self.paused:
            logger.warning("room %s is paused: %s", self.code, error)
            self.paused = True
            self.node.meters.pauses += 1
            self.audience.fan_out.tell(ServerPaused(True))
