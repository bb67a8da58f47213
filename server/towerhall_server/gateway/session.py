"""One connection as a state machine without input or output: bytes go in, intentions come out.

States and what is understood in each stand in one table. Everything that a stranger may send leads
to an intention, a refusal with its code, or the end of the connection; never to an exception.
"""

from collections.abc import Mapping, Set
from typing import Final, Literal, TypeAlias

import msgspec

from towerhall_protocol.codec import CodecError, decode, decode_json
from towerhall_protocol.codec import Limits as CodecLimits
from towerhall_protocol.errors import hint
from towerhall_protocol.messages import (
    EMOTES,
    ClientChat,
    ClientCommand,
    ClientEmote,
    ClientHello,
    ClientHistory,
    ClientMessage,
    ClientPing,
    ServerError,
    ServerRejected,
)
from towerhall_protocol.wire import plain_command, read_client
from towerhall_server.gateway.limits import Bucket, Limits

MOST_UNANSWERED: Final = 8
MOST_SHOWN: Final = 40
"""So many characters of a stranger's word are repeated to them."""

State = Literal["greeting", "inside", "over"]

UNDERSTOOD: Final[Mapping[State, tuple[type[ClientMessage], ...]]] = {
    "greeting": (ClientHello,),
    "inside": (ClientCommand, ClientHistory, ClientChat, ClientEmote, ClientPing),
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


class Hearing:
    """What every connection does with what it is sent, whomever it talks to."""

    __slots__ = ("_bad", "_codec", "_commands", "_text", "state")

    def __init__(self, limits: Limits, codec: CodecLimits, *, text: bool) -> None:
        self._codec = codec
        self._text = text
        self._commands = limits.commands.bucket()
        self._bad = limits.bad_messages.bucket()
        self.state: State = "greeting"

    def _document(self, data: bytes | str) -> object:
        if isinstance(data, str):
            if not self._text:
                raise CodecError("wrong_frame_type", "text", {"wanted": "binary"})
            return decode_json(data, self._codec)
        if self._text:
            raise CodecError("wrong_frame_type", "binary", {"wanted": "text"})
        return decode(data, self._codec)

    def _refuse(self, code: str, params: Mapping[str, int | str], now: float) -> Tell | HangUp:
        """Nonsense is answered; too much of it ends the connection."""
        message = ServerError(code, params, hint(code, params))
        if self._bad.take(now):
            self.state = "over"
            return HangUp("bad_message", message)
        return Tell(message)


class Session(Hearing):
    """What one connection to a room has said so far, as far as it matters."""

    __slots__ = ("_chats", "_histories", "_short_bytes")

    def __init__(self, limits: Limits, codec: CodecLimits, *, text: bool) -> None:
        super().__init__(limits, codec, text=text)
        self._short_bytes = 0 if text else min(codec.message_bytes, codec.string_bytes)
        self._chats = limits.chat.bucket()
        self._histories = limits.history.bucket()

    def receive(self, data: bytes | str, now: float, unanswered: Set[int]) -> Intention:
        """What a message asks for. `now` is in monotonic seconds."""
        if self.state == "over":
            return None
        message: ClientMessage | None = None
        if isinstance(data, bytes) and len(data) <= self._short_bytes:
            message = plain_command(data)
        if message is None:
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
            wait_ms = self._bucket_of(message).take(now)
            if wait_ms:
                return Tell(error("too_many", retry_ms=wait_ms))
            if isinstance(message, ClientEmote) and message.emote not in EMOTES:
                return Tell(error("bad_emote", name=message.emote[:MOST_SHOWN]))
        return message

    def wait_ms(self, now: float) -> int:
        """How long the next command has to wait for the rate; 0 if it may go on, which counts."""
        return self._commands.take(now)

    def _bucket_of(self, message: ClientMessage) -> Bucket:
        if isinstance(message, ClientChat | ClientEmote):
            return self._chats
        return self._histories if isinstance(message, ClientHistory) else self._commands

    def _command(self, message: ClientCommand, now: float, unanswered: Set[int]) -> Intention:
        if message.n < 1:
            return self._refuse("bad_number", {}, now)
        if message.n in unanswered:
            return None  # sent again while it is under way: it has one answer, which will come
        if len(unanswered) >= MOST_UNANSWERED:
            # Not "rejected": an earlier copy of it may be in the log (P-44).
            told = {"most": MOST_UNANSWERED, "n": message.n}
            return self._refuse("too_many_unanswered", told, now)
        if not isinstance(message.body.get("command"), str):
            detail = {"detail": "`command` is its name"}
            return _rejected(message, "bad_command", "P-41", detail)
        return message


def _rejected(
    message: ClientCommand, code: str, rule: str, params: Mapping[str, int | str]
) -> Tell:
    return Tell(ServerRejected(message.n, code, rule, params, hint(code, params)))
