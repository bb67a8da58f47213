"""One connection to the lobby as a state machine without input or output; see `session`."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from towerhall_protocol.codec import CodecError
from towerhall_protocol.codec import Limits as CodecLimits
from towerhall_protocol.lobby import LobbyClientMessage, LobbyFilter, LobbyHello
from towerhall_protocol.messages import ClientPing
from towerhall_protocol.wire import read_lobby_client
from towerhall_server.gateway.limits import Limits
from towerhall_server.gateway.session import HangUp, Hearing, State, Tell, error

UNDERSTOOD: Final[Mapping[State, tuple[type[LobbyClientMessage], ...]]] = {
    "greeting": (LobbyHello,),
    "inside": (LobbyFilter, ClientPing),
    "over": (),
}
"""What is understood when. A greeting leads inside; everything else stays where it is."""

LobbyIntention: TypeAlias = LobbyClientMessage | Tell | HangUp | None


class LobbySession(Hearing):
    """What one connection to the lobby has said so far, as far as it matters."""

    __slots__ = ("_filters",)

    def __init__(self, limits: Limits, codec: CodecLimits, *, text: bool) -> None:
        super().__init__(limits, codec, text=text)
        # A whole list is about as much work as a page of history.
        self._filters = limits.history.bucket()

    def receive(self, data: bytes | str, now: float) -> LobbyIntention:
        """What a message asks for. `now` is in monotonic seconds."""
        if self.state == "over":
            return None
        try:
            message = read_lobby_client(self._document(data))
        except CodecError as problem:
            return self._refuse(problem.code, problem.params, now)
        if not isinstance(message, UNDERSTOOD[self.state]):
            return self._refuse("hello_expected", {}, now)
        if isinstance(message, LobbyHello):
            self.state = "inside"
            return message
        bucket = self._filters if isinstance(message, LobbyFilter) else self._commands
        wait_ms = bucket.take(now)
        return Tell(error("too_many", retry_ms=wait_ms)) if wait_ms else message
