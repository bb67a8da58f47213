"""What operators have in the store: a secret, their people, answers given once, bans, and the rooms
of which they are still to be told.

Every call may fail as `StoreError`; all but `look` may then be asked again as they are. Keys of one
operator share a slot, so that one script can touch them.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from importlib.resources import files
from typing import Any, Final, Literal

import msgspec

from towerhall_server.eventlog.batch import Call
from towerhall_server.eventlog.calls import run_call
from towerhall_server.eventlog.commands import Argument, Script, packed, script
from towerhall_server.eventlog.log import EventLog

DAY_MS: Final = 24 * 3_600_000
PERSON_MS: Final = 400 * DAY_MS
ONCE_MS: Final = DAY_MS
SECRET: Final = "towerhall:operators:secret"  # noqa: S105 - where it is, not what it is
BANS: Final = "towerhall:{bans}:all"
BANS_VERSION: Final = "towerhall:{bans}:version"


class Person(msgspec.Struct, frozen=True, array_like=True):
    """Somebody as their own lobby knows them."""

    external_id: str
    name: str


class Ban(msgspec.Struct, frozen=True):
    """Somebody who may not come in, and who says so."""

    id: str
    operator: str
    time: int
    """Wall time."""
    reason: str = ""
    external_id: str = ""


class Told(msgspec.Struct, frozen=True, array_like=True):
    """How far an operator has been told of a room."""

    seq: int = 0
    mark: str = ""
    """Of the commit at that seq: the store may have lost it since."""
    fails: int = 0
    """Attempts in a row to tell what comes next."""


Going = Literal["on", "again", "rest", "over"]


def _script(name: str) -> Script:
    return script((files("towerhall_server.operators") / name).read_text())


_LOOK: Final = _script("look.lua")
_CLAIM: Final = _script("claim.lua")
_SETTLE: Final = _script("settle.lua")
_told = msgspec.json.Decoder(Told).decode
_person = msgspec.json.Decoder(Person).decode
_ban = msgspec.json.Decoder(Ban).decode


class OperatorStore:
    """The keys of all operators."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    # People

    async def secret(self, new: bytes) -> bytes:
        """What turns external ids into identities: `new` if there was none, and then for ever."""
        await self._ask("SET", SECRET, new, "NX")
        found: bytes = await self._ask("GET", SECRET)
        return found

    async def remember(self, operator: str, people: Mapping[str, Person]) -> None:
        """Keep who is who, by identity."""
        for identity, person in people.items():
            data = msgspec.json.encode(person)
            await self._ask("SET", _person_key(operator, identity), data, "PX", PERSON_MS)

    async def people(self, operator: str, identities: Iterable[str]) -> dict[str, Person]:
        """Those of them who are the operator's."""
        found = {}
        for identity in identities:
            data = await self._ask("GET", _person_key(operator, identity))
            if data is not None:
                found[identity] = _person(data)
        return found

    # Answers that are given once

    async def begin(self, operator: str, once: str, mark: bytes, ms: int) -> bytes | None:
        """Be the one who does it; `None` if nobody did so before, else what was kept last."""
        key = _once_key(operator, once)
        if await self._ask("SET", key, mark, "NX", "PX", ms) is not None:
            return None
        found: bytes | None = await self._ask("GET", key)
        # It may have ended in between: then nobody has done it.
        return await self.begin(operator, once, mark, ms) if found is None else found

    async def finish(self, operator: str, once: str, data: bytes) -> None:
        """Keep what everybody else who asks for it is answered."""
        await self._ask("SET", _once_key(operator, once), data, "PX", ONCE_MS)

    async def give_up(self, operator: str, once: str) -> None:
        await self._ask("DEL", _once_key(operator, once))

    # Bans

    async def ban(self, ban: Ban) -> None:
        await self._ask("HSET", BANS, f"{ban.id} {ban.operator}", msgspec.json.encode(ban))
        await self._ask("INCR", BANS_VERSION)

    async def unban(self, operator: str, identity: str) -> bool:
        """Whether this operator had banned them."""
        found = await self._ask("HDEL", BANS, f"{identity} {operator}")
        await self._ask("INCR", BANS_VERSION)
        return bool(found)

    async def bans(self) -> list[Ban]:
        found = await self._ask("HVALS", BANS)
        return list(map(_ban, found))

    async def bans_version(self) -> bytes:
        """Another one whenever bans have changed."""
        return await self._ask("GET", BANS_VERSION) or b""

    # Rooms of which operators are to be told

    def look(self, operator: str, room: str) -> None:
        """Note that there is something to tell. It may be lost; somebody looks now and then."""
        noted = self._log.call(self._look_call(operator, room))
        noted.add_done_callback(lambda noted: noted.cancelled() or noted.exception())

    async def add(self, operator: str, room: str) -> None:
        """The same for a new room, which must not be lost."""
        await self._log.call(self._look_call(operator, room))

    def _look_call(self, operator: str, room: str) -> Call:
        return run_call(_LOOK, _queue_keys(operator)[:3], room)

    async def claim(self, operator: str, claim: str, ms: int, most: int) -> dict[str, Told]:
        """Rooms to look at, and how far the operator has been told of each."""
        found = await self._log.call(run_call(_CLAIM, _queue_keys(operator), claim, ms, most))
        pairs = zip(found[::2], found[1::2], strict=True)
        return {room.decode(): _told(data) if data else Told() for room, data in pairs}

    async def settle(
        self, operator: str, room: str, claim: str, told: Told, going: Going, ms: int
    ) -> bool:
        """Say how far it is told, and how it goes on; whether the claim still held."""
        data = msgspec.json.encode(told)
        call = run_call(_SETTLE, _queue_keys(operator), room, claim, data, going, ms)
        return bool(await self._log.call(call))

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def _queue_keys(operator: str) -> tuple[str, str, str, str]:
    tag = f"towerhall:{{o:{operator}}}"
    return f"{tag}:rooms", f"{tag}:busy", f"{tag}:news", f"{tag}:told"


def _person_key(operator: str, identity: str) -> str:
    return f"towerhall:{{o:{operator}}}:person:{identity}"


def _once_key(operator: str, once: str) -> str:
    digest = blake2b(once.encode(), digest_size=16).hexdigest()
    return f"towerhall:{{o:{operator}}}:once:{digest}"
