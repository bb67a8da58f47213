"""The way of a step into the log: what a node proposes, how it asks, and what becomes of it.

The writer never forks a log, loses a commit or appends one twice. An append names the place that it
follows, and after a lost answer the same bytes are sent until the store tells.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import TypeAlias

import msgspec

from towerhall_protocol.chain import link
from towerhall_server.eventlog.answers import Answer, Append, Appended, Mistimed
from towerhall_server.eventlog.entry import Entry, Point, Stamps, mark
from towerhall_server.live.fan_out import Change, Draft
from towerhall_server.live.follower import BACKSTOP_MS, TTL_MS, Follower, UnreadableLogError
from towerhall_server.live.snapshots import is_due
from towerhall_server.room import steps
from towerhall_server.room.commits import encode_commit
from towerhall_server.room.state import Room, entered
from towerhall_server.room.steps import Due, Step
from towerhall_server.room.view import summary
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)


class Attempt(msgspec.Struct, gc=False):
    """One step, for one place in the log. Retries send the same bytes: `wanted` never changes."""

    wanted: Append
    change: Change
    """The change, if the append succeeds."""
    ahead: Due
    """The next deadline after it."""
    began: float
    """In monotonic seconds."""
    draft: Draft | None = None
    """The encoded frames, as soon as they are ready."""
    told: bool = False
    """Whether the log holds it and its frames, if ready, were sent. No draft is made after that."""
    fault: Exception | None = None
    """The exception by which its frames could not be sent, though the log holds it."""


Meanwhile: TypeAlias = Callable[[Attempt, "asyncio.Future[Answer]"], Awaitable[None]]


async def _nothing(attempt: Attempt, known: "asyncio.Future[Answer]") -> None:
    """Just wait for the outcome."""


class Writer:
    """Writes the steps of one room."""

    __slots__ = ("_follower", "_meanwhile")

    def __init__(self, follower: Follower, meanwhile: Meanwhile = _nothing) -> None:
        """`meanwhile` runs while the outcome of an attempt is unknown."""
        self._follower = follower
        self._meanwhile = meanwhile

    def attempt(
        self, step: Step, clocks: Stamps | None = None, *, not_before_ms: int | None = None
    ) -> Attempt:
        """The attempt to append a step at the next place in the log. `clocks` are the store's
        clocks, if they were just estimated."""
        follower = self._follower
        replica, node, shard = follower.replica, follower.node, follower.shard
        return attempt_of(
            replica.room,
            replica.point,
            step,
            node.commit_ids.new(),
            not_before_ms,
            clocks or node.clock.now(shard),
            monotonic(),
            follower.ahead if node.clock.is_sure(shard) else None,
        )

    async def append(self, step: Step, *, not_before_ms: int | None = None) -> Answer:
        """Append a step if its place in the log is free, and show it then."""
        reply: asyncio.Future[Answer | StoreError] = asyncio.get_running_loop().create_future()

        def answered(answer: Answer | StoreError) -> None:
            if not reply.done():
                reply.set_result(answer)

        attempt = self.attempt(step, not_before_ms=not_before_ms)
        ask = self._follower.node.log.appender.ask
        ask(attempt.wanted, answered, partial(self.draft, attempt))
        return await self.conclude(attempt, await reply)

    async def conclude(self, attempt: Attempt, answer: Answer | StoreError) -> Answer:
        """The outcome of an attempt. After a lost answer the log may hold it, so the same bytes are
        sent until the store answers."""
        if isinstance(answer, StoreError):
            self._follower.pause(answer)
            answer = await self._found_out(attempt)
        if isinstance(answer, Mistimed):
            await self._set_clocks(answer.now)
        if isinstance(answer, Appended):
            self.announce(attempt)
        self.settle(attempt, answer)
        return answer

    async def _set_clocks(self, said: Stamps) -> None:
        """Take in the store's clocks. If its service clock went back, advance it."""
        node, shard = self._follower.node, self._follower.shard
        known_ms = node.clock.hear(shard, said)
        if known_ms > said.served_ms:
            await node.log.advance({shard: known_ms})

    async def _found_out(self, attempt: Attempt) -> Answer:
        """Retry until the outcome is known; a full store may take hours. `meanwhile` runs."""
        known = asyncio.ensure_future(self._follower.until_known(attempt.wanted))
        try:
            await self._meanwhile(attempt, known)
            return await known
        finally:
            known.cancel()

    def announce(self, attempt: Attempt) -> None:
        """Send the frames of a commit that the log holds, if they are ready. Does not raise:
        `settle`, which must follow, raises the exception."""
        attempt.told = True
        if attempt.draft is not None:
            try:
                self._follower.audience.fan_out.announce(attempt.draft)
            except Exception as error:
                logger.exception("room %s cannot tell what is new", self._follower.code)
                attempt.fault = error

    def settle(self, attempt: Attempt, answer: Answer) -> None:
        """Take in a commit that the log holds, and show it if it was not announced. A failure must
        not look like a refusal, so it ends the room here: clients reconnect and read the log."""
        follower = self._follower
        now, node, replica = monotonic(), follower.node, follower.replica
        node.meters.append_seconds.observe(now - attempt.began)
        if not isinstance(answer, Appended):
            node.meters.answers[type(answer).__name__.lower()] += 1
            return
        node.meters.appends += 1
        if attempt.fault is not None:
            raise UnreadableLogError from attempt.fault
        before, change = replica.room, attempt.change
        replica.take(attempt.wanted.entry, change.after)
        follower.ahead = attempt.ahead
        follower.sure_at = now
        if is_due(change.seq):
            node.upkeep.keep(follower.code, change.after, replica.point)
        node.heard(before, change.after, change.seq)
        follower.show(change, attempt.draft)

    def draft(self, attempt: Attempt) -> None:
        """Encode the frames of an attempt while the store writes it."""
        if not attempt.told:
            try:
                attempt.draft = self._follower.audience.fan_out.draft(attempt.change)
            except Exception:  # noqa: BLE001 - `show` makes it again, and raises
                attempt.draft = None


def attempt_of(
    room: Room,
    place: Point,
    step: Step,
    commit_id: bytes,
    not_before_ms: int | None,
    clocks: Stamps,
    began: float,
    expected: Due | None = None,
) -> Attempt:
    """The attempt to append a step after that place, at which the room is.

    `clocks` are the store's clocks as this node estimates them. `expected` is the deadline of the
    room now; `None` if it is not known, or if the estimate is not.
    """
    commit = step.commit
    stamps = proposed(place.stamps, clocks, not_before_ms or 0)
    seq, blob = place.seq + 1, encode_commit(commit)
    chain = link(place.chain, stamps.wall_ms, stamps.served_ms, commit_id, blob)
    short = mark(chain)
    after = entered(room, step.after, commit, seq, short, stamps.served_ms)
    ahead = steps.due(after)
    due_at_ms = ahead.at_ms(after)
    is_listed_anew = after.table is not room.table
    wanted = Append(
        mode="append",
        room=room.table.code,
        before=place,
        entry=Entry(seq, commit_id, chain, blob, stamps),
        ttl_ms=TTL_MS,
        not_before_ms=not_before_ms,
        due_at_ms=due_at_ms + BACKSTOP_MS,
        summary=summary(after.table) if is_listed_anew else None,
        # A turn clock depends on the stamps, so the store compares them with its own clocks.
        is_move=ahead is expected
        and ahead.since == "day"
        and due_at_ms == ahead.at_ms(room)
        and not_before_ms is None
        and not is_listed_anew,
        is_end=is_listed_anew and after.table.result is not None and room.table.result is None,
    )
    change = Change(room, after, commit, seq, short, chain)
    return Attempt(wanted, change, ahead, began)


def proposed(before: Stamps, clocks: Stamps, not_before_ms: int) -> Stamps:
    """The stamps of the next entry: time never runs back, and no timer fires early."""
    return Stamps(
        max(clocks.wall_ms, before.wall_ms),
        max(clocks.served_ms, before.served_ms, not_before_ms),
    )
