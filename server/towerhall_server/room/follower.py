"""A replica that keeps in step with its log: appends, reads, heals, and shows what it takes in.

This is where the room's value, the store and the audience meet. `actor` decides what to try; here
stands how a log is written and read without ever forking, losing or doubling anything.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import blake2b
from time import monotonic
from typing import Final, TypeVar

from towerhall_protocol.messages import ServerPaused
from towerhall_server.eventlog.batch import Later
from towerhall_server.eventlog.entry import Entry
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.keys import shard_of
from towerhall_server.eventlog.log import (
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
from towerhall_server.room import core
from towerhall_server.room.attempt import BACKSTOP_MS, TTL_MS, Attempt, attempt_of
from towerhall_server.room.audience import Audience
from towerhall_server.room.core import Due, Step
from towerhall_server.room.draft import Draft
from towerhall_server.room.guests import Guests, encode_guests
from towerhall_server.room.healing import healing
from towerhall_server.room.node import Node
from towerhall_server.room.reading import load
from towerhall_server.room.record import keep_record
from towerhall_server.room.replica import Change, Replica
from towerhall_server.room.state import Room, entered

logger = logging.getLogger(__name__)
Reply = TypeVar("Reply")

FIRST_WAIT_SECONDS: Final = 0.05
LONGEST_WAIT_SECONDS: Final = 1.0


class RoomGoneError(Exception):
    """The log is no more."""

    reason = "room_gone"


class UnreadableLogError(RoomGoneError):
    """The log holds what this node cannot follow, as after an update of others: let them serve."""

    reason = "server_fault"


class Follower:
    """A room in step with its log, and those who look at it."""

    __slots__ = ("ahead", "audience", "code", "node", "paused", "replica", "shard", "sure_at")

    def __init__(self, node: Node, replica: Replica) -> None:
        self.node = node
        self.replica = replica
        self.code = replica.room.table.code
        self.shard = shard_of(self.code)
        self.audience = Audience(self._tell_others)
        self.paused = False
        self.sure_at = monotonic()
        """When this replica was last known to be up to date."""
        self.ahead: Due = core.due(self.room)
        """What is due next."""

    @property
    def room(self) -> Room:
        return self.replica.room

    @property
    def deadline_ms(self) -> int:
        """The service time of what is due next."""
        return self.ahead.at_ms(self.room)

    def now_ms(self) -> int:
        return self.node.clock.now_ms(self.shard)

    def rank(self, ranks: int) -> int:
        """Which turn this node has in acting for a room that others served last."""
        text = f"{self.node.name}/{self.code}/{self.replica.point.seq}"
        return blake2b(text.encode(), digest_size=1).digest()[0] % ranks

    def attempt(self, step: Step, *, not_before_ms: int | None = None) -> Attempt:
        """A step for the next place in the log."""
        replica, commit_id = self.replica, self.node.commit_ids.new()
        return attempt_of(replica.room, replica.point, step, commit_id, not_before_ms, monotonic())

    def ask(
        self, attempt: Attempt, answered: Callable[[Attempt, Answer | StoreError], Later | None]
    ) -> None:
        """Ask the store once. Whoever is given the answer, which must not fail, has to `settle` it
        or `conclude` with it; until then nothing else is asked for this room. What it returns is
        done when other rooms, whose answers came with it, have theirs."""
        self.node.log.ask(attempt.wanted, partial(answered, attempt), partial(self._draft, attempt))

    async def append(self, step: Step, *, not_before_ms: int | None = None) -> Answer:
        """Put a step into the log if its place is free, and show it then."""
        reply: asyncio.Future[Answer | StoreError] = asyncio.get_running_loop().create_future()

        def answered(_: Attempt, answer: Answer | StoreError) -> None:
            if not reply.done():
                reply.set_result(answer)

        attempt = self.attempt(step, not_before_ms=not_before_ms)
        self.ask(attempt, answered)
        return await self.conclude(attempt, await reply)

    async def conclude(self, attempt: Attempt, answer: Answer | StoreError) -> Answer:
        """What became of an attempt. If nobody knows, the same bytes are sent until somebody does:
        it may be in the log."""
        if isinstance(answer, StoreError):
            self._pause(answer)
            answer = await self._until_known(attempt.wanted)
        if isinstance(answer, Appended):
            self.announce(attempt)
        self.settle(attempt, answer)
        return answer

    def announce(self, attempt: Attempt) -> None:
        """Tell everybody of what is in the log now, if that is ready. This does not fail: what
        stood in its way is raised by `settle`, which has to follow."""
        attempt.told = True
        if attempt.draft is not None:
            try:
                self.audience.announce(attempt.draft)
            except Exception as error:
                logger.exception("room %s cannot tell what is new", self.code)
                attempt.fault = error

    def settle(self, attempt: Attempt, answer: Answer) -> None:
        """Take in what is in the log now, and show what was not announced of it. Where either
        fails nobody may hear that it was refused, or be left without it: they come back, and see
        whether it can be shown then."""
        now, meters = monotonic(), self.node.meters
        meters.append_seconds.observe(now - attempt.began)
        if not isinstance(answer, Appended):
            meters.answers[type(answer).__name__.lower()] += 1
            return
        meters.appends += 1
        if attempt.fault is not None:
            raise UnreadableLogError from attempt.fault
        wanted, likely, stamps = attempt.wanted, attempt.change, answer.stamps
        before, commit, seq, short = self.replica.room, likely.commit, likely.seq, likely.mark
        after = entered(before, likely.after, commit.cause, seq, short, stamps.served_ms)
        self.replica.take(Entry(seq, wanted.commit_id, wanted.chain, wanted.blob, stamps), after)
        self.ahead = attempt.ahead
        self.sure_at = now
        self.node.heard(before, after)
        self._show(Change(before, after, commit, seq, short), attempt.draft)

    def _draft(self, attempt: Attempt) -> None:
        """Make ready what may be shown soon, unless it shows a clock: that goes by the time of the
        commit, which only the store knows. No other view may need the room's place or time."""
        if not (attempt.told or attempt.change.after.table.settings.turn_seconds):
            try:
                attempt.draft = self.audience.draft(attempt.change)
            except Exception:  # noqa: BLE001 - whoever shows it will meet that again
                attempt.draft = None

    def _tell_others(self, guests: Guests) -> None:
        self.node.log.tell(self.code, encode_guests(guests))

    async def take_news(self, entry: Entry) -> bool:
        """Somebody has appended an entry. Whether it was news."""
        if self.replica.holds(entry):
            return False
        if not entry.follows(self.replica.point):
            return await self.catch_up()
        self._take(entry)
        self.sure_at = monotonic()
        return True

    async def catch_up(self) -> bool:
        """Read whatever the log has beyond this replica. Whether anything has changed."""
        changed, more = False, True
        while more:
            match await self._read():
                case Following(entries, more):
                    for entry in entries:
                        self._take(entry)
                    changed = changed or bool(entries)
                    self.sure_at = monotonic()
                case Behind(top):
                    await self._heal(top)
                    return True
                case Forked():
                    await self._reload()
                    return True
                case Gone():
                    raise RoomGoneError
        return changed

    async def remove(self) -> None:
        """End the room: what is over stays as a record, everything else goes."""
        node = self.node
        if self.room.table.status == "over" and node.keep_days:
            await self.insist(lambda: keep_record(node.log, self.code, node.games, node.keep_days))
        answer = await self.insist(lambda: self.node.log.remove(self.code, self.replica.point))
        if isinstance(answer, Conflict):
            await self.catch_up()
        else:
            raise RoomGoneError

    def _take(self, entry: Entry) -> None:
        try:
            change = self.replica.follow(entry)
        except Exception as error:
            logger.exception("room %s cannot be followed beyond %d", self.code, entry.seq - 1)
            raise UnreadableLogError from error
        self.ahead = core.due(change.after)
        self._show(change)

    def _show(self, change: Change, announced: Draft | None = None) -> None:
        """Show a change and all that goes with it; what was announced is not told again."""
        try:
            self.audience.show(self.replica, change, announced)
        except Exception as error:
            logger.exception("room %s cannot be shown at %d", self.code, change.seq)
            raise UnreadableLogError from error

    async def _heal(self, top: Entry) -> None:
        """The log has lost its end. Put it back as it was, or start from what is left."""
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

    async def _reload(self) -> None:
        """Take the log as it is, and tell everybody how much of the past is lost."""
        old = self.replica
        try:
            new = await self.insist(lambda: load(self.node, self.code))
        except Exception as error:
            logger.exception("room %s cannot be read again", self.code)
            raise UnreadableLogError from error
        if new is None:
            raise RoomGoneError
        lost = old.point.seq - old.shared_with(new)
        logger.warning("room %s: %d commits are lost", self.code, lost)
        self.node.meters.lost_commits += lost
        self.replica, self.ahead = new, core.due(new.room)
        self.audience.reset(new, lost)

    async def _read(self) -> Reading:
        return await self.insist(lambda: self.node.log.read(self.code, self.replica.point))

    async def _until_known(self, wanted: Append) -> Answer:
        """The same bytes again and again, until the store says what became of them."""
        return await self.insist(lambda: self.node.log.append(wanted))

    async def insist(self, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """Ask until there is an answer; the room is shown as paused as long as there is none."""
        wait = FIRST_WAIT_SECONDS
        while True:
            try:
                reply = await ask()
            except StoreError as error:
                self._pause(error)
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
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
