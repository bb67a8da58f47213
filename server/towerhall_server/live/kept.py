"""A record as servers send it, and as the store keeps it.

Clients get gzip. The store keeps xz, which takes a sixth less memory for thirty days. Packing again
gives the same bytes, so one record has one entity tag. Records that an older version has kept as
gzip are read as well. That version cannot read this form, and makes the record from the log.
"""

import gzip
import lzma
from typing import Final, Literal

import msgspec

from towerhall_server.eventlog.entry import Point

FILTERS: Final = [{"id": lzma.FILTER_LZMA2, "preset": 6, "pb": 0}]


class KeptRecord(msgspec.Struct, frozen=True, array_like=True):
    """A record with all that is needed to send it, without looking into it."""

    place: Point
    """The end of the log that it tells."""
    key_hash: bytes
    """The hash of the key that guards it, as it guarded the room; empty if the room was public."""
    packed: bytes
    """The file as gzip."""
    owed: bytes = b""
    """The debt to the public log for it; nothing once the file holds the proof that it is there.
    """
    archived: bool = False
    """Whether it is in the archive as well, so that the store may drop it soon."""

    @property
    def file(self) -> bytes:
        return gzip.decompress(self.packed)


class _Tight(msgspec.Struct, frozen=True, array_like=True):
    form: Literal["xz"]
    data: bytes


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    place: Point
    key_hash: bytes
    packed: bytes | _Tight
    owed: bytes = b""
    archived: bool = False


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Stored).decode


def zipped(file: bytes) -> bytes:
    """Pack a file as clients get it."""
    return gzip.compress(file, mtime=0)


def encode(kept: KeptRecord) -> bytes:
    """Return the bytes for the store. This takes some 30 ms."""
    file = kept.file
    if zipped(file) != kept.packed:  # packed by another library, which only gzip gives back
        return _pack(kept)
    tight = lzma.compress(file, lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=FILTERS)
    stored = _Stored(kept.place, kept.key_hash, _Tight("xz", tight), kept.owed, kept.archived)
    return _pack(stored)


def decode(data: bytes) -> KeptRecord:
    """Read the bytes of the store. Raises `MsgspecError` for another form. This takes 5 ms."""
    stored = _unpack(data)
    packed = stored.packed
    if isinstance(packed, _Tight):
        packed = zipped(lzma.decompress(packed.data))
    return KeptRecord(stored.place, stored.key_hash, packed, stored.owed, stored.archived)
