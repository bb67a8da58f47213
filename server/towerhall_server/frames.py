"""A message that is encoded once for all connections.

The whole WebSocket frame is kept: a broadcast costs one write per connection and no encoding.
Servers send unmasked frames (RFC 6455, 5.1), so all connections of a subprotocol share the bytes.
No connection is known here.
"""

from struct import Struct

import msgspec

from towerhall_protocol.lobby import LobbyServerMessage
from towerhall_protocol.messages import ServerMessage

_encode_msgpack = msgspec.msgpack.Encoder().encode
_encode_json = msgspec.json.Encoder().encode
_decode_msgpack = msgspec.msgpack.Decoder().decode

_FINAL_TEXT, _FINAL_BINARY = 0x81, 0x82
_MAX_7_BITS, _MAX_16_BITS = 125, 0xFFFF
_IN_16_BITS, _IN_64_BITS = 126, 127
_HEAD_BYTES = {_IN_16_BITS: 4, _IN_64_BITS: 10}
"""By the first length byte of a frame; 2 for all others."""
_HEADS_7 = {
    kind: [bytes((kind, length)) for length in range(_MAX_7_BITS + 1)]
    for kind in (_FINAL_TEXT, _FINAL_BINARY)
}
"""Heads of short frames, by kind and length. Most frames are short."""
_head_16 = Struct("!BBH").pack
_head_64 = Struct("!BBQ").pack


class Prepared:
    """One message to clients, ready to be written."""

    __slots__ = ("_text", "binary", "message")

    def __init__(
        self, message: ServerMessage | LobbyServerMessage | None, binary: bytes | None = None
    ) -> None:
        self.message = message
        """`None` if only the bytes were kept."""
        self.binary = binary or _frame(_FINAL_BINARY, _encode_msgpack(message))
        """The frame for msgpack connections. It is made at once, because most are such."""
        self._text: bytes | None = None

    @classmethod
    def made(cls, message: ServerMessage) -> "Prepared":
        """A message of which only the bytes are kept. Its offers may be many."""
        return cls(None, _frame(_FINAL_BINARY, _encode_msgpack(message)))

    @classmethod
    def kept(cls, binary: bytes) -> "Prepared":
        """A message from its msgpack frame, which alone was kept to save memory."""
        return cls(None, binary)

    def text(self) -> bytes:
        """The frame for JSON connections, made for the first of them."""
        frame = self._text
        if frame is None:
            message = _decode_msgpack(self._payload()) if self.message is None else self.message
            frame = self._text = _frame(_FINAL_TEXT, _encode_json(message))
        return frame

    @property
    def size(self) -> int:
        """Bytes of the message as msgpack, without the frame around it."""
        return len(self._payload())

    def _payload(self) -> bytes:
        frame = self.binary
        return frame[_HEAD_BYTES.get(frame[1], 2) :]


def _frame(head: int, payload: bytes) -> bytes:
    """A whole frame; its length in the shortest of three forms (RFC 6455, 5.2)."""
    length = len(payload)
    if length <= _MAX_7_BITS:
        return _HEADS_7[head][length] + payload
    if length <= _MAX_16_BITS:
        return _head_16(head, _IN_16_BITS, length) + payload
    return _head_64(head, _IN_64_BITS, length) + payload
