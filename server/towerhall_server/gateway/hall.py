"""What all connections of a server share."""

import msgspec

from towerhall_protocol.codec import Limits as CodecLimits
from towerhall_server.gateway.http import RefusedError
from towerhall_server.gateway.limits import Counts, Limits
from towerhall_server.gateway.quotas import Quotas
from towerhall_server.gateway.tokens import Tokens
from towerhall_server.lobby.store import LobbyStore
from towerhall_server.operators.bans import Bans
from towerhall_server.room.directory import Directory
from towerhall_server.telemetry.meters import Levels, Meters


class Hall(msgspec.Struct, frozen=True):
    """One server's rooms, who may come in, and how many."""

    directory: Directory
    tokens: Tokens
    limits: Limits
    codec: CodecLimits
    sockets_of_identity: Counts
    sockets_of_address: Counts
    store: LobbyStore
    quotas: Quotas
    bans: Bans = msgspec.field(default_factory=Bans)

    @property
    def meters(self) -> Meters:
        return self.directory.node.meters

    async def take(self, **whose: str) -> None:
        """One token of each of these rates, or the refusal that says when there will be one."""
        wait_ms = await self.quotas.take(**whose)
        if wait_ms:
            raise RefusedError("too_many", retry_ms=wait_ms)

    def levels(self, *, ready: bool) -> Levels:
        """What there is now. It is counted when somebody asks, so that nobody else pays for it."""
        followers = [actor.follower for actor in self.directory]
        seated = sum(follower.audience.seated for follower in followers)
        viewers = sum(len(follower.audience) for follower in followers)
        return Levels(
            rooms=len(followers),
            paused=sum(follower.paused for follower in followers),
            seated=seated,
            watching=viewers - seated,
            sockets=self.sockets_of_address.total(),
            ready=ready,
        )
