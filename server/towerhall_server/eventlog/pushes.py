"""Push subscriptions in the store: of each person, what they were told of, and the key of VAPID.

Keys of one person share a slot. The key from an endpoint to its person is in another one: it is
written first, and asked again before each push, so an endpoint belongs to one person at a time.
Every call may raise `StoreError`; all but `visited` may be retried.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final

import msgspec

from towerhall_server.eventlog.buckets import Quota
from towerhall_server.eventlog.due import DueQueue
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call, script_of
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, packed

DAY_MS: Final = 24 * 3_600_000
KEPT_MS: Final = 100 * DAY_MS
"""Milliseconds for which the subscriptions of a person stay without a new one. Tokens end before.
"""
TOLD_MS: Final = 60 * DAY_MS
MOST_TOLD: Final = 500
"""Rooms of which it is remembered that a person was told. After so many all are forgotten."""
PER_SECOND: Final = 30 / 3600
BURST: Final = 10
"""Pushes to one person in the long run, and at once."""
KEY: Final = "towerhall:push:key"
UNSENT: Final = " ?"
"""After a note of a push that no push service has taken yet. No mark ends so."""
QUEUE: Final = "towerhall:{pushes}"
_SEEN: Final = script_of("seen.lua")


class Subscription(msgspec.Struct, frozen=True):
    """One device of a person, as its push service knows it."""

    endpoint: str
    p256dh: str
    """The device's public key, as base64url without padding."""
    auth: str
    """The secret that the device shares with this service."""
    language: str
    since_ms: int
    expires: int
    """The end of the token with which it was made, in seconds since 1970. The next three are of
    that token as well: if it is revoked, the subscription ends."""
    operator: str = ""
    after: int = 0
    account_device: str = ""
    fails: int = 0
    """Failed pushes in a row."""
    retry_ms: int = 0
    """Time before which nothing is pushed to it, in milliseconds since 1970."""

    @property
    def id(self) -> str:
        return blake2b(self.endpoint.encode(), digest_size=12).hexdigest()


class ToldOf(msgspec.Struct, frozen=True):
    """The last push to a person about a room."""

    kind: str
    mark: str
    """Names what it was about, such as a decision."""
    seen: bool
    """Whether the person has come to the room since."""
    sent: bool = True
    """False while the push is under way, and after it has failed."""


_decode: Final = msgspec.json.Decoder(Subscription).decode


class PushStore:
    """The keys of all people, and the queue of people and rooms to look at."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.queue = DueQueue(log, QUEUE)

    async def key(self, new: bytes) -> bytes:
        """Return the private key of VAPID: the first `new`, then unchanged forever."""
        await self._ask("SET", KEY, new, "NX")
        found: bytes = await self._ask("GET", KEY)
        return found

    # Subscriptions

    async def add(self, identity: str, subscription: Subscription, most: int) -> None:
        """Keep a subscription. Its device belongs to this person from now on. Beyond `most` the
        oldest ones of the person are dropped."""
        key = _device(subscription.id)
        before = await self._ask("SET", key, identity, "PX", KEPT_MS, "GET")
        if before and before.decode() != identity:
            await self._ask("HDEL", _subscriptions(before.decode()), subscription.id)
        await self.put(identity, subscription)
        await self._ask("PEXPIRE", _subscriptions(identity), KEPT_MS)
        kept = await self.of(identity)
        for old in sorted(kept, key=lambda each: each.since_ms)[: max(len(kept) - most, 0)]:
            await self.remove(identity, old.id)

    async def put(self, identity: str, subscription: Subscription) -> None:
        """Keep the present state of a subscription."""
        data = msgspec.json.encode(subscription)
        await self._ask("HSET", _subscriptions(identity), subscription.id, data)

    async def remove(self, identity: str, subscription_id: str) -> None:
        """Remove a subscription of a person, if it is theirs."""
        if await self._ask("HDEL", _subscriptions(identity), subscription_id):
            await self._free(identity, subscription_id)

    async def of(self, identity: str) -> list[Subscription]:
        """Return the subscriptions of a person."""
        found = await self._ask("HGETALL", _subscriptions(identity))
        return [_decode(data) for data in found[1::2]]

    async def is_owner(self, identity: str, subscription: Subscription) -> bool:
        """Whether a device still belongs to a person, and not to another one by now."""
        owner = await self._ask("GET", _device(subscription.id))
        return bool(owner == identity.encode())

    async def is_subscribed(self, identity: str) -> bool:
        return bool(await self._ask("EXISTS", _subscriptions(identity)))

    async def forget(self, identity: str) -> None:
        """Remove all that is kept of a person here."""
        for each in await self.of(identity):
            await self._free(identity, each.id)
        await self._ask("DEL", _subscriptions(identity))
        await self._ask("DEL", _told(identity))
        due, busy, news, noted = self.queue.keys
        found: Iterable[bytes] = await self._ask("ZRANGE", due, 0, -1)
        jobs = [name for name in found if name.startswith(f"{identity} ".encode())]
        if jobs:
            await self._ask("ZREM", due, *jobs)
            await self._ask("HDEL", busy, *jobs)
            await self._ask("SREM", news, *jobs)
            await self._ask("HDEL", noted, *jobs)

    async def _free(self, identity: str, subscription_id: str) -> None:
        if await self._ask("GET", _device(subscription_id)) == identity.encode():
            await self._ask("DEL", _device(subscription_id))

    # Pushes

    async def take(self, identity: str) -> int:
        """Count a push to a person and return 0; or return the milliseconds until the next one."""
        return await self._log.take((Quota("pushes", identity, PER_SECOND, BURST),))

    async def told(self, identity: str, room: str) -> ToldOf | None:
        """Return the last push to a person about a room."""
        text, seen = await self._ask("HMGET", _told(identity), room, _seen(room))
        if text is None:
            return None
        found = text.decode()
        kind, _, mark = found.removesuffix(UNSENT).partition(" ")
        return ToldOf(kind, mark, seen is not None, not found.endswith(UNSENT))

    async def note(self, identity: str, room: str, kind: str, mark: str, *, sent: bool) -> None:
        """Note a push to a person about a room: before it is sent, and again when it was taken. In
        between the person may come, and that stays noted."""
        key = _told(identity)
        if sent:
            await self._ask("HSET", key, room, f"{kind} {mark}")
            return
        if await self._ask("HLEN", key) > 2 * MOST_TOLD:
            await self._ask("DEL", key)
        await self._ask("HDEL", key, _seen(room))
        await self._ask("HSET", key, room, f"{kind} {mark}{UNSENT}")
        await self._ask("PEXPIRE", key, TOLD_MS)

    def visited(self, identity: str, room: str) -> None:
        """Note that a person has come to a room. The note may be lost: then the person is not told
        of that room until they come again."""
        noted = self._log.call(run_call(_SEEN, (_told(identity),), room, _seen(room)))
        noted.add_done_callback(lambda noted: noted.cancelled() or noted.exception())

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def _subscriptions(identity: str) -> str:
    return f"towerhall:{{push:{identity}}}:subscriptions"


def _told(identity: str) -> str:
    return f"towerhall:{{push:{identity}}}:told"


def _device(subscription_id: str) -> str:
    return f"towerhall:push:device:{subscription_id}"


def _seen(room: str) -> str:
    """The field that says that the person has come. No code of a room ends so."""
    return f"{room} seen"
