"""Whether a message can travel, found out where it is made.

Later no caller could be told: the server answers unreadable messages with an error that names no
message (P-71), and an unreadable command would be sent again for ever.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from towerhall_protocol import codec
from towerhall_protocol.messages import ClientCommand

LIMITS: Final = msgspec.structs.replace(
    codec.FROM_CLIENT, message_bytes=codec.FROM_SERVER.message_bytes
)
"""Those of P-70 but for the size of the whole, which each server sets for itself."""


def as_read(message: object) -> Any:
    """The message as the other side will read it.

    `CodecError`, which is a `ValueError`, or `TypeError` if it cannot.
    """
    try:
        data = codec.encode(message)
    except (UnicodeError, OverflowError) as error:
        raise codec.CodecError("malformed_message", str(error)) from None
    return codec.decode(data, LIMITS)


def body_as_read(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same for the body of a command, which has to be right inside of its message.

    It is a copy: whatever becomes of the original, the command stays the same until it is answered.
    """
    _, _, _, read, *_ = as_read(ClientCommand(1, "", dict(body)))
    copy: dict[str, Any] = read
    return copy
