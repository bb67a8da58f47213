"""Aliases: the name under which a room knows a person, and no other room does.

Seats, causes, chat, lists and records of a room hold aliases, so two rooms cannot be searched for
the same person. An alias is the id of a person, permuted under the room's salt: a Feistel network
over 8 bytes with HMAC-SHA-256 as its round function. A permutation has no collisions, and
the salt leads back to the id, as a rematch and operators need it. The salt stays in the store,
beside the secret, and is deleted with the room: a record cannot be traced back then.

A room without salt was created by an older version: its log holds the ids themselves. No room is
known here; `seats.guest_of` translates a person for a room.
"""

import hmac
from typing import Final

from towerhall_protocol.commands import base64url, from_base64url
from towerhall_protocol.fairness import SECRET_BYTES

SALT_BYTES: Final = 16
ROUNDS: Final = 10
"""Rounds of the network, as in NIST's FF1; four would be a permutation already."""
_LABEL: Final = b"towerhall/1/alias\0"
_HALF: Final = 4


def alias_of(salt: bytes, identity: str) -> str:
    """The alias of a person in the room with that salt; `""` is no person in both."""
    if not salt or not identity:
        return identity
    left, right = _halves(identity)
    for number in range(ROUNDS):
        left, right = right, _xor(left, _round(salt, number, right))
    return base64url(left + right)


def identity_of(salt: bytes, alias: str) -> str:
    """The id of the person who has that alias in the room with that salt."""
    if not salt or not alias:
        return alias
    left, right = _halves(alias)
    for number in reversed(range(ROUNDS)):
        left, right = _xor(right, _round(salt, number, left)), left
    return base64url(left + right)


def secret_and_salt(kept: bytes) -> tuple[bytes, bytes]:
    """The two parts of the value that the store keeps under a room's secret."""
    return kept[:SECRET_BYTES], kept[SECRET_BYTES:]


def _halves(identity: str) -> tuple[bytes, bytes]:
    data = from_base64url(identity)
    if len(data) != 2 * _HALF:
        raise ValueError("an id is 8 bytes as base64url")
    return data[:_HALF], data[_HALF:]


def _round(salt: bytes, number: int, half: bytes) -> bytes:
    return hmac.digest(salt, _LABEL + bytes((number,)) + half, "sha256")[:_HALF]


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
