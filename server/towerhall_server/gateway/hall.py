"""State that all connections of a server share."""

import msgspec

from towerhall_protocol.codec import CodecLimits
from towerhall_server.access.admission import Access
from towerhall_server.access.audit import Audit
from towerhall_server.access.chat_rates import ChatRates
from towerhall_server.access.quotas import Quotas
from towerhall_server.access.rates import Buckets, Counts, Limits
from towerhall_server.access.tokens import Tokens
from towerhall_server.accounts.service import Accounts
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.gateway.responses import RefusedError
from towerhall_server.live.directory import Directory
from towerhall_server.live.records import Records
from towerhall_server.push.service import Pushes
from towerhall_server.regulars.service import Regulars
from towerhall_server.room.seats import Person
from towerhall_server.telemetry.meters import Levels, Meters


class Hall(msgspec.Struct, frozen=True):
    """One server's rooms, who may come in, and how many."""

    directory: Directory
    tokens: Tokens
    limits: Limits
    codec: CodecLimits
    sockets_of_identity: Counts
    """Open connections of each person."""
    sockets_of_bot: Counts
    """Open connections of each bot account, which does not count as a person."""
    sockets_of_address: Counts
    store: LobbyStore
    quotas: Quotas
    chat_rates: ChatRates
    gets: Buckets
    """Open connections by address."""
    records: Records
    access: Access
    audit: Audit
    regulars: Regulars
    accounts: Accounts
    pushes: Pushes | None = None
    """None: nothing is pushed."""
    sandbox: bool = False
    """Whether rooms may be created as sandbox rooms, and their viewers be treated badly."""

    @property
    def meters(self) -> Meters:
        return self.directory.node.meters

    def sockets_of(self, person: Person) -> Counts:
        """The counts to which the connections of this person belong."""
        return self.sockets_of_bot if person.bot_account else self.sockets_of_identity

    async def take(self, **whose: str) -> None:
        """Take one token from each of these rates. Raises a refusal with the time to wait."""
        wait_ms = await self.quotas.take(**whose)
        if wait_ms:
            raise RefusedError("too_many", retry_ms=wait_ms)

    def levels(self, *, ready: bool) -> Levels:
        """Count rooms and connections. They are counted per request, so that moves pay nothing for
        it."""
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
