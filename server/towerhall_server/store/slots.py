"""The slot of a cluster in which a packed command works. Pure."""

import re
from binascii import crc_hqx
from functools import lru_cache
from typing import Final

SLOTS: Final = 16_384
NO_SLOT: Final = -1
"""A command without a key: any primary may answer."""
_FIRST: Final = re.compile(rb"\*\d+\r\n\$\d+\r\n(\w+)\r\n(?:\$(\d+)\r\n)?")
_KEYS: Final = re.compile(rb"\r\n\$\d+\r\n(\d+)\r\n(?:\$(\d+)\r\n)?")
_KEYLESS: Final = frozenset(
    {b"ASKING", b"CLUSTER", b"CONFIG", b"INFO", b"PING", b"PUBLISH", b"ROLE", b"TIME", b"WAIT"}
)
_SCRIPTS: Final = frozenset({b"EVAL", b"EVALSHA"})


@lru_cache(maxsize=1 << 14)
def slot_of(key: bytes) -> int:
    begin = key.find(b"{")
    if begin >= 0:
        end = key.find(b"}", begin + 1)
        if end > begin + 1:
            key = key[begin + 1 : end]
    return crc_hqx(key, 0) % SLOTS


def slot_of_command(command: bytes) -> int:
    """Return the slot of the first key. All keys of a command share a slot."""
    found = _FIRST.match(command)
    if found is None or found[1] in _KEYLESS or found[2] is None:
        return NO_SLOT
    begin, length = found.end(), int(found[2])
    if found[1] in _SCRIPTS:
        found = _KEYS.match(command, begin + length)
        if found is None or found[1] == b"0" or found[2] is None:
            return NO_SLOT
        begin, length = found.end(), int(found[2])
    return slot_of(command[begin : begin + length])
