"""Tells people who are away: at least once, by whichever node takes the job.

A job in the store's queue is a person and a room, and nothing else. What the person is told is
derived from the room when the job is done, so a turn that is over is never told. A node leases a
job; if it dies, another one does it. A node that dies between a push and its note in the store lets
the push be sent twice: topic and tag are the same, so the second one takes the place of the first.
"""

import asyncio
import logging
import os
import secrets
from contextlib import suppress
from time import time
from typing import Final, Literal

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

from towerhall_protocol.commands import from_base64url
from towerhall_server.access.admission import Access
from towerhall_server.access.tokens import Token
from towerhall_server.eventlog.due import Going
from towerhall_server.eventlog.pushes import PushStore, Subscription
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.directory import Directory, PoisonedRoomError
from towerhall_server.lobby.events import Shuns
from towerhall_server.lobby.places import host_of
from towerhall_server.outbound.posting import NotPostedError, Outbound, Posted
from towerhall_server.push.encryption import SALT_BYTES, encrypt
from towerhall_server.push.notes import BODY_BYTES, Note, body_of, is_news, note_of
from towerhall_server.push.vapid import Vapid
from towerhall_server.push.watch import DOUBT_SECONDS
from towerhall_server.room.seats import Person
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

AT_ONCE: Final = 16
"""Jobs of a node at the same time."""
LEASE_MS: Final = 30_000
"""Milliseconds for which a job is a node's: longer than an attempt."""
MOST_FAILS: Final = 12
"""Failed pushes in a row after which a subscription is dropped: some three days."""
FIRST_WAIT_SECONDS: Final = 60
AFTER_SECONDS: Final = 30.0
"""Seconds after a push until the room is looked at once more."""
MOST_WAIT_SECONDS: Final = 24 * 3600

Outcome = Literal["taken", "gone", "later"]


class Then(msgspec.Struct, frozen=True):
    """How a job goes on."""

    going: Going
    seconds: float = 0.0


DONE: Final = Then("over")


class PushPace(msgspec.Struct, frozen=True):
    """Times, in seconds."""

    rest: float = 5.0
    """For which a decision stands before anybody is told of it."""
    look: float = 1.0
    """Between two looks into the queue, without a trigger."""
    ask: float = 0.5
    """In which other nodes tell who is connected to a room."""


class Notifier:
    """The jobs of this node."""

    def __init__(
        self,
        store: PushStore,
        directory: Directory,
        access: Access,
        outbound: Outbound,
        vapid: Vapid,
        pace: PushPace,
        shuns: Shuns,
    ) -> None:
        self._store, self._directory, self._access = store, directory, access
        self._outbound, self._vapid = outbound, vapid
        self._pace, self._shuns = pace, shuns
        self._bell = asyncio.Event()

    async def concern(self, identity: str, room: str) -> None:
        """A person may have to be told about a room."""
        if await self._store.is_subscribed(identity):
            await self._store.queue.add(f"{identity} {room}")
            self._bell.set()

    async def run(self) -> None:
        """Do jobs in a loop, forever."""
        while True:
            self._bell.clear()
            found = 0
            try:
                found = await self.do_due()
            except StoreError as error:
                logger.debug("pushes wait for the store: %s", error)
            if not found:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._pace.look):
                        await self._bell.wait()

    async def do_due(self) -> int:
        """Do the jobs that are due, and return their number."""
        claim = secrets.token_hex(8)
        jobs = await self._store.queue.claim(claim, LEASE_MS, AT_ONCE)
        await asyncio.gather(*(self._do(job, claim) for job in jobs))
        return len(jobs)

    async def _do(self, job: str, claim: str) -> None:
        identity, _, room = job.partition(" ")
        try:
            then = await self._tell(identity, room)
            wait_ms = round(1000 * then.seconds)
            await self._store.queue.settle(job, claim, b"", then.going, wait_ms)
        except StoreError as error:
            # The lease ends by itself.
            logger.debug("a person is told later: %s", error)
        except Exception:
            # Another node may be able to do it.
            logger.exception("a person could not be told about room %s", room)

    async def _tell(self, identity: str, code: str) -> "Then":
        """Tell a person about a room, if there is anything to tell."""
        devices = [
            each for each in await self._store.of(identity) if await self._holds(identity, each)
        ]
        if not devices:
            return DONE
        try:
            actor = await self._directory.open(code)
        except PoisonedRoomError:
            return DONE
        if actor is None:
            return DONE
        note = await self._note(actor, identity)
        if isinstance(note, Then):
            return note
        if note is None or not is_news(note, await self._store.told(identity, code)):
            return DONE
        if note.kind == "invited" and await self._shuns(identity, host_of(actor.follower.room)):
            return DONE
        now_ms = round(1000 * time())
        ready = [each for each in devices if each.retry_ms <= now_ms]
        if not ready:
            return Then("again", (min(each.retry_ms for each in devices) - now_ms) / 1000)
        wait_ms = await self._store.take(identity)
        if wait_ms:
            return Then("again", wait_ms / 1000)
        await self._store.note(identity, code, note.kind, note.mark, sent=False)
        outcomes = await asyncio.gather(*(self._push(identity, each, note) for each in ready))
        if "taken" in outcomes:
            await self._store.note(identity, code, note.kind, note.mark, sent=True)
            # What was decided meanwhile is found by then.
            return Then("rest", AFTER_SECONDS)
        # The waits of the devices decide when the next attempt is made.
        fails = "later" in outcomes or len(devices) > len(ready)
        return Then("again", FIRST_WAIT_SECONDS) if fails else DONE

    async def _note(self, actor: RoomActor, identity: str) -> "Note | Then | None":
        """What the person is to be told now. Nothing to a person who is connected to the room; but
        while a decision is young they are looked for again: this node may not have heard yet that
        they have gone."""
        follower = actor.follower
        if not len(follower.audience):
            # This node may not have heard who is connected to the others.
            follower.audience.presence.ask_around()
            await asyncio.sleep(self._pace.ask)
        room = follower.room
        alias = room.alias_of(identity)
        if any(viewer.person.id == alias for viewer in follower.audience):
            return None
        now_ms, present = follower.now_ms(), follower.audience.presence.online
        note = note_of(room, alias, present, now_ms)
        is_young = now_ms - room.began_ms < 1000 * DOUBT_SECONDS
        if note is None and is_young and note_of(room, alias, (), now_ms) is not None:
            return Then("rest", self._pace.rest)
        return note

    async def _holds(self, identity: str, device: Subscription) -> bool:
        """Whether a subscription is still the person's; otherwise it is removed."""
        made_by = (device.operator, device.after, device.account_device)
        token = Token(Person(identity, ""), 0, device.expires, *made_by)
        holds = time() < device.expires and self._access.judge(token) is None
        if not holds or not await self._store.is_owner(identity, device):
            await self._store.remove(identity, device.id)
            return False
        return True

    async def _push(self, identity: str, device: Subscription, note: Note) -> Outcome:
        """Push to one device, and note how that went."""
        now = time()
        body = encrypt(
            body_of(note, device),
            from_base64url(device.p256dh),
            from_base64url(device.auth),
            generate_private_key(SECP256R1()),
            os.urandom(SALT_BYTES),
            padded_to=BODY_BYTES,
        )
        headers = {
            "Authorization": self._vapid.authorization(device.endpoint, int(now)),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(note.seconds),
            "Topic": note.topic,
            "Urgency": "high" if note.urgent else "normal",
        }
        try:
            posted = await self._outbound.post(device.endpoint, headers, body)
        except NotPostedError as error:
            posted, why = Posted(0), str(error)
        else:
            why = f"the answer was {posted.status}"
        outcome = outcome_of(posted)
        if outcome == "taken":
            if device.fails:
                await self._keep(identity, device, fails=0, retry_ms=0)
        elif outcome == "gone" or device.fails + 1 >= MOST_FAILS:
            await self._store.remove(identity, device.id)
        else:
            wait = max(wait_after(device.fails + 1), posted.retry_seconds)
            if device.fails == 0:
                logger.info("a push failed: %s; the device is tried again later", why)
            retry_ms = round(1000 * (now + wait))
            await self._keep(identity, device, fails=device.fails + 1, retry_ms=retry_ms)
        return outcome

    async def _keep(
        self, identity: str, device: Subscription, *, fails: int, retry_ms: int
    ) -> None:
        """Note how pushes to a device go, unless it was removed meanwhile."""
        if await self._store.is_owner(identity, device):
            changed = msgspec.structs.replace(device, fails=fails, retry_ms=retry_ms)
            await self._store.put(identity, changed)


def outcome_of(posted: Posted) -> Outcome:
    """What the answer of a push service means for the device. Only 404 and 410 say that it is
    gone; what else is refused may be this server's fault, and is given up in the end."""
    if 200 <= posted.status < 300:
        return "taken"
    return "gone" if posted.status in (404, 410) else "later"


def wait_after(fails: int) -> int:
    """Seconds until the next attempt after that many failed ones."""
    doublings = min(fails - 1, 20)
    return min(FIRST_WAIT_SECONDS << doublings, MOST_WAIT_SECONDS)
