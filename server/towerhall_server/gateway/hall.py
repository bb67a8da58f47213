"""What all connections of a server share."""

import msgspec

from towerhall_protocol.codec import Limits as CodecLimits
from towerhall_server.gateway.limits import Counts, Limits
from towerhall_server.gateway.tokens import Tokens
from towerhall_server.operators.bans import Bans
from towerhall_server.room.directory import Directory


class Hall(msgspec.Struct, frozen=True):
    """One server's rooms, who may come in, and how many."""

    directory: Directory
    tokens: Tokens
    limits: Limits
    codec: CodecLimits
    sockets_of_identity: Counts
    sockets_of_address: Counts
    bans: Bans = msgspec.field(default_factory=Bans)
