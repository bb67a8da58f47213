"""The session of a connection to the lobby; see `session`. No input or output."""

from typing import TypeAlias

from towerhall_protocol.codec import CodecError, CodecLimits
from towerhall_protocol.lobby import LobbyClientMessage, LobbyFilter, LobbyHello
from towerhall_protocol.wire import read_lobby_client
from towerhall_server.access.rates import Limits
from towerhall_server.gateway.ws.session import HangUp, Hearing, Tell, error
from towerhall_server.gateway.ws.states import LOBBY

LobbyIntention: TypeAlias = LobbyClientMessage | Tell | HangUp | None


class LobbySession(Hearing):
    """One connection to the lobby: its state, and its rates."""

    __slots__ = ("_filters",)

    def __init__(self, limits: Limits, codec: CodecLimits, *, text: bool) -> None:
        super().__init__(LOBBY, limits, codec, text=text)
        # A whole list costs about as much as a page of history.
        self._filters = limits.history.bucket()

    def receive(self, data: bytes | str, now: float) -> LobbyIntention:
        """Return the intention of a message. `now` is in monotonic seconds."""
        if self.state == "over":
            return None
        try:
            message = read_lobby_client(self._document(data))
        except CodecError as problem:
            return self._refuse(problem.code, problem.params, now)
        if not self.happens(type(message)):
            return self._refuse("hello_expected", {}, now)
        if isinstance(message, LobbyHello):
            return message
        bucket = self._filters if isinstance(message, LobbyFilter) else self._commands
        wait_ms = bucket.take(now)
        return Tell(error("too_many", retry_ms=wait_ms)) if wait_ms else message
