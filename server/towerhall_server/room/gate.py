"""Keys of private rooms, and the right to chat. The rights of commands are in `commands`.

Rooms judge by their newest state, when a request comes.
"""

import hmac
from hashlib import sha256

from towerhall_server.room.table import Table


def silence(table: Table, identity: str) -> str:
    """The code of the refusal if a person may not chat in the room; empty if allowed."""
    if identity in table.kicked:
        return "kicked"
    return "muted" if identity in table.muted else ""


def may_enter(table: Table, key: str) -> bool:
    """Whether this key opens the room. Public rooms need none."""
    return opens(key, table.key_hash)


def opens(key: str, guard: bytes) -> bool:
    """Whether a key is the one whose hash this is."""
    return not guard or hmac.compare_digest(key_hash(key), guard)


def key_hash(key: str) -> bytes:
    """The hash that the log keeps of a private room's key."""
    return sha256(b"towerhall/1/key\0" + key.encode(errors="replace")).digest()
