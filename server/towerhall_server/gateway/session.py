"""One connection as a state machine without input or output: bytes go in, intentions come out.

States and what is understood in each stand in one table. Everything that a stranger may send leads
to an intention, a refusal with its code, or the end of the connection; never to an exception.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from towerhall_protocol.codec import CodecError, decode, decode_json
from towerhall_protocol.codec import Limits as CodecLimits
from towerhall_protocol.errors import hint
from towerhall_protocol.messages import (
    ClientChat,
    ClientCommand,
    ClientHello,
    ClientHistory,
    ClientMessage,
    ClientPing,
    ServerError,
    ServerRejected,
)
from towerhall_protocol.wire import read_client
from towerhall_server.gateway.limits import Limits

MOST_UNANSWERED: Final = 8

State = Literal["greeting", "inside", "over"]

UNDERSTOOD: Final[Mapping[State, tuple[type[ClientMessage], ...]]] = {
    "greeting": (ClientHello,),
    "inside": (ClientCommand, ClientHistory, ClientChat, ClientPing),
    "over": (),
}
"""What is understood when. A greeting leads inside; everything else stays where it is."""


class Tell(msgspec.Struct, frozen=True):
    """Answer this, and go on."""

    message: ServerError | ServerRejected


class HangUp(msgspec.Struct, frozen=True):
    """Say why, if there is something to say, and end the connection for that reason."""

    reason: str
    message: ServerError | None = None


Intention: TypeAlias = ClientMessage | Tell | HangUp | None


def error(code: str, **params: int | str) -> ServerError:
    return ServerError(code, params, hint(code, params))


class Session:
    """What one connection has said so far, as far as it matters."""

    __slots__ = ("_bad", "_chats", "_codec", "_commands", "_limits", "_text", "state")

    def __init__(self, limits: Limits, codec: CodecLimits, *, text: bool) -> None:
        self._limits = limits
        self._codec = codec
        self._text = text
        self._commands = limits.commands.bucket()
        self._chats = limits.chat.bucket()
        self._bad = limits.bad_messages.bucket()
        self.state: State = "greeting"

    def receive(self, data: bytes | str, now: float, unanswered: int) -> Intention:
        """What a message asks for. `now` is in monotonic seconds."""
        if self.state == "over":
            return None
        try:
            message = read_client(self._document(data))
        except CodecError as problem:
            return self._refuse(problem.code, problem.params, now)
        if not isinstance(message, UNDERSTOOD[self.state]):
            return self._refuse("hello_expected", {}, now)
        if isinstance(message, ClientCommand):
            return self._command(message, now, unanswered)
        if isinstance(message, ClientHello):
            self.state = "inside"
        else:
            bucket = self._chats if isinstance(message, ClientChat) else self._commands
            wait_ms = bucket.take(now)
            if wait_ms:
                return Tell(error("too_many", retry_ms=wait_ms))
        return message

    def _document(self, data: bytes | str) -> object:
        if isinstance(data, str):
            if not self._text:
                raise CodecError("wrong_frame_type", "text", {"wanted": "binary"})
            return decode_json(data, self._codec)
        if self._text:
            raise CodecError("wrong_frame_type", "binary", {"wanted": "text"})
        return decode(data, self._codec)

    def _command(self, message: ClientCommand, now: float, unanswered: int) -> Intention:
        if message.n < 1:
            return self._refuse("bad_number", {}, now)
        if unanswered >= MOST_UNANSWERED:
            return _rejected(message, "too_many_unanswered", "P-44", {"most": MOST_UNANSWERED})
        wait_ms = self._commands.take(now)
        if wait_ms:
            return _rejected(message, "too_many", "P-72", {"retry_ms": wait_ms})
        if not isinstance(message.body.get("command"), str):
            detail = {"detail": "`command` is its name"}
            return _rejected(message, "bad_command", "P-41", detail)
        return message

    def _refuse(self, code: str, params: Mapping[str, int | str], now: float) -> Intention:
        """Nonsense is answered; too much of it ends the connection."""
        message = ServerError(code, params, hint(code, params))
        if self._bad.take(now):
            self.state = "over"
            return HangUp("bad_message", message)
        return Tell(message)


def _rejected(
    message: ClientCommand, code: str, rule: str, params: Mapping[str, int | str]
) -> Tell:
    return Tell(ServerRejected(message.n, code, rule, params, hint(code, params)))
