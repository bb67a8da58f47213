"""The public log of a service: what its leaves say, and what must hold for all of them (P-182).

A leaf is one JSON document in the canonical form of RFC 8785. Each room has one leaf when it is
opened, and one more when it ends or is dropped. How leaves are hashed stands in `merkle`, how the
state of a log is signed in `notes`. Nothing is asked or stored here.
"""

from typing import Final, Literal, TypeAlias

import msgspec

from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import UID_BYTES
from towerhall_protocol.merkle import leaf_hash, proves_inclusion
from towerhall_protocol.notes import BadNoteError, read_checkpoint, read_note
from towerhall_protocol.statements import COMMITMENT_BYTES

MOST_LEAF_BYTES: Final = 1000
BUNDLE_LEAVES: Final = 256
Kind = Literal["opened", "ended", "dropped"]


class _Leaf(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    uid: str


class Opened(_Leaf, frozen=True, tag="opened"):
    """A room was opened: the server has committed itself to a secret."""

    commitment: str


class Ended(_Leaf, frozen=True, tag="ended"):
    """The room has ended, and its record is the one with this seal."""

    seq: int
    chain: str
    seal: str


class Dropped(_Leaf, frozen=True, tag="dropped"):
    """The room was removed before any deal was sealed, so its secret was of no use."""


Leaf: TypeAlias = Opened | Ended | Dropped


class Logged(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The proof in a record that its leaf is in the public log."""

    index: int
    size: int
    proof: tuple[str, ...]
    checkpoint: str


def kind_of(leaf: Leaf) -> Kind:
    kind: Kind = leaf.__struct_config__.tag  # type: ignore[assignment]
    return kind


def leaf_bytes(leaf: Leaf) -> bytes:
    """The document: sorted keys, no spaces."""
    return msgspec.json.encode(leaf, order="sorted")


def read_leaf(data: bytes) -> Leaf | None:
    """The content of a leaf; None if it is no leaf, or not in its only form."""
    try:
        leaf: Leaf = msgspec.json.decode(data, type=Leaf)
        sizes = len(from_base64url(leaf.uid)) == UID_BYTES and (
            not isinstance(leaf, Opened) or len(from_base64url(leaf.commitment)) == COMMITMENT_BYTES
        )
    except (ValueError, RecursionError):
        return None
    return leaf if sizes and leaf_bytes(leaf) == data else None


class _Row(msgspec.Struct, frozen=True, array_like=True):
    seq: int


class _Proof(msgspec.Struct, frozen=True):
    commitment: str


class _Record(msgspec.Struct, frozen=True):
    """The parts of a record that are in the leaves of its room."""

    uid: str
    commits: tuple[_Row, ...]
    chain: str
    seal: str
    proof: _Proof
    log: Logged | None = None


def leaves_of(record: bytes) -> tuple[Opened, Ended, Logged | None]:
    """The two leaves of the room that has this record, and the proof in the record if there is one.
    `ValueError` if the file is no record."""
    try:
        read = msgspec.json.decode(record, type=_Record)
        last = read.commits[-1].seq
    except (msgspec.MsgspecError, IndexError, RecursionError) as error:
        raise ValueError(f"this is no record: {error}") from None
    opened = Opened(read.uid, read.proof.commitment)
    return opened, Ended(read.uid, last, read.chain, read.seal), read.log


# Bundles: how leaves travel


def bundled(leaf: bytes) -> bytes:
    """A leaf as it stands in a bundle: its length as two bytes before it."""
    if len(leaf) > MOST_LEAF_BYTES:
        raise ValueError(f"a leaf has at most {MOST_LEAF_BYTES} bytes")
    return len(leaf).to_bytes(2) + leaf


def unbundled(data: bytes) -> tuple[bytes, ...] | None:
    """The leaves of a bundle; None if it is cut in the middle of one."""
    found, at = [], 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2])
        if at + 2 > len(data) or end > len(data):
            return None
        found.append(data[at + 2 : end])
        at = end
    return tuple(found)


# What must hold


class Census:
    """All leaves of a log, read one after the other."""

    def __init__(self) -> None:
        self.counts: dict[Kind, int] = {"opened": 0, "ended": 0, "dropped": 0}
        self.commitments: dict[str, str] = {}
        """For all rooms, by uid."""
        self.closed: dict[str, Leaf] = {}
        """How rooms ended, by uid."""

    @property
    def open(self) -> int:
        """Rooms that were opened and have neither ended nor been dropped."""
        return len(self.commitments) - len(self.closed)

    def take(self, data: bytes) -> str | None:
        """Go on by one leaf. The answer names the problem with it; None if there is none."""
        leaf = read_leaf(data)
        if leaf is None:
            return "it is no leaf in its canonical form"
        self.counts[kind_of(leaf)] += 1
        if isinstance(leaf, Opened):
            if leaf.uid in self.commitments:
                return f"room {leaf.uid} is opened twice"
            self.commitments[leaf.uid] = leaf.commitment
            return None
        if leaf.uid not in self.commitments:
            return f"room {leaf.uid} is closed and was never opened"
        if leaf.uid in self.closed:
            return f"room {leaf.uid} is closed twice"
        self.closed[leaf.uid] = leaf
        return None


def proof_problem(leaf: Leaf, logged: Logged) -> str | None:
    """The problem with the proof that a leaf is in the log; None if it holds. The signatures of the
    checkpoint are not looked at."""
    try:
        checkpoint = read_checkpoint(read_note(logged.checkpoint).text)
        proof = tuple(map(from_base64url, logged.proof))
    except (BadNoteError, ValueError) as error:
        return str(error)
    if checkpoint.size != logged.size:
        return f"the checkpoint is one of {checkpoint.size} leaves, not of {logged.size}"
    hashed = leaf_hash(leaf_bytes(leaf))
    if not proves_inclusion(hashed, logged.index, logged.size, proof, checkpoint.root):
        return "the hashes do not lead from the leaf to the root of the checkpoint"
    return None


def logged_of(index: int, size: int, proof: tuple[bytes, ...], checkpoint: str) -> Logged:
    """A proof as it travels."""
    return Logged(index, size, tuple(map(base64url, proof)), checkpoint)
