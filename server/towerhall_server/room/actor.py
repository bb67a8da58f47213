"""The one loop of a room: take something from the inbox, decide, append, tell.

An actor is a replica of the log, and any number of nodes may run one for the same room. Nothing is
shown or acknowledged before it is in the log, and the log decides who comes first:

- **appended**: the commit has its place. Fold it, show it; the frame is the acknowledgement.
- **duplicate**: this command is in the log already. Read up to it, then say where it is.
- **conflict**: somebody else was first. Read, show what was missed. A person's command is decided
  again, by the game only if the game has changed, so that a slow search does not starve; what the
  room wanted to do by itself is forgotten and derived afresh.
- **stale**: a later command of the same client was first. It will never be done.
- **early**: a timer fired before its time. Wait for the rest.
- **gone**: the log is no more. It is never made anew; everybody is sent away.
- **no answer**: nobody knows. The same bytes are sent again until somebody does, and meanwhile the
  room is shown as paused; a command whose fate is unknown is never called refused.

A log may also be found shorter than the replica: then the store has lost its tail, and `healing`
puts it back, or the audience is told how much is lost.

Most commands need nothing of this: they take the `shortcut`, while the loop rests. How a room is
read, healed and kept in step is in `follower`; what may happen is in `core`.
"""

import asyncio
import logging
from time import monotonic
from typing import Final

from towerhall_protocol.messages import ServerAccepted
from towerhall_server.eventlog.entry import Entry
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.log import Answer, Appended, Conflict, Duplicate, Early, Gone, Stale
from towerhall_server.game import Rejected, Seat
from towerhall_server.room import core, replies
from towerhall_server.room.absence import Absence
from towerhall_server.room.alarm import Alarm
from towerhall_server.room.core import Step
from towerhall_server.room.errands import errand
from towerhall_server.room.explaining import effect_of
from towerhall_server.room.follower import Follower, RoomGoneError
from towerhall_server.room.inbox import (
    Command,
    Doubt,
    HostAway,
    Inbox,
    Item,
    Join,
    News,
    Order,
    Resync,
    TimeIsUp,
    Tried,
)
from towerhall_server.room.knowing import UNLOGGED, MakeRoom, find_out
from towerhall_server.room.orders import obey
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.seats import NOTHING_KNOWN
from towerhall_server.room.shortcut import Shortcut, cause_of
from towerhall_server.room.state import STALE, Decided, Done, look_up
from towerhall_server.room.viewer import Viewer
from towerhall_server.room.welcome import resync, welcome

logger = logging.getLogger(__name__)

NEAR_MS: Final = 60_000
"""A room is kept in memory for what is due so soon."""


class RoomActor:
    """One room on this node."""

    def __init__(self, follower: Follower, *, appended_last: bool, make_room: MakeRoom) -> None:
        self._follower = follower
        self._make_room = make_room
        self._absence = Absence(follower)
        self._inbox = Inbox()
        self._alarm = Alarm(follower, lambda: self.put(TimeIsUp()), appended_last=appended_last)
        self._shortcut = Shortcut(follower, self._inbox, self._alarm)
        self._over = ""
        """Why nobody can come in any more."""
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
        """Whether nothing would be missed if this actor were not there."""
        follower = self._follower
        busy = len(follower.audience) or len(self._inbox)
        return not busy and follower.deadline_ms - follower.now_ms() > NEAR_MS

    def put(self, item: Item) -> None:
        """Give the room something to do. It is done in order. At the end guests are sent away;
        commands are answered elsewhere, when they are sent again."""
        if self._over:
            replies.send_away(item, self._over)
        elif not (isinstance(item, Command) and self._shortcut.takes(item)):
            self._inbox.put(item)
            if self._follower.paused and isinstance(item, Command):
                item.viewer.send(replies.STORE_UNAVAILABLE)

    def hear(self, entry: Entry) -> None:
        """News from another node."""
        if not self._follower.replica.holds(entry):
            self.put(News(entry))

    def doubt(self, seconds: float = 0.0) -> None:
        """News may have been missed, unless there was some in the last seconds. To doubt again
        before that was looked into adds nothing."""
        if monotonic() - self._follower.sure_at >= seconds and not self._inbox.holds(Doubt):
            self.put(Doubt())

    def look(self) -> None:
        """To be called now and then: the host may have gone."""
        if self._absence.heir() is not None and not self._inbox.holds(HostAway):
            self.put(HostAway())

    def leave(self, viewer: Viewer) -> None:
        self._follower.audience.remove(viewer)

    async def stop(self, reason: str) -> None:
        """End at once and send everybody away. A commit under way still gets to the log; whoever
        asked for it learns of it after coming back."""
        self._shortcut.close()
        self._alarm.stop()
        self._task.cancel()
        await asyncio.wait((self._task,))
        self._send_away(reason)

    async def _run(self) -> None:
        self._alarm.set()
        try:
            while True:
                item = await self._inbox.take()
                try:
                    await self._handle(item)
                except (RoomGoneError, asyncio.CancelledError):
                    # Whoever was about to come in is not in the audience yet.
                    self._inbox.put(item)
                    raise
                except Exception as error:
                    # A poisoned room must not take others with it, nor die of one bad command.
                    logger.exception("room %s could not handle %s", self.code, type(item).__name__)
                    replies.fault(self._follower, item, error)
        except RoomGoneError as end:
            self._send_away(end.reason)
        except Exception:
            logger.exception("room %s cannot go on", self.code)
            self._send_away("server_fault")
        finally:
            self._alarm.stop()

    def _send_away(self, reason: str) -> None:
        """All who are here, and all who wait to be let in."""
        self._over = self._over or reason
        self._shortcut.close()
        self._follower.audience.close(self._over)
        for item in self._inbox.empty():
            self.put(item)

    async def _handle(self, item: Item) -> None:
        match item:
            case Command():
                await self._command(item)
            case Tried():
                await self._try_on(item)
            case Join(viewer, cursor, lines):
                await welcome(self._follower, viewer, cursor)
                for line in lines:
                    viewer.send(Prepared(line))
            case Resync(viewer):
                self._follower.node.meters.resyncs += 1
                resync(self._follower, viewer)
            case News(entry):
                if await self._follower.take_news(entry):
                    self._alarm.others_appended()
            case Doubt():
                await self._catch_up()
            case HostAway():
                await self._pass_host()
            case Order():
                await obey(item, self._follower, self._commit)
                self._alarm.set()
            case TimeIsUp():
                await self._act()

    # A person's command

    async def _try_on(self, tried: Tried) -> None:
        """Something stood in the way of a command that took the shortcut."""
        item, answer = tried.command, tried.answer
        if isinstance(answer, Exception) and not isinstance(answer, StoreError):
            raise answer
        answer = self._known(await self._follower.conclude(tried.attempt, answer))
        if not await self._is_settled(item, answer):
            await self._command(item)

    async def _command(self, item: Command) -> None:
        viewer, asked = item.viewer, item.asked
        known, decided = NOTHING_KNOWN, None
        while True:
            room = self._follower.room
            cause = cause_of(item, room)
            match look_up(room, cause):
                case Done(seq):
                    return replies.duplicate(self._follower, item, seq)
                case Rejected() as refusal:
                    return replies.reject(self._follower, item, refusal)
            if asked.body.get("command") in UNLOGGED:
                known = await find_out(self._follower, self._absence, self._make_room, item, known)
            wanted = (room, viewer.person, cause, asked.body, asked.tag, known, decided)
            if core.is_slow(room, asked.body, decided):
                step = await asyncio.to_thread(core.step, *wanted)
            else:
                step = core.step(*wanted)
            if asked.dry and not isinstance(step, Rejected):
                effect = {} if cause.seat < 0 else effect_of(room, Seat(cause.seat), asked.body)
                return replies.tell(item, ServerAccepted(asked.n, effect))
            if isinstance(step, Rejected):
                # A replica that is behind may be wrong: it makes sure before it refuses.
                if await self._catch_up():
                    continue
                return replies.reject(self._follower, item, step)
            decided = Decided(room.game, step.commit.game)
            if await self._is_settled(item, await self._commit(step)):
                return None

    async def _is_settled(self, item: Command, answer: Answer) -> bool:
        """Tell whoever asked what became of a command. Whether that is all: if somebody else was
        first, it has to be decided again."""
        match answer:
            case Appended():
                replies.done(self._follower, item)
            case Duplicate(seq):
                await self._catch_up()
                replies.duplicate(self._follower, item, seq)
            case Stale():
                replies.reject(self._follower, item, STALE)
            case _:
                await self._catch_up()
                return False
        return True

    # What the room does by itself

    async def _pass_host(self) -> None:
        heir = self._absence.heir()
        if heir is not None:
            step = core.pass_host_step(self._follower.room, heir)
            if not isinstance(await self._commit(step), Appended):
                await self._catch_up()

    async def _act(self) -> None:
        """Do what is due, if it still is. Whatever stands against it, it is derived afresh."""
        follower = self._follower
        due, at_ms = follower.ahead, follower.deadline_ms
        if at_ms <= follower.now_ms():
            if due.errand == "remove":
                await follower.remove()
                return self._alarm.others_appended()
            match await self._commit(await errand(follower.room, due), not_before_ms=at_ms):
                case Early(ms_left):
                    return self._alarm.wait(ms_left)
                case Conflict() if await self._catch_up():
                    return None
        return self._alarm.set()

    # The log

    async def _catch_up(self) -> bool:
        """Read what others may have appended. Whether they have."""
        changed = await self._follower.catch_up()
        if changed:
            self._alarm.others_appended()
        return changed

    async def _commit(self, step: Step, *, not_before_ms: int | None = None) -> Answer:
        """Try to append a step; show it once it is in the log."""
        return self._known(await self._follower.append(step, not_before_ms=not_before_ms))

    def _known(self, answer: Answer) -> Answer:
        if isinstance(answer, Gone):
            raise RoomGoneError
        if isinstance(answer, Appended):
            self._alarm.appended_here()
        return answer
