"""A search for what is hidden, in all spellings."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache

WINDOW, STRIDE = 8, 4
"""Any 11 bytes in a row of something long hold a window, at whatever place they were cut out."""


@cache
def spellings(value: bytes) -> tuple[bytes, ...]:
    """How bytes may be written, forwards and backwards."""
    found: dict[bytes, None] = {}
    for data in (value, value[::-1]):
        found[data] = None
        found[data.hex().encode()] = None
        found[data.hex().upper().encode()] = None
        found[repr(data)[2:-1].encode()] = None
        found[json.dumps(data.decode("latin-1"))[1:-1].encode()] = None
        for separator in (", ", ","):
            found[separator.join(map(str, data)).encode()] = None
        for shift in range(3):
            # Inside a longer text the same bytes look different: whole characters of ours count.
            text = b64encode(bytes(shift) + data + bytes(2))
            ours = text[-(-8 * shift // 6) : 8 * (shift + len(data)) // 6]
            found[ours] = None
            found[ours.translate(bytes.maketrans(b"+/", b"-_"))] = None
    return tuple(found)


def windows(value: bytes) -> Iterator[bytes]:
    last = max(len(value) - WINDOW, 0)
    for start in {*range(0, last, STRIDE), last}:
        yield value[start : start + WINDOW]


def leaks(data: bytes, hidden: Mapping[str, bytes]) -> set[str]:
    """Which of the hidden things can be read from the data, wholly or in part."""
    return {
        name
        for name, value in hidden.items()
        if any(text in data for window in windows(value) for text in spellings(window))
    }
