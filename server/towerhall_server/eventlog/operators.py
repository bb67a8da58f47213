"""Operators' data in the store: a secret, their people, idempotent answers, bans, deliveries.

Every call may raise `StoreError`; all but `look` may then be retried unchanged. Keys of one
operator share a slot, so that one script can use them.
"""

import logging
import secrets
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from time import time
from typing import Any, Final

import msgspec

from towerhall_server.eventlog.due import DueQueue, Going
from towerhall_server.eventlog.log import EventLog
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, packed

logger = logging.getLogger(__name__)

DAY_MS: Final = 24 * 3_600_000
PERSON_MS: Final = 400 * DAY_MS
ONCE_MS: Final = DAY_MS
SECRET: Final = "towerhall:operators:secret"  # noqa: S105 - where it is, not what it is
BANS: Final = "towerhall:{bans}:all"
BANS_VERSION: Final = "towerhall:{bans}:version"
LIFTED: Final = "towerhall:{bans}:lifted"
LIFTED_MS: Final = 30 * DAY_MS
"""Milliseconds for which the store remembers that a ban was lifted."""


class LobbyPerson(msgspec.Struct, frozen=True, array_like=True):
    """A person as their own lobby knows them."""

    external_id: str
    name: str


class Ban(msgspec.Struct, frozen=True):
    """A banned person, and the operator who banned them."""

    id: str
    operator: str
    """Empty: the operator of this service."""
    time: int
    """In ms since 1970."""
    reason: str = ""
    external_id: str = ""
    rooms_only: bool = False
    """Whether the ban holds only in the rooms of this operator."""


class BanList(msgspec.Struct, frozen=True):
    """All bans, and those lifted in the last weeks, by person and operator."""

    bans: dict[str, Ban] = {}
    lifted: dict[str, int] = {}
    """In ms since 1970."""

    def beyond(self, found: "BanList") -> "BanList":
        """Return the part of this list that the found list has lost."""
        bans = {
            field: ban
            for field, ban in self.bans.items()
            if field not in found.bans and found.lifted.get(field, -1) < ban.time
        }
        lifted = {
            field: ms
            for field, ms in self.lifted.items()
            if field in found.bans and found.bans[field].time <= ms
        }
        return BanList(bans, lifted)


class Delivered(msgspec.Struct, frozen=True, array_like=True):
    """An operator's position in the log of a room."""

    seq: int = 0
    mark: str = ""
    """Chain of the commit at that seq: the store may have lost it since."""
    fails: int = 0
    """Failed attempts in a row at the next delivery."""


_told = msgspec.json.Decoder(Delivered).decode
_person = msgspec.json.Decoder(LobbyPerson).decode
_ban = msgspec.json.Decoder(Ban).decode


class OperatorStore:
    """The keys of all operators."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    # People

    async def secret(self, new: bytes) -> bytes:
        """Return the secret that turns external ids into identities: the first `new`, then
        unchanged forever."""
        await self._ask("SET", SECRET, new, "NX")
        found: bytes = await self._ask("GET", SECRET)
        return found

    async def remember(self, operator: str, people: Mapping[str, LobbyPerson]) -> None:
        """Keep people by identity."""
        for identity, person in people.items():
            data = msgspec.json.encode(person)
            await self._log.memory.write(_person_key(operator, identity), data, PERSON_MS)

    async def people(self, operator: str, identities: Iterable[str]) -> dict[str, LobbyPerson]:
        """Return those of these people who are the operator's."""
        found = {}
        for identity in identities:
            key = _person_key(operator, identity)
            data = await self._ask("GET", key) or self._log.memory.get(key)
            if data is not None:
                found[identity] = _person(data)
        return found

    # Idempotent answers

    async def begin(self, operator: str, once: str, mark: bytes, ms: int) -> bytes | None:
        """Claim a request. Returns `None` if it is new, else the kept answer."""
        key = _once_key(operator, once)
        remembered = self._log.memory.get(key)
        if remembered is not None:
            return remembered
        if await self._ask("SET", key, mark, "NX", "PX", ms) is not None:
            return None
        found: bytes | None = await self._ask("GET", key)
        # The key may have expired in between: then the request is new.
        return await self.begin(operator, once, mark, ms) if found is None else found

    async def finish(self, operator: str, once: str, data: bytes) -> None:
        """Keep the answer for all repetitions of the request."""
        await self._log.memory.write(_once_key(operator, once), data, ONCE_MS)

    async def give_up(self, operator: str, once: str) -> None:
        await self._ask("DEL", _once_key(operator, once))

    # Bans

    async def ban(self, ban: Ban) -> None:
        """Keep a ban. It is newer than an earlier lift of the same operator."""
        field = _ban_field(ban)
        lifted = await self._ask("HGET", LIFTED, field)
        if lifted is not None and ban.time <= int(lifted):
            ban = msgspec.structs.replace(ban, time=int(lifted) + 1)
        await self._ask("HSET", BANS, field, msgspec.json.encode(ban))
        await self._change_bans()

    async def unban(self, operator: str, identity: str) -> bool:
        """Lift a ban. Returns whether this operator had banned them."""
        field = f"{identity} {operator}"
        found = await self._ask("HGET", BANS, field)
        if found is None:
            return False
        now_ms = round(1000 * time())
        lifted = (await self.ban_list()).lifted
        if old := [name for name, ms in lifted.items() if now_ms - ms > LIFTED_MS]:
            await self._ask("HDEL", LIFTED, *old)
        await self._lift(field, max(now_ms, _ban(found).time))
        return True

    async def bans(self) -> list[Ban]:
        return list((await self.ban_list()).bans.values())

    async def ban_list(self) -> "BanList":
        bans, lifted = await self._ask("HGETALL", BANS), await self._ask("HGETALL", LIFTED)
        return BanList(
            {name.decode(): _ban(data) for name, data in _pairs(bans)},
            {name.decode(): int(ms) for name, ms in _pairs(lifted)},
        )

    async def put_back(self, known: "BanList", found: "BanList") -> "BanList":
        """Write bans that this node knows and the store has lost, as when the store becomes an
        older copy of itself. Returns the merged list."""
        lost = known.beyond(found)
        for field, ban in lost.bans.items():
            by = ban.operator or "the service"
            logger.warning("the store has lost a ban by %s; it is written back", by)
            await self._ask("HSET", BANS, field, msgspec.json.encode(ban))
        for field, ms in lost.lifted.items():
            await self._lift(field, ms)
        if lost.bans:
            await self._change_bans()
        return await self.ban_list() if lost.bans or lost.lifted else found

    async def _lift(self, field: str, ms: int) -> None:
        await self._ask("HSET", LIFTED, field, ms)
        await self._ask("HDEL", BANS, field)
        await self._change_bans()

    async def _change_bans(self) -> None:
        """Make a random version: a counter could repeat after the store went back."""
        await self._ask("SET", BANS_VERSION, secrets.token_hex(8))

    async def bans_version(self) -> bytes:
        """Return the version of the list, which changes with every change of a ban."""
        return await self._ask("GET", BANS_VERSION) or b""

    # Rooms with pending deliveries

    def look(self, operator: str, room: str) -> None:
        """Note that a room has pending deliveries. The note may be lost; regular looks cover
        that."""
        self._queue(operator).look(room)

    async def add(self, operator: str, room: str) -> None:
        """The same for a new room; this note must not be lost."""
        await self._queue(operator).add(room)

    async def claim(self, operator: str, claim: str, ms: int, most: int) -> dict[str, Delivered]:
        """Lease due rooms. Returns them with their operator's position."""
        found = await self._queue(operator).claim(claim, ms, most)
        return {room: _told(data) if data else Delivered() for room, data in found.items()}

    async def settle(
        self, operator: str, room: str, claim: str, told: Delivered, going: Going, ms: int
    ) -> bool:
        """Note the new position, and what follows. Returns whether the claim still held."""
        data = msgspec.json.encode(told)
        return await self._queue(operator).settle(room, claim, data, going, ms)

    def _queue(self, operator: str) -> DueQueue:
        return DueQueue(self._log, f"towerhall:{{o:{operator}}}")

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def _person_key(operator: str, identity: str) -> str:
    return f"towerhall:{{o:{operator}}}:person:{identity}"


def _once_key(operator: str, once: str) -> str:
    digest = blake2b(once.encode(), digest_size=16).hexdigest()
    return f"towerhall:{{o:{operator}}}:once:{digest}"


def _ban_field(ban: Ban) -> str:
    return f"{ban.id} {ban.operator}"


def _pairs(found: list[bytes]) -> Iterable[tuple[bytes, bytes]]:
    return zip(found[::2], found[1::2], strict=True)
