"""The one loop of a room: take an item from the inbox, decide, append, show.

Any number of nodes may run an actor for the same room. Viewers see a commit only after the log
holds it, and the log decides which commit comes first. The store answers an append with:

- **appended**: the log holds the commit. Fold it and show it; the frame is the acknowledgement.
- **conflict**: another commit came first. Read and show the missing entries, then decide again. The
  log may hold this command already, done by another node: then tell its seq. The game decides again
  only if its state has changed, so a slow search does not starve. A step that the room wanted to do
  by itself is dropped, and derived from the new state.
- **early**: a timer fired before its time. Wait for the rest.
- **gone**: the store has no log. If the room was removed, its viewers are sent away. If the store
  lost the log and this node holds all of it, the log is put back; then it is a conflict.
- **no answer**: the outcome is unknown. Send the same bytes until the store answers, and show the
  room as paused. A command with an unknown outcome is never called refused.

The store may also have lost the end of the log. Then `healing` puts it back, or the viewers are
told how many commits are lost.

Most commands need nothing of this: they take the fast path while the loop rests, see `inbox`.
`room.decision` decides for both. `writer` appends; `follower` reads, heals and keeps the room in
step.
"""

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import Final

from towerhall_server.eventlog.answers import (
    Answer,
    Appended,
    Conflict,
    Early,
    Gone,
)
from towerhall_server.eventlog.entry import Entry
from towerhall_server.game import Rejected
from towerhall_server.live import replies
from towerhall_server.live.absence import Absence
from towerhall_server.live.alarm import Alarm
from towerhall_server.live.errands import errand
from towerhall_server.live.follower import Follower, RoomGoneError
from towerhall_server.live.inbox import Inbox, Intake
from towerhall_server.live.items import (
    Command,
    Distrust,
    Doubt,
    HostAway,
    Item,
    Join,
    Lose,
    News,
    Order,
    Resync,
    TimeIsUp,
    Tried,
)
from towerhall_server.live.known import MakeRoom, find_out
from towerhall_server.live.orders import obey
from towerhall_server.live.viewer import Viewer
from towerhall_server.live.waiting import Waiting
from towerhall_server.live.welcome import resync, welcome
from towerhall_server.live.writer import Writer
from towerhall_server.room import steps
from towerhall_server.room.decision import InLog, KnownNeeded, Possible, Slow, decide
from towerhall_server.room.seats import NOTHING_KNOWN
from towerhall_server.room.state import Decided
from towerhall_server.room.steps import Step
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

NEAR_MS: Final = 60_000
"""Milliseconds before a deadline from which a room stays in memory."""


class RoomActor:
    """One room on this node."""

    def __init__(self, follower: Follower, *, appended_last: bool, make_room: MakeRoom) -> None:
        self._follower = follower
        self._make_room = make_room
        self._absence = Absence(follower)
        self._inbox = Inbox()
        self._alarm = Alarm(follower, lambda: self.put(TimeIsUp()), appended_last=appended_last)
        self._waiting = Waiting(follower, self._inbox, self._handle_safely)
        self._writer = Writer(follower, self._waiting.let_in)
        self._intake = Intake(follower, self._writer, self._inbox, self._alarm)
        self.put: Callable[[Item], None] = self._intake.put
        """Gives the room an item; items are handled in order."""
        self._task = asyncio.create_task(self._run(), name=f"room {follower.code}")

    @property
    def follower(self) -> Follower:
        return self._follower

    @property
    def code(self) -> str:
        return self._follower.code

    @property
    def ended(self) -> bool:
        return self._task.done()

    @property
    def idle(self) -> bool:
        """Whether this actor could be stopped without harm."""
        follower = self._follower
        busy = len(follower.audience) or len(self._inbox)
        return not busy and follower.deadline_ms - follower.now_ms() > NEAR_MS

    def hear(self, entry: Entry) -> None:
        """Another node has appended this entry."""
        if not self._follower.replica.holds(entry):
            self.put(News(entry))

    def doubt(self, seconds: float = 0.0) -> None:
        """A notification may be missing: read the log, unless the room was up to date within the
        last seconds. May be called again before the log was read."""
        if monotonic() - self._follower.sure_at >= seconds and not self._inbox.holds(Doubt):
            self.put(Doubt())

    def look(self) -> None:
        """Check whether the host is absent. Call this every second."""
        if self._absence.heir() is not None and not self._inbox.holds(HostAway):
            self.put(HostAway())

    def leave(self, viewer: Viewer) -> None:
        self._follower.audience.remove(viewer)

    async def stop(self, reason: str) -> None:
        """End at once and send all viewers away. A commit on its way still gets to the log; its
        client learns of it after reconnecting."""
        self._intake.close(reason)
        self._alarm.stop()
        self._task.cancel()
        await asyncio.wait((self._task,))
        self._send_away(reason)

    async def _run(self) -> None:
        self._alarm.set()
        try:
            while True:
                await self._handle_safely(await self._inbox.take())
        except RoomGoneError as end:
            self._send_away(end.reason)
        except Exception:
            logger.exception("room %s cannot go on", self.code)
            self._send_away("server_fault")
        finally:
            self._alarm.stop()

    def _send_away(self, reason: str) -> None:
        """Send away the viewers, and those whose `Join` waits in the inbox."""
        reason = self._intake.close(reason)
        self._follower.searches.forget()
        self._follower.audience.close(reason)
        for item in self._inbox.empty():
            self.put(item)

    async def _handle_safely(self, item: Item) -> None:
        try:
            await self._handle(item)
        except (RoomGoneError, asyncio.CancelledError):
            # A viewer that was about to join is not in the audience yet.
            self._inbox.put(item)
            raise
        except Exception as error:
            # A fault must not harm other rooms, nor end this one because of one bad command.
            logger.exception("room %s could not handle %s", self.code, type(item).__name__)
            replies.fault(self._follower, item, error)

    async def _handle(self, item: Item) -> None:
        replica = self._follower.replica
        if replica.broken_at is not None:
            # The log may have been repaired since.
            await self._catch_up()
            replica = self._follower.replica
        if replica.broken_at is None:
            await self._do(item)
        else:
            await self._show_only(item)

    async def _do(self, item: Item) -> None:
        match item:
            case Command():
                await self._command(item)
            case Tried():
                await self._try_on(item)
            case Join(viewer, cursor, lines):
                await welcome(self._follower, viewer, cursor, lines)
            case Resync(viewer):
                self._follower.node.meters.resyncs += 1
                resync(self._follower, viewer)
            case News(entry):
                if await self._follower.take_news(entry):
                    self._alarm.others_appended()
            case Doubt():
                await self._catch_up()
            case Distrust():
                await self._follower.start_over()
                self._alarm.others_appended()
            case HostAway():
                await self._pass_host()
            case Order():
                await obey(item, self._follower, self._commit)
                self._alarm.set()
            case Lose(count):
                await self._follower.lose(count)
                self._alarm.appended_here()
            case TimeIsUp():
                await self._act()

    async def _show_only(self, item: Item) -> None:
        """The log is damaged. The room shows the readable part and takes no commands."""
        match item:
            case Join(viewer, cursor, lines):
                await welcome(self._follower, viewer, cursor, lines)
                viewer.send(replies.LOG_DAMAGED)
            case Resync(viewer):
                resync(self._follower, viewer)
            case _:
                replies.damaged(self._follower, item)

    # A person's command

    async def _try_on(self, tried: Tried) -> None:
        """The store did not simply append a command of the fast path."""
        item, answer = tried.command, tried.answer
        if isinstance(answer, Exception) and not isinstance(answer, StoreError):
            raise answer
        answer = self._known(await self._writer.conclude(tried.attempt, answer))
        if not await self._is_settled(item, answer):
            await self._command(item)

    async def _command(self, item: Command) -> None:
        follower, viewer = self._follower, item.viewer
        earlier, known, decided = NOTHING_KNOWN, None, None
        while viewer.alive:  # P-45
            room, now_ms = follower.room, follower.now_ms()
            who = (viewer.person, viewer.origin)
            match decide(room, *who, item.asked, now_ms, known=known, decided=decided):
                case InLog(found):
                    return replies.already(follower, item, found)
                case KnownNeeded():
                    earlier = known = await find_out(
                        follower, self._absence, self._make_room, item, earlier
                    )
                    continue
                case Slow(seat):
                    decided = await self._waiting.decide(item, room, seat)
                case Possible(effect):
                    return replies.accept(item, effect)
                case Rejected() as refusal:
                    # A replica that is behind may be wrong: it makes sure before it refuses.
                    if not await self._catch_up():
                        return replies.reject(follower, item, refusal)
                case Step() as step:
                    decided = Decided(room.game, step.commit.game)
                    if await self._is_settled(item, await self._commit(step)):
                        return None
            known = None
        return None

    async def _is_settled(self, item: Command, answer: Answer) -> bool:
        """Answer a command by the store's answer. False after a conflict: decide it again."""
        match answer:
            case Appended():
                replies.done(self._follower, item)
            case _:
                await self._catch_up()
                return False
        return True

    # Commits of the room itself

    async def _pass_host(self) -> None:
        heir = self._absence.heir()
        if heir is not None:
            step = steps.pass_host_step(self._follower.room, heir)
            if not isinstance(await self._commit(step), Appended):
                await self._catch_up()

    async def _act(self) -> None:
        """Do what is due, if it still is. After a conflict it is derived from the new state."""
        follower = self._follower
        due, at_ms = follower.ahead, follower.deadline_ms
        if at_ms <= follower.now_ms():
            if due.errand == "remove":
                await follower.remove()
                return self._alarm.others_appended()
            step = await errand(follower.room, due, self._waiting.choose)
            match step and await self._commit(step, not_before_ms=at_ms):
                case Early(ms_left):
                    return self._alarm.wait(ms_left)
                case Conflict() | Gone() if await self._catch_up():
                    return None
        return self._alarm.set()

    # The log

    async def _catch_up(self) -> bool:
        """Read entries of other nodes. True if there were any."""
        changed = await self._follower.catch_up()
        if changed:
            self._alarm.others_appended()
        return changed

    async def _commit(self, step: Step, *, not_before_ms: int | None = None) -> Answer:
        """Try to append a step, and show it once the log holds it."""
        return self._known(await self._writer.append(step, not_before_ms=not_before_ms))

    def _known(self, answer: Answer) -> Answer:
        if isinstance(answer, Appended):
            self._alarm.appended_here()
        return answer
