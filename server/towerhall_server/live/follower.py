"""A replica that follows its log: it appends, reads, heals, and shows each commit it takes in.

Here the room's value, the store and the audience meet. `actor` decides what to append. This module
writes and reads the log, and never forks it, loses a commit or appends one twice.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import blake2b
from time import monotonic
from typing import Final, TypeAlias, TypeVar

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
    Mistimed,
    Reading,
)
from towerhall_server.eventlog.entry import Entry, Stamps, mark
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.live.attempt import BACKSTOP_MS, TTL_MS, Attempt, attempt_of
from towerhall_server.live.audience import Audience
from towerhall_server.live.change import Change
from towerhall_server.live.current_searches import CurrentSearches
from towerhall_server.live.draft import Draft
from towerhall_server.live.guests import Guests, encode_guests
from towerhall_server.live.healing import healing, restoring
from towerhall_server.live.loading import NEWER, load
from towerhall_server.live.node import Node
from towerhall_server.live.record_store import find_or_make_record, keep_record
from towerhall_server.live.replica import Replica
from towerhall_server.live.snapshots import is_due
from towerhall_server.room import steps
from towerhall_server.room.debts import dropped_of
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Due, Step
from towerhall_server.store.batch import Later
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)
Reply = TypeVar("Reply")

Meanwhile: TypeAlias = Callable[[Attempt, "asyncio.Future[Answer]"], Awaitable[None]]

FIRST_WAIT_SECONDS: Final = 0.05
"""Seconds before the first retry of a request to the store. Each wait doubles the one before."""


class RoomGoneError(Exception):
    """The log is gone."""

    reason = "room_gone"


class UnreadableLogError(RoomGoneError):
    """This node cannot follow the log, as after an update of other nodes: let them serve it."""

    reason = "server_fault"


async def _nothing(attempt: Attempt, known: "asyncio.Future[Answer]") -> None:
    """Just wait for the outcome."""


class Follower:
    """A room that follows its log, and its viewers."""

    __slots__ = (
        "ahead", "audience", "code", "meanwhile", "node",
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
        self.meanwhile: Meanwhile = _nothing
        """Runs while the outcome of an attempt is unknown."""
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

    def attempt(self, step: Step, *, not_before_ms: int | None = None) -> Attempt:
        """The attempt to append a step at the next place in the log."""
        replica, commit_id, clock = self.replica, self.node.commit_ids.new(), self.node.clock
        place, clocks = (replica.room, replica.point), clock.now(self.shard)
        expected = self.ahead if clock.is_sure(self.shard) else None
        return attempt_of(*place, step, commit_id, not_before_ms, clocks, monotonic(), expected)

    def ask(
        self, attempt: Attempt, answered: Callable[[Attempt, Answer | StoreError], Later | None]
    ) -> None:
        """Ask the store once. The callback must not raise, and must call `settle` or `conclude`
        before anything else is asked for this room. It may return a callback, which runs when the
        other rooms of the same answer have had theirs."""
        self.node.log.ask(attempt.wanted, partial(answered, attempt), partial(self._draft, attempt))

    async def append(self, step: Step, *, not_before_ms: int | None = None) -> Answer:
        """Append a step if its place in the log is free, and show it then."""
        reply: asyncio.Future[Answer | StoreError] = asyncio.get_running_loop().create_future()

        def answered(_: Attempt, answer: Answer | StoreError) -> None:
            if not reply.done():
                reply.set_result(answer)

        attempt = self.attempt(step, not_before_ms=not_before_ms)
        self.ask(attempt, answered)
        return await self.conclude(attempt, await reply)

    async def conclude(self, attempt: Attempt, answer: Answer | StoreError) -> Answer:
        """The outcome of an attempt. After a lost answer the log may hold it, so the same bytes are
        sent until the store answers."""
        if isinstance(answer, StoreError):
            self._pause(answer)
            answer = await self._found_out(attempt)
        if isinstance(answer, Mistimed):
            await self._set_clocks(answer.now)
        if isinstance(answer, Appended):
            self.announce(attempt)
        self.settle(attempt, answer)
        return answer

    async def _set_clocks(self, said: Stamps) -> None:
        """Take in the store's clocks. If its service clock went back, advance it."""
        known_ms = self.node.clock.hear(self.shard, said)
        if known_ms > said.served_ms:
            await self.node.log.advance({self.shard: known_ms})

    async def _found_out(self, attempt: Attempt) -> Answer:
        """Retry until the outcome is known; a full store may take hours. `meanwhile` runs."""
        known = asyncio.ensure_future(self._until_known(attempt.wanted))
        try:
            await self.meanwhile(attempt, known)
            return await known
        finally:
            known.cancel()

    def announce(self, attempt: Attempt) -> None:
        """Send the frames of a commit that the log holds, if they are ready. Does not raise:
        `settle`, which must follow, raises the exception."""
        attempt.told = True
        if attempt.draft is not None:
            try:
                self.audience.announce(attempt.draft)
            except Exception as error:
                logger.exception("room %s cannot tell what is new", self.code)
                attempt.fault = error

    def settle(self, attempt: Attempt, answer: Answer) -> None:
        """Take in a commit that the log holds, and show it if it was not announced. A failure must
        not look like a refusal, so it ends the room here: clients reconnect and read the log."""
        now, meters = monotonic(), self.node.meters
        meters.append_seconds.observe(now - attempt.began)
        if not isinstance(answer, Appended):
            meters.answers[type(answer).__name__.lower()] += 1
            return
        meters.appends += 1
        if attempt.fault is not None:
            raise UnreadableLogError from attempt.fault
        wanted, change = attempt.wanted, attempt.change
        before, seq = self.replica.room, change.seq
        self.replica.take(wanted.entry, change.after)
        self.ahead = attempt.ahead
        self.sure_at = now
        if is_due(seq):
            self.node.upkeep.keep(self.code, change.after, self.replica.point)
        self.node.heard(before, change.after)
        self._show(change, attempt.draft)

    def _draft(self, attempt: Attempt) -> None:
        """Encode the frames of an attempt while the store writes it."""
        if not attempt.told:
            try:
                attempt.draft = self.audience.draft(attempt.change)
            except Exception:  # noqa: BLE001 - `_show` makes it again, and raises
                attempt.draft = None

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
        self._show(change)

    def _show(self, change: Change, announced: Draft | None = None) -> None:
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
            answer = await self._until_known(attempt)
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
            self.audience.tell(error_of("log_damaged"))
        self.searches.follow(self.replica.room, self.audience)

    async def _read(self) -> Reading:
        return await self.insist(lambda: self.node.log.read(self.code, self.replica.point))

    async def _until_known(self, wanted: Append) -> Answer:
        """Send the same bytes until the store answers."""
        return await self.insist(lambda: self.node.log.append(wanted))

    async def insist(self, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """Retry until the store answers. Until then the room is shown as paused."""
        wait = FIRST_WAIT_SECONDS
        while True:
            try:
                reply = await ask()
            except StoreError as error:
                self._pause(error)
                await asyncio.sleep(wait)
                wait = min(2 * wait, self.node.log.longest_wait_seconds)
            else:
                if self.paused:
                    self.paused = False
                    self.audience.tell(ServerPaused(False))
                return reply

    def _pause(self, error: StoreError) -> None:
        if not self.paused:
            logger.warning("room %s is paused: %s", self.code, error)
            self.paused = True
            self.node.meters.pauses += 1
            self.audience.tell(ServerPaused(True))
