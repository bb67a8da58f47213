"""Statements that a server signs about a room: the place that its log has reached (P-124).

A statement names the room, the commitment that the room was opened with, a seq, and the chain after
that commit. Two statements that one key has signed and that cannot both be true convict the server.
This file makes and compares statements. Ed25519 itself comes from `cryptography`, which only a
check of a signature needs.
"""

from collections.abc import Callable
from hashlib import sha256
from struct import Struct
from typing import Final, Literal, NamedTuple, TypeAlias

from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import UID_BYTES

CHAIN_BYTES: Final = 32
COMMITMENT_BYTES: Final = 32
PUBLIC_KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
KEY_ID_BYTES: Final = 8
_PREFIX: Final = b"towerhall/1/statement\0"
_pack_seq = Struct(">Q").pack

Contradiction = Literal["commitment", "chain"]


class Statement(NamedTuple):
    """A room was opened with this commitment, and its log led to this chain at this seq."""

    uid: bytes
    commitment: bytes
    seq: int
    chain: bytes


class Signature(NamedTuple):
    """Which key has signed, and how, both as they travel."""

    key: str
    signature: str


Sign: TypeAlias = Callable[[Statement], Signature | None]
"""Signs a statement; None if there is no key."""


def unsigned(statement: Statement) -> None:
    """The `Sign` of a server without a key."""


def statement_bytes(statement: Statement) -> bytes:
    """The bytes that are signed."""
    uid, commitment, seq, chain = statement
    sizes = len(uid), len(commitment), len(chain)
    if sizes != (UID_BYTES, COMMITMENT_BYTES, CHAIN_BYTES):
        raise ValueError(f"a statement has parts of 16, 32 and 32 bytes, not {sizes}")
    return _PREFIX + uid + commitment + _pack_seq(seq) + chain


def key_id(public_key: bytes) -> str:
    """The name of a key: the beginning of its hash."""
    return base64url(sha256(public_key).digest()[:KEY_ID_BYTES])


def is_signed(statement: Statement, signature: Signature, public_key: bytes) -> bool:
    """Whether that key has signed the statement."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if len(public_key) != PUBLIC_KEY_BYTES or signature.key != key_id(public_key):
        return False
    try:
        signed = from_base64url(signature.signature)
        Ed25519PublicKey.from_public_bytes(public_key).verify(signed, statement_bytes(statement))
    except (InvalidSignature, ValueError):
        return False
    return True


def contradiction(one: Statement, other: Statement) -> Contradiction | None:
    """The contradiction between two statements; None if both may be true."""
    if one.uid != other.uid:
        return None
    if one.commitment != other.commitment:
        return "commitment"
    return "chain" if one.seq == other.seq and one.chain != other.chain else None
