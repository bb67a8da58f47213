"""Maps frame errors of the WebSocket library to closes of the protocol (P-101)."""

from websockets.exceptions import PayloadTooBig, ProtocolError
from websockets.frames import Close, Frame, Opcode

from towerhall_protocol.errors import CLOSES


def close_for(problem: Exception) -> str:
    """The name of the close for that error."""
    if isinstance(problem, PayloadTooBig):
        return "message_too_large"
    if isinstance(problem, (ProtocolError, UnicodeDecodeError)):
        return "malformed_message"
    return "server_fault"


def close_frame(name: str) -> bytes:
    """That close as a server writes it."""
    return Frame(Opcode.CLOSE, Close(CLOSES[name].code, name).serialize()).serialize(mask=False)
