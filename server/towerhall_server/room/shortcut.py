"""The short way of a command: decided in the tick in which it comes, shown with the store's answer.

Most commands are allowed, and nobody is in their way. To them a turn of the actor's loop would cost
as much as the decision itself, and make them wait for others, twice. Whatever is not so simple is
left to the loop, from the beginning: what is refused, slow, known already, or decided by more than
the log; and what the store did not simply append. Nothing here knows what to do about any of that.

While a command is on this way the loop rests. So there is still one thing at a time that is done to
a room, and all of them in the order in which they came. Commands to other rooms that come in the
same tick go the same way in step with it: see `stage`.
"""

from functools import partial

from towerhall_server.eventlog.answers import Answer, Appended
from towerhall_server.eventlog.batch import Later
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.game import Rejected
from towerhall_server.room import core
from towerhall_server.room.alarm import Alarm
from towerhall_server.room.attempt import Attempt
from towerhall_server.room.commits import Cause
from towerhall_server.room.follower import Follower
from towerhall_server.room.inbox import Command, Inbox, Tried
from towerhall_server.room.knowing import UNLOGGED
from towerhall_server.room.replies import done
from towerhall_server.room.state import Room, look_up


class Shortcut:
    """The short way into one room."""

    __slots__ = ("_alarm", "_follower", "_inbox", "_is_closed")

    def __init__(self, follower: Follower, inbox: Inbox, alarm: Alarm) -> None:
        self._follower = follower
        self._inbox = inbox
        self._alarm = alarm
        self._is_closed = False

    def takes(self, item: Command) -> bool:
        """Whether a command can try to go this way; then it is on it."""
        if not self._inbox.idle:
            return False
        self._inbox.hold()
        self._follower.node.deciding.add(self._decide, item)
        return True

    def close(self) -> None:
        """The room has ended: what the store was asked for gets to the log, and whoever wanted it
        learns of it after coming back. What was not decided is forgotten, and sent again then."""
        self._is_closed = True

    def _decide(self, item: Command) -> None:
        if self._is_closed:
            return
        try:
            attempt = self._attempt(item)
            if attempt is not None:
                self._follower.ask(attempt, partial(self._answered, item))
                return
        except Exception:  # noqa: BLE001, S110 - the loop meets it again, and knows what to do
            pass
        self._inbox.release(item)

    def _attempt(self, item: Command) -> Attempt | None:
        asked, room = item.asked, self._follower.replica.room
        if asked.dry or asked.body["command"] in UNLOGGED or core.is_slow(room, asked.body):
            return None
        cause = cause_of(item, room)
        if look_up(room, cause) is not None:
            return None
        step = core.step(room, item.viewer.person, cause, asked.body, asked.tag)
        return None if isinstance(step, Rejected) else self._follower.attempt(step)

    def _answered(
        self, item: Command, attempt: Attempt, answer: Answer | StoreError
    ) -> Later | None:
        if self._is_closed:
            return None
        if not isinstance(answer, Appended):
            self._inbox.release(Tried(item, attempt, answer))
            return None
        # People come first, for they wait, in other rooms, too; then books are kept.
        self._follower.announce(attempt)
        return partial(self._settle, item, attempt, answer)

    def _settle(self, item: Command, attempt: Attempt, answer: Appended) -> None:
        try:
            self._follower.settle(attempt, answer)
            self._alarm.appended_here()
            done(self._follower, item)
        except Exception as error:  # noqa: BLE001 - the loop will raise it
            self._inbox.release(Tried(item, attempt, error))
        else:
            self._inbox.release()


def cause_of(item: Command, room: Room) -> Cause:
    """A command as its commit will name it; the seat is that of the person in the room as it is."""
    person = item.viewer.person.id
    seat = room.table.seat_of(person)
    return Cause(-1 if seat is None else seat, person, item.viewer.origin, item.asked.n)
