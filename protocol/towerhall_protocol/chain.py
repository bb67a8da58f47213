"""The chain of a room's log, the mark of a commit, and the seal of a record (P-34, P-121).

Anybody can compute all of it again from a record: SHA-256 over bytes that the specification names.
A chain is 32 bytes, so two logs with the same chain cannot be made. A mark is the beginning of a
chain: it recognises a place, and proves nothing.
"""

from binascii import b2a_base64
from collections.abc import Mapping
from hashlib import sha256
from struct import Struct
from typing import Any, Final

from towerhall_protocol.codec import canonical_json
from towerhall_protocol.statements import CHAIN_BYTES

START: Final = bytes(CHAIN_BYTES)
"""The chain before the first commit."""
MARK_BYTES: Final = 8
MARK_LENGTH: Final = 11
UNSEALED: Final = ("seal", "signed", "log")
"""Parts of a record that the seal does not cover: they are made after it."""
_LINK: Final = b"towerhall/1/chain\0"
_SEAL: Final = b"towerhall/1/seal\0"
_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
_pack_stamps = Struct(">QQ").pack


def link(before: bytes, wall_ms: int, served_ms: int, commit_id: bytes, blob: bytes) -> bytes:
    """The chain after one more commit, which has these times."""
    times = _pack_stamps(wall_ms, served_ms)
    return sha256(b"".join((_LINK, before, times, commit_id, blob))).digest()


def mark(chain: bytes) -> str:
    """The chain's short form, as clients get it in each frame, in base64url without padding."""
    return b2a_base64(chain[:MARK_BYTES])[:MARK_LENGTH].translate(_URL_SAFE).decode()


def seal(chain: bytes, record: Mapping[str, Any]) -> bytes:
    """The parts that bind everything in a record to the end of its chain."""
    sealed = {name: part for name, part in record.items() if name not in UNSEALED}
    return sha256(_SEAL + chain + sha256(canonical_json(sealed)).digest()).digest()
