"""The parts of web push, joined on one store."""

from time import time
from typing import Final

import msgspec

from towerhall_server.access.admission import Access
from towerhall_server.access.tokens import Token
from towerhall_server.eventlog.pushes import PushStore, Subscription
from towerhall_server.live.directory import Directory
from towerhall_server.lobby.events import Shuns
from towerhall_server.outbound.posting import Outbound
from towerhall_server.push.telling import Notifier, PushPace
from towerhall_server.push.vapid import Vapid, new_key
from towerhall_server.push.watch import Watch

MOST_DEVICES: Final = 10
"""Subscriptions of one person. More push out the oldest."""


class Pushes(msgspec.Struct, frozen=True):
    """Web push of this node."""

    store: PushStore
    vapid: Vapid
    telling: Notifier
    watch: Watch
    any_port: bool
    """Whether push services of the operator's own network may be named, at any port."""

    async def subscribe(
        self, token: Token, endpoint: str, p256dh: str, auth: str, language: str
    ) -> int:
        """Keep a device of a person. Returns the time at which it has to be named again, in
        milliseconds since 1970."""
        made = Subscription(
            endpoint,
            p256dh,
            auth,
            language,
            round(1000 * time()),
            token.expires,
            token.operator,
            token.after,
            token.device,
        )
        await self.store.add(token.person.id, made, MOST_DEVICES)
        return 1000 * token.expires

    async def unsubscribe(self, identity: str, endpoint: str) -> None:
        """Forget a device of a person."""
        await self.store.remove(identity, Subscription(endpoint, "", "", "", 0, 0).id)


async def open_pushes(
    store: PushStore,
    directory: Directory,
    access: Access,
    *,
    contact: str = "",
    networks: tuple[str, ...] = (),
    pace: PushPace,
    shuns: Shuns,
) -> Pushes:
    """Join the parts. The key is made once for all servers of the store."""
    vapid = Vapid(await store.key(new_key()), contact)
    outbound = Outbound(networks, is_trusted=False)
    telling = Notifier(store, directory, access, outbound, vapid, pace, shuns)
    watch = Watch(directory, telling.concern, rest_seconds=pace.rest)
    return Pushes(store, vapid, telling, watch, bool(networks))
