"""Entries of a log, and the chain that binds them: whoever has the same mark has the same past.

The commit id is random and stays in the server until the record. It is the salt that keeps a
client from guessing hidden events by hashing.
"""

import os
from binascii import b2a_base64
from collections.abc import Callable
from hashlib import blake2b
from struct import Struct

import msgspec

CHAIN_BYTES = 16
COMMIT_ID_BYTES = 16
MARK_BYTES, MARK_LENGTH = 8, 11
IDS_AT_ONCE = 256
_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_pack_stamps = Struct(">QQ").pack


class Stamps(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """When a commit entered the log."""

    wall_ms: int
    """By the store's clock: for people."""
    served_ms: int
    """By the shard's service clock, which stands while nobody serves: for game clocks."""


class Point(msgspec.Struct, frozen=True, gc=False):
    """A place in a log: the end of everything up to a seq."""

    seq: int
    chain: bytes
    stamps: Stamps


START = Point(0, bytes(CHAIN_BYTES), Stamps(0, 0))
"""Before the first commit."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One commit as the log holds it."""

    seq: int
    commit_id: bytes
    chain: bytes
    blob: bytes
    stamps: Stamps

    @property
    def point(self) -> Point:
        return Point(self.seq, self.chain, self.stamps)

    def follows(self, before: Point) -> bool:
        """Whether this is the next entry after that place, and unchanged."""
        return self.seq == before.seq + 1 and self.chain == link(before, self.commit_id, self.blob)


pack = msgspec.msgpack.Encoder().encode
"""An entry as bytes: one object instead of eight, for those who keep many."""
unpack = msgspec.msgpack.Decoder(Entry).decode


class CommitIds:
    """Random ids, drawn from the system many at a time: asking for each alone costs more than
    everything else about it."""

    def __init__(self, draw: Callable[[int], bytes] = os.urandom) -> None:
        self._draw = draw
        self._left: list[bytes] = []
        # A child process must not draw what its parent has drawn.
        os.register_at_fork(after_in_child=self._left.clear)

    def new(self) -> bytes:
        if not self._left:
            drawn, size = self._draw(IDS_AT_ONCE * COMMIT_ID_BYTES), COMMIT_ID_BYTES
            self._left += [drawn[at : at + size] for at in range(0, len(drawn), size)]
        return self._left.pop()


def link(before: Point, commit_id: bytes, blob: bytes) -> bytes:
    """The chain after one more commit."""
    stamps = _pack_stamps(before.stamps.wall_ms, before.stamps.served_ms)
    return blake2b(before.chain + stamps + commit_id + blob, digest_size=CHAIN_BYTES).digest()


def mark(chain: bytes) -> str:
    """The chain's short form, as clients get it, in base64url without its padding."""
    return b2a_base64(chain[:MARK_BYTES])[:MARK_LENGTH].translate(_URL_SAFE).decode()
