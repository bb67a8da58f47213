"""Who looks at a room on one node, as other nodes are told: seats that are connected, and watchers.

This is no part of the log. It is told when it changes, may be lost, and is forgotten when its node
is not heard of any more.
"""

from collections.abc import Mapping

import msgspec

from towerhall_server.game import Seat


class Guests(msgspec.Struct, frozen=True, array_like=True):
    """The viewers of one room on one node."""

    claims: Mapping[Seat, int] = {}
    """For each seat that is connected there, the number of its connection: the highest is the
    newest, on whichever node it is."""
    watchers: int = 0
    asks: bool = False
    """Whether the node wants to be told the same by all others."""
    host: bool = False
    """Whether the host is among them, with or without a seat."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Guests).decode


def encode_guests(guests: Guests) -> bytes:
    return _encode(guests)


def decode_guests(data: bytes) -> Guests:
    return _decode(data)
