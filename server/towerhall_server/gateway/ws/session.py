"""The session of a connection to a room: bytes go in, intentions come out. No input or output.

`states` has the table of states and events; the checks of each message are here. Any input leads
to an intention, a refusal with its code, or the end of the connection, and never to an exception.
"""

from collections.abc import Callable, Mapping, Set
from typing import Final, TypeAlias

import msgspec

from towerhall_protocol.codec import CodecError, CodecLimits, decode, decode_json
from towerhall_protocol.error_messages import error_of
from towerhall_protocol.errors import clause_of, hint
from towerhall_protocol.messages import (
    EMOTES,
    ClientCommand,
    ClientEmote,
    ClientHistory,
    ClientMessage,
    ClientPing,
    ClientSandbox,
    ClientSign,
    ServerError,
    ServerRejected,
)
from towerhall_protocol.wire import command_number, plain_command, read_client
from towerhall_server.access.rates import Bucket, Limits
from towerhall_server.gateway.ws.states import ROOM, BudgetSpent, Closed, State, Transitions
from towerhall_server.room.sandbox import fault_of

MOST_UNANSWERED: Final = 8
MOST_IN_HAND: Final = 2 * MOST_UNANSWERED
"""Commands of a connection that the room has not handled. Frames of another server may have
answered up to eight that were sent again on this connection; eight more may be unanswered."""
MOST_SHOWN: Final = 40
"""Characters of a client's input that an error repeats."""


def _never(n: int) -> bool:
    return False


class Tell(msgspec.Struct, frozen=True):
    """Send this answer, and continue."""

    message: ServerError | ServerRejected


class HangUp(msgspec.Struct, frozen=True):
    """Send the error, if there is one, and close the connection for that reason."""

    reason: str
    message: ServerError | ServerRejected | None = None


Intention: TypeAlias = ClientMessage | Tell | HangUp | None


def error(code: str, **params: int | str) -> ServerError:
    return error_of(code, **params)


class Hearing:
    """The shared half of both sessions: the state, the codec, and the budget of bad messages."""

    __slots__ = ("_bad", "_codec", "_commands", "_table", "_text", "state")

    def __init__(
        self, table: Transitions, limits: Limits, codec: CodecLimits, *, text: bool
    ) -> None:
        self._table = table
        self._codec = codec
        self._text = text
        self._commands = limits.commands.bucket()
        self._bad = limits.bad_messages.bucket()
        self.state: State = "greeting"

    def happens(self, event: type[object]) -> bool:
        """Go to the state after an event. Returns False if the event does not happen here."""
        after = self._table[self.state].get(event)
        if after is None:
            return False
        self.state = after
        return True

    def close(self) -> None:
        """The connection is closing: ignore all input from now on. May be called twice."""
        self.happens(Closed)

    def _document(self, data: bytes | str) -> object:
        if isinstance(data, str):
            if not self._text:
                raise CodecError("wrong_frame_type", "text", {"wanted": "binary"})
            return decode_json(data, self._codec)
        if self._text:
            raise CodecError("wrong_frame_type", "binary", {"wanted": "text"})
        return decode(data, self._codec)

    def _refuse(self, code: str, params: Mapping[str, int | str], now: float) -> Tell | HangUp:
        """Answer a bad message with an error. Too many of them close the connection."""
        return self._spend(error_of(code, **params), now)

    def _spend(self, message: ServerError | ServerRejected, now: float) -> Tell | HangUp:
        if self._bad.take(now):
            self.happens(BudgetSpent)
            return HangUp("bad_message", message)
        return Tell(message)


class Session(Hearing):
    """One connection to a room: its state, and its rates."""

    __slots__ = ("_histories", "_short_bytes", "_signatures")

    def __init__(self, limits: Limits, codec: CodecLimits, *, text: bool) -> None:
        super().__init__(ROOM, limits, codec, text=text)
        self._short_bytes = 0 if text else min(codec.message_bytes, codec.string_bytes)
        self._histories = limits.history.bucket()
        self._signatures = limits.signatures.bucket()

    def receive(
        self,
        data: bytes | str,
        now: float,
        in_hand: Set[int],
        is_shown: Callable[[int], bool] = _never,
    ) -> Intention:
        """Return the intention of a message. `now` is in monotonic seconds. `in_hand` are the
        numbers of commands that the room has not handled. `is_shown` tells whether a frame has
        answered such a command all the same."""
        if self.state == "over":
            return None
        message: ClientMessage | None = None
        if isinstance(data, bytes) and len(data) <= self._short_bytes:
            message = plain_command(data)
        if message is None:
            try:
                message = read_client(self._document(data))
            except CodecError as problem:
                return self._unreadable(data, problem, now, in_hand)
        is_command = isinstance(message, ClientCommand)  # `plain_command` makes a subclass
        if not self.happens(ClientCommand if is_command else type(message)):
            return self._refuse("hello_expected", {}, now)
        if isinstance(message, ClientCommand):
            return self._command(message, now, in_hand, is_shown)
        if isinstance(message, ClientSandbox) and (detail := fault_of(message)):
            return self._refuse("malformed_message", {"detail": detail}, now)
        if isinstance(message, ClientEmote) and message.emote not in EMOTES:
            return Tell(error("bad_emote", name=message.emote[:MOST_SHOWN]))
        if isinstance(message, ClientHistory | ClientSign | ClientPing):
            wait_ms = self._bucket_of(message).take(now)
            if wait_ms:
                return Tell(error("too_many", retry_ms=wait_ms))
        return message

    def _unreadable(
        self, data: bytes | str, problem: CodecError, now: float, in_hand: Set[int]
    ) -> Tell | HangUp:
        """Answer a message that cannot be read. A command gets its own answer if its number can be
        read. A pending command keeps its number: its one answer will come."""
        n = command_number(data) if self.state == "inside" else None
        if n is None or n in in_hand:
            return self._refuse(problem.code, problem.params, now)
        code, params = problem.code, problem.params
        return self._spend(
            ServerRejected(n, code, clause_of(code), params, hint(code, params)), now
        )

    def wait_ms(self, now: float) -> int:
        """Return 0 and take a token if the next command may pass; else the milliseconds to wait."""
        return self._commands.take(now)

    def _bucket_of(self, message: ClientHistory | ClientSign | ClientPing) -> Bucket:
        match message:
            case ClientHistory():
                return self._histories
            case ClientSign():
                return self._signatures
        return self._commands

    def _command(
        self,
        message: ClientCommand,
        now: float,
        in_hand: Set[int],
        is_shown: Callable[[int], bool],
    ) -> Intention:
        if message.n < 1:
            return self._refuse("bad_number", {}, now)
        if message.n in in_hand:
            return None  # a repetition of a pending command: its one answer will come
        if len(in_hand) >= MOST_UNANSWERED and _is_full(in_hand, is_shown):
            # Not "rejected": an earlier copy of it may be in the log (P-44).
            told = {"most": MOST_UNANSWERED, "n": message.n}
            return self._refuse("too_many_unanswered", told, now)
        if not isinstance(message.body.get("command"), str):
            detail = {"detail": "`command` is its name"}
            return _rejected(message, "bad_command", "P-41", detail)
        return message


def _is_full(in_hand: Set[int], is_shown: Callable[[int], bool]) -> bool:
    """Whether a correct client has eight unanswered commands. An answer counts from the moment of
    its sending, from any server's commit (P-44)."""
    unanswered = sum(not is_shown(n) for n in in_hand)
    return unanswered >= MOST_UNANSWERED or len(in_hand) >= MOST_IN_HAND


def _rejected(
    message: ClientCommand, code: str, rule: str, params: Mapping[str, int | str]
) -> Tell:
    return Tell(ServerRejected(message.n, code, rule, params, hint(code, params)))
