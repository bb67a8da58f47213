"""What the lobby keeps in the store, beside rooms: whose rooms are whose, open rooms, links.

All of it is soft: it points to rooms and people, and whoever reads it looks there for the truth.
Every call may fail as `StoreError`; its effect is then unknown.
"""

from hashlib import blake2b
from importlib.resources import files
from time import time
from typing import Any, Final

import msgspec

from towerhall_server.eventlog.batch import Call
from towerhall_server.eventlog.calls import run_call
from towerhall_server.eventlog.commands import Argument, packed, script
from towerhall_server.eventlog.log import EventLog

DAY_MS: Final = 24 * 3_600_000
MINE_MS: Final = 60 * DAY_MS
MOST_MINE: Final = 100
OPEN_MS: Final = DAY_MS
COMING: Final = "towerhall:quick:coming"
_CLAIM: Final = script((files("towerhall_server.lobby") / "claim.lua").read_text())
_COMING: Final = script((files("towerhall_server.lobby") / "coming.lua").read_text())


def now_ms() -> int:
    return round(time() * 1000)


class Expected(msgspec.Struct, frozen=True):
    """Somebody who was given a seat in a room."""

    room: str
    identity: str


class LobbyStore:
    """The keys of the lobby. No two of them are in one slot, but for those of one wish."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    # Whose rooms are whose

    def remember(self, identity: str, room: str) -> None:
        """Note that somebody may have a place in a room. It may be lost, and is noted again
        whenever they come back to that room."""
        key = _mine(identity)
        for command in (
            packed("ZADD", key, now_ms(), room),
            packed("ZREMRANGEBYRANK", key, 0, -1 - MOST_MINE),
            packed("PEXPIRE", key, MINE_MS),
        ):
            noted = self._log.call(Call(command))
            noted.add_done_callback(lambda noted: noted.cancelled() or noted.exception())

    async def remembered(self, identity: str, most: int) -> dict[str, int]:
        """Rooms in which somebody had a place, the latest first, and when that was noted."""
        found = await self._ask("ZREVRANGE", _mine(identity), 0, most - 1, "WITHSCORES")
        return _scored(found)

    async def forget(self, identity: str, *rooms: str) -> None:
        if rooms:
            await self._ask("ZREM", _mine(identity), *rooms)

    # Rooms that wait for people who want the same

    async def open_rooms(self, wish: str, most: int) -> dict[str, int]:
        """Rooms for a wish, the oldest first, and since when they are open."""
        found = await self._ask("ZRANGE", _open(wish), 0, most - 1, "WITHSCORES")
        return _scored(found)

    async def drop(self, wish: str, room: str) -> None:
        """Nobody else is to be sent to this room."""
        await self._ask("ZREM", _open(wish), room)

    async def claim(self, wish: str, claim: str, ms: int) -> bool:
        """Be the one who makes the next room for a wish."""
        return await self._ask("SET", _claim(wish), claim, "NX", "PX", ms) is not None

    async def settle(self, wish: str, claim: str, room: str = "") -> bool:
        """End a claim, with the room that was made if there is one. Whether it still held."""
        keys = (_claim(wish), _open(wish))
        return bool(await self._log.call(run_call(_CLAIM, keys, claim, room, now_ms(), OPEN_MS)))

    # People who were given a seat and are not there yet

    async def expect(self, who: Expected, ms: int) -> None:
        """Note that somebody has so long to come."""
        await self._come("expect", f"{who.room} {who.identity}", ms)

    async def late(self, lease_ms: int, most: int) -> list[tuple[Expected, int]]:
        """Whose time is up, and until when they are this node's to look for."""
        found = await self._come("late", lease_ms, most)
        pairs = zip(found[::2], found[1::2], strict=True)
        return [(Expected(*who.decode().split(" ", 1)), int(till)) for who, till in pairs]

    async def settle_expected(self, who: Expected, till: int) -> None:
        """Nobody has to look for them any more, unless they were given a seat anew since."""
        await self._come("settle", f"{who.room} {who.identity}", till)

    async def _come(self, *given: Argument) -> Any:
        return await self._log.call(run_call(_COMING, (COMING,), *given))

    # Links that can be used once

    async def keep_link(self, code: str, data: bytes, ms: int) -> None:
        await self._ask("SET", _link(code), data, "PX", ms)

    async def take_link(self, code: str) -> bytes | None:
        """What a link stands for; nobody else will ever get it."""
        found: bytes | None = await self._ask("GETDEL", _link(code))
        return found

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def _mine(identity: str) -> str:
    return f"towerhall:mine:{identity}"


def _open(wish: str) -> str:
    return f"towerhall:{{quick:{wish}}}:open"


def _claim(wish: str) -> str:
    return f"towerhall:{{quick:{wish}}}:claim"


def _link(code: str) -> str:
    # Whoever reads the store does not get to know links that can still be used.
    return f"towerhall:link:{blake2b(code.encode(), digest_size=16).hexdigest()}"


def _scored(found: list[bytes]) -> dict[str, int]:
    return {room.decode(): int(score) for room, score in zip(found[::2], found[1::2], strict=True)}
