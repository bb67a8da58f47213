"""Entries of a log, and the chain that binds them: two logs with the same chain have the same past.

A chain covers its whole entry, including the stamps (P-121). The mark in each frame to clients is
the beginning of the chain: it identifies a place, and proves nothing.

The commit id is random and stays in the server until the record. It is the salt that keeps a client
from guessing hidden events by hashing.
"""

import msgspec

from towerhall_protocol import chain as links
from towerhall_protocol.chain import MARK_BYTES as MARK_BYTES
from towerhall_protocol.chain import mark as mark

COMMIT_ID_BYTES = 16


class Stamps(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """When a commit entered the log."""

    wall_ms: int
    """By the store's clock, in ms since 1970: for people."""
    served_ms: int
    """By the shard's service clock, which stops while no node serves: for game clocks."""


class Point(msgspec.Struct, frozen=True, gc=False):
    """A place in a log: the end of all entries up to a seq."""

    seq: int
    chain: bytes
    stamps: Stamps


START = Point(0, links.START, Stamps(0, 0))
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
        chain = link(before.chain, self.stamps, self.commit_id, self.blob)
        return self.seq == before.seq + 1 and self.chain == chain


pack = msgspec.msgpack.Encoder().encode
"""Pack an entry as bytes: one object instead of eight, for long histories."""
unpack = msgspec.msgpack.Decoder(Entry).decode


def link(before: bytes, stamps: Stamps, commit_id: bytes, blob: bytes) -> bytes:
    """Return the chain after one more commit with these stamps."""
    return links.link(before, stamps.wall_ms, stamps.served_ms, commit_id, blob)


def entry_after(before: Point, stamps: Stamps, commit_id: bytes, blob: bytes) -> Entry:
    """Make the next entry of a log."""
    chain = link(before.chain, stamps, commit_id, blob)
    return Entry(before.seq + 1, commit_id, chain, blob, stamps)
