"""A fast parser for the common case: small, whole messages, alone in one read.

All other frames (control frames, fragments, large, malformed or partial frames) go to the parser of
the WebSocket library, which implements all of RFC 6455. Only lengths are read to track its
position: once a read ends inside a frame, this parser is not used again.
"""

from typing import Literal

from websockets.frames import apply_mask  # type: ignore[attr-defined]

_KINDS: dict[int, Literal["text", "bytes"]] = {0x81: "text", 0x82: "bytes"}
"""First byte of a final frame without extensions."""
MOST_BYTES = 1024
"""Bytes of payload. Larger frames use the library parser, and may exceed the limits."""
_MASKED = 0x80
_IN_16_BITS, _IN_64_BITS = 126, 127
_MASK_BYTES = 4
_HEAD_BYTES = 2 + _MASK_BYTES
"""Bytes of the header of a frame whose length fits into its second byte."""

Small = tuple[Literal["text", "bytes"], bytes]


def small_messages(data: bytes) -> tuple[list[Small] | None, bool]:
    """Return the messages of a read that begins at a frame, if it holds nothing else; and whether
    it ends at the end of a frame."""
    at, end = 0, len(data)
    if _HEAD_BYTES <= end < _HEAD_BYTES + _IN_16_BITS and data[1] == _MASKED | end - _HEAD_BYTES:
        kind = _KINDS.get(data[0])
        if kind is not None:  # the common case
            return [(kind, apply_mask(data[_HEAD_BYTES:], data[2:_HEAD_BYTES]))], True
    messages: list[Small] | None = []
    while at < end:
        if at + 2 + _MASK_BYTES > end:
            return None, False
        length = data[at + 1] & ~_MASKED
        start = at + 2
        if length >= _IN_16_BITS:
            size = 2 if length == _IN_16_BITS else 8
            length = int.from_bytes(data[start : start + size])
            start += size
        if data[at + 1] & _MASKED:
            start += _MASK_BYTES
        else:
            messages = None  # the library will refuse it
        if start + length > end:
            return None, False
        kind = _KINDS.get(data[at])
        if kind is None or length > MOST_BYTES:
            messages = None
        elif messages is not None:
            payload = data[start : start + length]
            messages.append((kind, apply_mask(payload, data[start - _MASK_BYTES : start])))
        at = start + length
    return messages, True
