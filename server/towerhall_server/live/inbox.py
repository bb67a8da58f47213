"""The way of items into a room: a queue, and past it the fast path of commands.

Most commands are allowed and have no rival. A turn of the actor's loop would cost as much as the
decision itself, and would make the command wait twice. The fast path decides such a command in
the tick in which it comes, and shows it with the store's answer. All other cases go to the actor:
commands that are refused, slow, answered before or in need of facts; steps that the store did not
append.

The loop rests while a command is on the fast path, so a room still does one thing at a time, in
order of arrival. Commands to other rooms that come in the same tick are decided in one batch: see
`node.Stage`.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from towerhall_server.eventlog.answers import Answer, Appended
from towerhall_server.eventlog.append import Request
from towerhall_server.live import replies
from towerhall_server.live.alarm import Alarm
from towerhall_server.live.follower import Follower
from towerhall_server.live.items import Command, Item, Tried
from towerhall_server.live.writer import Attempt, Writer
from towerhall_server.room.decision import decide
from towerhall_server.room.steps import Step
from towerhall_server.store.batch import Later

logger = logging.getLogger(__name__)


class Inbox:
    """A queue with a single reader, at half the cost of `asyncio.Queue`."""

    __slots__ = ("_aside", "_held", "_items", "_loop", "_reader")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: list[Item] = []  # nearly always empty; an empty deque takes 760 bytes
        self._reader: asyncio.Future[None] | None = None
        self._aside: asyncio.Future[None] | None = None
        """The reader, while it handles an item and waits for another one."""
        self._held = False

    def __len__(self) -> int:
        """Items that are not done, the one on the fast path included."""
        return len(self._items) + self._held

    @property
    def idle(self) -> bool:
        """Whether the reader waits, so that the next item would be its next work."""
        return self._reader is not None and not self._held

    def put(self, item: Item) -> None:
        self._items.append(item)
        if not self._held:
            self._wake()
        self._wake_aside()

    def hold(self) -> None:
        """Give the reader nothing until `release`: the fast path works in its place."""
        self._held = True

    def release(self, first: Item | None = None) -> None:
        """The reader goes on, with this item first."""
        self._held = False
        if first is not None:
            self._items.insert(0, first)
        if self._items:
            self._wake()

    def holds(self, kind: type[Item]) -> bool:
        return any(isinstance(item, kind) for item in self._items)

    def empty(self) -> tuple[Item, ...]:
        """Take all items out."""
        items = tuple(self._items)
        self._items.clear()
        return items

    async def take(self) -> Item:
        """The next item, once there is one."""
        while self._held or not self._items:
            self._reader = self._loop.create_future()
            await self._reader
        return self._items.pop(0)

    async def take_aside(
        self, fits: Callable[[Item], bool], until: "asyncio.Future[Any]"
    ) -> Item | None:
        """The next item that fits, for a reader that has not finished its last one; `None` once
        `until` is done. Such a reader is not idle."""
        until.add_done_callback(self._wake_aside)
        try:
            while not until.done():
                for at, item in enumerate(self._items):
                    if fits(item):
                        del self._items[at]
                        return item
                self._aside = self._loop.create_future()
                await self._aside
            return None
        finally:
            self._aside = None
            until.remove_done_callback(self._wake_aside)

    def _wake_aside(self, _: object = None) -> None:
        if self._aside is not None and not self._aside.done():
            self._aside.set_result(None)

    def _wake(self) -> None:
        if self._reader is not None:
            if not self._reader.done():
                self._reader.set_result(None)
            self._reader = None


class Intake:
    """The way of items into one room: the fast path, or else the inbox."""

    __slots__ = ("_alarm", "_follower", "_inbox", "_over", "_writer")

    def __init__(self, follower: Follower, writer: Writer, inbox: Inbox, alarm: Alarm) -> None:
        self._follower = follower
        self._writer = writer
        self._inbox = inbox
        self._alarm = alarm
        self._over = ""
        """The reason for which viewers are sent away; empty while the room is open."""

    def put(self, item: Item) -> None:
        """Give the room an item; items are handled in order. After the end, viewers are sent away,
        and their clients send open commands again on the next connection."""
        if self._over:
            replies.send_away(item, self._over)
        elif not (isinstance(item, Command) and self._takes(item)):
            self._inbox.put(item)
            if self._follower.paused and isinstance(item, Command):
                item.viewer.send(replies.STORE_UNAVAILABLE)

    def close(self, reason: str) -> str:
        """The room has ended, for the first reason that is given; it is returned. A step that the
        store was asked for still gets to the log; its client learns of it after reconnecting. A
        command that was not decided is sent again then."""
        self._over = self._over or reason
        return self._over

    def _takes(self, item: Command) -> bool:
        """Whether a command takes the fast path. The actor alone answers dry runs."""
        is_free = self._inbox.idle and self._follower.replica.broken_at is None
        if item.asked.dry or not is_free:
            return False
        self._inbox.hold()
        self._follower.node.deciding.add(partial(self._decide, item))
        return True

    def _decide(self, item: Command) -> Request | None:
        """The request to append, unless the command is left to the actor."""
        if self._over:
            return None
        try:
            attempt = self._attempt(item)
            if attempt is not None:
                answered = partial(self._answered, item, attempt)
                return Request(attempt.wanted, answered, partial(self._writer.draft, attempt))
        except Exception:
            # The actor decides the command again, and answers if that fails, too.
            logger.exception("room %s: the fast path failed", self._follower.code)
            self._follower.node.meters.fast_path_faults += 1
        self._inbox.release(item)
        return None

    def _attempt(self, item: Command) -> Attempt | None:
        if not item.viewer.alive:  # P-45
            return None
        follower, viewer = self._follower, item.viewer
        clocks, room = follower.node.clock.now(follower.shard), follower.replica.room
        step = decide(room, viewer.person, viewer.origin, item.asked, clocks.served_ms)
        return self._writer.attempt(step, clocks) if isinstance(step, Step) else None

    def _answered(
        self, item: Command, attempt: Attempt, answer: Answer | Exception
    ) -> Later | None:
        """The log's answer. Nothing else is asked for this room until it is settled."""
        if self._over:
            return None
        if not isinstance(answer, Appended):
            self._inbox.release(Tried(item, attempt, answer))
            return None
        # Viewers come first, in other rooms of this batch, too. The bookkeeping follows.
        self._writer.announce(attempt)
        return partial(self._settle, item, attempt, answer)

    def _settle(self, item: Command, attempt: Attempt, answer: Appended) -> None:
        try:
            self._writer.settle(attempt, answer)
            self._alarm.appended_here()
            replies.done(self._follower, item)
        except Exception as error:  # noqa: BLE001 - the actor will raise and log it
            self._follower.node.meters.fast_path_faults += 1
            self._inbox.release(Tried(item, attempt, error))
        else:
            self._inbox.release()
