"""The fast path of a command: decided in the tick in which it comes, shown with the store's answer.

Most commands are allowed and have no rival. A turn of the actor's loop would cost as much as the
decision itself, and would make the command wait twice. All other cases go to the actor: commands
that are refused, slow, answered before or in need of facts; steps that the store did not append.

The loop rests while a command is on the fast path, so a room still does one thing at a time, in
order of arrival. Commands to other rooms that come in the same tick are decided in one batch: see
`stage`.
"""

import logging
from functools import partial

from towerhall_server.eventlog.answers import Answer, Appended
from towerhall_server.eventlog.append import Request
from towerhall_server.live.alarm import Alarm
from towerhall_server.live.attempt import Attempt
from towerhall_server.live.follower import Follower
from towerhall_server.live.inbox import Command, Inbox, Tried
from towerhall_server.live.replies import done
from towerhall_server.room.decision import decide
from towerhall_server.room.steps import Step
from towerhall_server.store.batch import Later

logger = logging.getLogger(__name__)


class FastPath:
    """The fast path into one room."""

    __slots__ = ("_alarm", "_follower", "_inbox", "_is_closed")

    def __init__(self, follower: Follower, inbox: Inbox, alarm: Alarm) -> None:
        self._follower = follower
        self._inbox = inbox
        self._alarm = alarm
        self._is_closed = False

    def takes(self, item: Command) -> bool:
        """Whether a command takes the fast path. The actor alone answers dry runs."""
        is_free = self._inbox.idle and self._follower.replica.broken_at is None
        if item.asked.dry or not is_free:
            return False
        self._inbox.hold()
        self._follower.node.deciding.add(partial(self._decide, item))
        return True

    def close(self) -> None:
        """The room has ended. A step that the store was asked for still gets to the log; its client
        learns of it after reconnecting. A command that was not decided is sent again then."""
        self._is_closed = True

    def _decide(self, item: Command) -> Request | None:
        """The request to append, unless the command is left to the actor."""
        if self._is_closed:
            return None
        try:
            attempt = self._attempt(item)
            if attempt is not None:
                answered = partial(self._answered, item, attempt)
                return Request(attempt.wanted, answered, partial(self._follower.draft, attempt))
        except Exception:
            # The actor decides the command again, and answers if that fails, too.
            logger.exception("room %s: the fast path failed", self._follower.code)
            self._follower.node.meters.fast_path_faults += 1
        self._inbox.release(item)
        return None

    def _attempt(self, item: Command) -> Attempt | None:
        if not item.is_heard():
            return None
        follower, viewer = self._follower, item.viewer
        who = (viewer.person, viewer.origin)
        step = decide(follower.replica.room, *who, item.asked, follower.now_ms())
        return follower.attempt(step) if isinstance(step, Step) else None

    def _answered(
        self, item: Command, attempt: Attempt, answer: Answer | Exception
    ) -> Later | None:
        """The log's answer. Nothing else is asked for this room until it is settled."""
        if self._is_closed:
            return None
        if not isinstance(answer, Appended):
            self._inbox.release(Tried(item, attempt, answer))
            return None
        # Viewers come first, in other rooms of this batch, too. The bookkeeping follows.
        self._follower.announce(attempt)
        return partial(self._settle, item, attempt, answer)

    def _settle(self, item: Command, attempt: Attempt, answer: Appended) -> None:
        try:
            self._follower.settle(attempt, answer)
            self._alarm.appended_here()
            done(self._follower, item)
        except Exception as error:  # noqa: BLE001 - the actor will raise and log it
            self._follower.node.meters.fast_path_faults += 1
            self._inbox.release(Tried(item, attempt, error))
        else:
            self._inbox.release()
