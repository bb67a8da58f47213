"""The session of a connection to what concerns a person; see `session`. No input or output."""

from typing import TypeAlias

from towerhall_protocol.codec import CodecError, CodecLimits
from towerhall_protocol.events import EventsClientMessage, EventsHello
from towerhall_protocol.wire import read_events_client
from towerhall_server.access.rates import Limits
from towerhall_server.gateway.ws.session import HangUp, Hearing, Tell, error
from towerhall_server.gateway.ws.states import EVENTS

EventsIntention: TypeAlias = EventsClientMessage | Tell | HangUp | None


class EventsSession(Hearing):
    """One connection: its state, and its rates."""

    __slots__ = ()

    def __init__(self, limits: Limits, codec: CodecLimits, *, text: bool) -> None:
        super().__init__(EVENTS, limits, codec, text=text)

    def receive(self, data: bytes | str, now: float) -> EventsIntention:
        """Return the intention of a message. `now` is in monotonic seconds."""
        if self.state == "over":
            return None
        try:
            message = read_events_client(self._document(data))
        except CodecError as problem:
            return self._refuse(problem.code, problem.params, now)
        if not self.happens(type(message)):
            return self._refuse("hello_expected", {}, now)
        if isinstance(message, EventsHello):
            return message
        wait_ms = self._commands.take(now)
        return Tell(error("too_many", retry_ms=wait_ms)) if wait_ms else message
