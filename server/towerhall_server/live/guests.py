"""The viewers of a room on one node, as other nodes learn of them: connected seats and watchers.

This is not in the log. It is published when it changes, may be lost, and is dropped when its node
falls silent.
"""

from collections.abc import Mapping

import msgspec

from towerhall_server.game import Seat


class Guests(msgspec.Struct, frozen=True, array_like=True):
    """The viewers of one room on one node."""

    claims: Mapping[Seat, int] = {}
    """For each seat that is connected there, the claim of its connection. The connection with the
    highest claim has the seat, on whichever node it is; of equal ones the node's name decides."""
    watchers: int = 0
    asks: bool = False
    """Whether the other nodes shall publish theirs."""
    host: bool = False
    """Whether the host is among them, with or without a seat."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Guests).decode


def encode_guests(guests: Guests) -> bytes:
    return _encode(guests)


def decode_guests(data: bytes) -> Guests:
    return _decode(data)
