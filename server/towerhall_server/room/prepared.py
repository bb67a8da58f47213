"""A message that is made into bytes once, however many connections it is written to.

What is kept is the whole WebSocket frame: a broadcast then costs one write per connection and
nothing else. Servers send frames unmasked (RFC 6455, 5.1), so the same bytes suit everybody who
speaks the same subprotocol. Nothing here knows who they are, or whether they can be reached.
"""

from struct import Struct

import msgspec

from towerhall_protocol.messages import ServerMessage

_encode_msgpack = msgspec.msgpack.Encoder().encode
_encode_json = msgspec.json.Encoder().encode

_FINAL_TEXT, _FINAL_BINARY = 0x81, 0x82
_MAX_7_BITS, _MAX_16_BITS = 125, 0xFFFF
_IN_16_BITS, _IN_64_BITS = 126, 127
_head_7 = Struct("!BB").pack
_head_16 = Struct("!BBH").pack
_head_64 = Struct("!BBQ").pack


class Prepared:
    """One message to clients, ready to be written."""

    __slots__ = ("_binary", "_size", "_text", "message")

    def __init__(self, message: ServerMessage) -> None:
        self.message = message
        self._binary: bytes | None = None
        self._text: bytes | None = None
        self._size = 0

    def binary(self) -> bytes:
        """The frame for msgpack connections."""
        frame = self._binary
        if frame is None:
            payload = _encode_msgpack(self.message)
            self._size = len(payload)
            frame = self._binary = _frame(_FINAL_BINARY, payload)
        return frame

    def text(self) -> bytes:
        """The frame for JSON connections."""
        frame = self._text
        if frame is None:
            frame = self._text = _frame(_FINAL_TEXT, _encode_json(self.message))
        return frame

    @property
    def size(self) -> int:
        """Bytes of the message as msgpack, without the frame around it."""
        if self._binary is None:
            self.binary()
        return self._size


def _frame(head: int, payload: bytes) -> bytes:
    """A whole frame; its length in the shortest of three forms (RFC 6455, 5.2)."""
    length = len(payload)
    if length <= _MAX_7_BITS:
        return _head_7(head, length) + payload
    if length <= _MAX_16_BITS:
        return _head_16(head, _IN_16_BITS, length) + payload
    return _head_64(head, _IN_64_BITS, length) + payload
