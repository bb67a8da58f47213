"""Documents as typed messages, for both directions.

A reader looks up the one shape that the name of a message calls for, which is many times faster
than trying them all. Items and keys that the shape does not have are ignored, so that old and new
understand each other (P-5). A key of a client whose value is null is read as one that was left
out, and so is null at the end of its message (P-10). Bytes and text are the matter of `codec`, but
for the one message that a server gets all the time: a command has a short way in, `plain_command`.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args

import msgpack
import msgspec

from towerhall_protocol.codec import FROM_CLIENT, MAX_INTEGER, CodecError, encode
from towerhall_protocol.events import EventsClientMessage
from towerhall_protocol.lobby import LobbyClientMessage, LobbyServerMessage
from towerhall_protocol.messages import ClientCommand, ClientMessage, ServerMessage
from towerhall_protocol.plain_faults import said

MAX_DETAIL = 120
"""Characters of a stranger's input, or of its fault, that an answer repeats."""

Message = TypeVar("Message")
_MOST_NUMBER_BYTES: Final = 9
"""Bytes of the largest integer in msgpack."""


def _by_name(union: Any) -> Mapping[str, type[Any]]:
    return {str(shape.__struct_config__.tag): shape for shape in get_args(union)}


_FROM_CLIENT = _by_name(ClientMessage)
_FROM_SERVER = _by_name(ServerMessage)
_TO_LOBBY = _by_name(LobbyClientMessage)
_TO_EVENTS = _by_name(EventsClientMessage)
_FROM_LOBBY = _by_name(LobbyServerMessage)


def read_client(document: object) -> ClientMessage:
    """The message of a client. `CodecError`: `unknown_message` or `malformed_message`."""
    document = without_nulls(document)
    message: ClientMessage = _converted(document, _known(document, _FROM_CLIENT))
    return message


def read_lobby_client(document: object) -> LobbyClientMessage:
    """The same for what a client says to the lobby."""
    document = without_nulls(document)
    message: LobbyClientMessage = _converted(document, _known(document, _TO_LOBBY))
    return message


def read_events_client(document: object) -> EventsClientMessage:
    """The same for what a client says that follows what concerns it."""
    document = without_nulls(document)
    message: EventsClientMessage = _converted(document, _known(document, _TO_EVENTS))
    return message


def read_server(document: object) -> ServerMessage | None:
    """The message of a server, or `None` if it is of a later level: to be ignored."""
    shape = _FROM_SERVER.get(_name(document))
    if shape is None:
        return None
    message: ServerMessage = _converted(document, shape)
    return message


def read_lobby_server(document: object) -> LobbyServerMessage | None:
    """The same for what the lobby says, and the socket with the events of a person."""
    shape = _FROM_LOBBY.get(_name(document))
    if shape is None:
        return None
    message: LobbyServerMessage = _converted(document, shape)
    return message


_Integer: TypeAlias = Annotated[int, msgspec.Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
_Texts: TypeAlias = Annotated[list[str], msgspec.Meta(max_length=FROM_CLIENT.array_items)]
_Body: TypeAlias = Annotated[
    dict[str, _Integer | str | bool | _Texts],
    msgspec.Meta(max_length=FROM_CLIENT.map_items),
]


class _PlainCommand(ClientCommand, frozen=True, tag="command", forbid_unknown_fields=True):
    n: _Integer
    body: _Body


_FIVE_ITEMS = 0x95
"""The first byte of an array of five items in msgpack."""
_decode_plain_command = msgspec.msgpack.Decoder(_PlainCommand).decode


def plain_command(data: bytes) -> ClientCommand | None:
    """The command that these bytes are, if they are one, and as plain as nearly all of them.

    It costs a quarter of `read_client(decode(data))`, which would find the same. `None` says that
    this has to be asked, for whatever reason. The data must not be longer than a text may be.
    """
    try:
        command = _decode_plain_command(data)
    except (msgspec.DecodeError, UnicodeError):
        return None
    # Only what would be written the same way: a key that comes twice would pass unseen. Clients may
    # leave the last item out; those of this project do not.
    is_whole = data[0] == _FIVE_ITEMS
    plain = encode(command if is_whole else ("command", command.n, command.tag, command.body))
    return command if plain == data else None


def _known(document: object, shapes: Mapping[str, type[Any]]) -> type[Any]:
    name = _name(document)
    shape = shapes.get(name)
    if shape is None:
        name = name[:MAX_DETAIL]
        raise CodecError("unknown_message", name, {"name": name})
    return shape


def _name(document: object) -> str:
    if isinstance(document, list) and document and isinstance(document[0], str):
        return document[0]
    raise CodecError("malformed_message", "a message is an array that begins with its name")


def _converted(document: object, shape: type[Message]) -> Message:
    try:
        return msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        raise CodecError("malformed_message", said(error)[:MAX_DETAIL]) from None


def without_nulls(document: object) -> object:
    """The document without the keys whose value is null. Of a message, null at its end is left out
    as well; null elsewhere in a list stays."""
    if isinstance(document, list):
        while document and document[-1] is None:
            document = document[:-1]
    return _without_null_keys(document)


def _without_null_keys(document: object) -> object:
    if isinstance(document, dict):
        return {
            key: _without_null_keys(value) for key, value in document.items() if value is not None
        }
    if isinstance(document, list):
        return [_without_null_keys(item) for item in document]
    return document


_NUMBER_IN_JSON: Final = re.compile(r'\s*\[\s*"command"\s*,\s*([1-9][0-9]{0,15})\s*,')
_NAME_IN_MSGPACK: Final = re.compile(rb"[\x92-\x9f]\xa7command", re.DOTALL)


def command_number(data: bytes | str) -> int | None:
    """The number of a command in data that may be broken after it; `None` if it has none."""
    if isinstance(data, str):
        found = _NUMBER_IN_JSON.match(data)
        number: object = int(found[1]) if found else None
    else:
        head = _NAME_IN_MSGPACK.match(data)
        number = None
        if head is not None:
            unpacker = msgpack.Unpacker(max_buffer_size=_MOST_NUMBER_BYTES)
            unpacker.feed(data[head.end() : head.end() + _MOST_NUMBER_BYTES])
            try:
                number = unpacker.unpack()
            except (ValueError, msgpack.UnpackException):
                return None
    return number if type(number) is int and 1 <= number <= MAX_INTEGER else None
