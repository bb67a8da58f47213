"""The lobby's data in the store: rooms of people, open rooms, arrivals, links.

All of it is soft state: it points to rooms and people, and the reader checks there. Every call may
raise `StoreError`; its effect is then unknown.
"""

import asyncio
from collections.abc import Iterable, Sequence
from importlib.resources import files
from time import time
from typing import Any, Final

import msgspec

from towerhall_server.eventlog.keys import ME, room_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import ALL, MORE, PLACE
from towerhall_server.eventlog.scripts import entry_of, run_call
from towerhall_server.eventlog.single_use import SingleUse
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, packed, script

DAY_MS: Final = 24 * 3_600_000
MINE_MS: Final = 60 * DAY_MS
MOST_MINE: Final = 200
MOST_INVITED: Final = 50
"""Invitations of a person that are remembered: a flood of them pushes out no seat."""
MOST_PAST: Final = 40
"""Finished games of a person that are remembered beyond their rooms."""
OPEN_MS: Final = DAY_MS
COMING: Final = "towerhall:quick:coming"
_CLAIM: Final = script((files("towerhall_server.eventlog") / "lua" / "claim_match.lua").read_text())
_COMING: Final = script((files("towerhall_server.eventlog") / "lua" / "arriving.lua").read_text())


def now_ms() -> int:
    return round(time() * 1000)


class Expected(msgspec.Struct, frozen=True):
    """A person who was given a seat in a room."""

    room: str
    identity: str


class LobbyStore:
    """The keys of the lobby. Only keys of the same wish share a slot."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.links = SingleUse(log, "link")
        """Links by which another device becomes the same person."""

    # Rooms of people

    def remember(self, identity: str, room: str) -> None:
        """Note that a person may have a place in a room. The note may be lost; it is repeated
        whenever the person returns to that room."""
        self._note(_mine(identity), room, MOST_MINE)

    def invite(self, identity: str, room: str) -> None:
        """Note that a person may be invited to a room. The note may be lost."""
        self._note(_invited(identity), room, MOST_INVITED)

    def _note(self, key: str, room: str, most: int) -> None:
        for command in (
            packed("ZADD", key, now_ms(), room),
            packed("ZREMRANGEBYRANK", key, 0, -1 - most),
            packed("PEXPIRE", key, MINE_MS),
        ):
            noted = self._log.call(Call(command))
            noted.add_done_callback(lambda noted: noted.cancelled() or noted.exception())

    async def remembered(self, identity: str, most: int) -> dict[str, int]:
        """Return the rooms in which a person had a place, latest first, with the time of the
        note."""
        found = await self._ask("ZREVRANGE", _mine(identity), 0, most - 1, "WITHSCORES")
        return _scored(found)

    async def forget(self, identity: str, *rooms: str) -> None:
        if rooms:
            await self._ask("ZREM", _mine(identity), *rooms)

    async def forget_all(self, identity: str) -> None:
        """Forget all rooms, invitations and finished games of a person."""
        await self._ask("DEL", _mine(identity))
        await self._ask("DEL", _invited(identity))
        await self._ask("DEL", _past(identity))

    async def places(self, identity: str) -> dict[str, int]:
        """Return all rooms in which a person had a place, or was invited to, with the time of the
        note."""
        return {
            **_scored(await self._ask("ZRANGE", _invited(identity), 0, -1, "WITHSCORES")),
            **await self.remembered(identity, MOST_MINE),
        }

    async def forget_places(self, identity: str, *rooms: str) -> None:
        """Forget that a person had a place in these rooms, or was invited to them."""
        await self.forget(identity, *rooms)
        if rooms:
            await self._ask("ZREM", _invited(identity), *rooms)

    async def tops(self, rooms: Sequence[str]) -> dict[str, int]:
        """Return the newest seq of each room; a room that is gone is left out."""
        newest = [packed("XREVRANGE", room_keys(room).log, "+", "-", "COUNT", 1) for room in rooms]
        found = await asyncio.gather(*(self._log.call(Call(each)) for each in newest))
        return {
            room: entry_of(entries[0]).seq
            for room, entries in zip(rooms, found, strict=True)
            if entries
        }

    # What concerns people, told to all nodes

    def tell_person(self, person: str, room: str, seq: int, place: bytes) -> None:
        """Tell the node on which a person follows it that a place of theirs has changed. The
        message may be lost."""
        self._send("PUBLISH", ME, PLACE + f"{person} {room} {seq} ".encode() + place)

    def tell_followed(self, people: Iterable[str], *, is_all: bool) -> None:
        """Tell the other nodes who follows here what concerns them. The message may be lost."""
        names = " ".join((self._log.node, *people))
        self._send("PUBLISH", ME, (ALL if is_all else MORE) + names.encode())

    # Finished games of people

    def note_over(self, identity: str, about: bytes, ms: int) -> None:
        """Note a game that a person has finished, for that long. The note may be lost."""
        key = _past(identity)
        for command in (
            packed("ZADD", key, now_ms() + ms, about),
            packed("ZREMRANGEBYRANK", key, 0, -1 - MOST_PAST),
            packed("PEXPIRE", key, ms),
        ):
            noted = self._log.call(Call(command))
            noted.add_done_callback(lambda noted: noted.cancelled() or noted.exception())

    async def past(self, identity: str) -> list[bytes]:
        """Return the notes of games that a person has finished, latest first."""
        found: list[bytes] = await self._ask("ZREVRANGEBYSCORE", _past(identity), "+inf", now_ms())
        return found

    async def replace_past(self, identity: str, old: bytes, new: bytes) -> None:
        """Replace a note of a finished game, which keeps its end."""
        end: bytes | None = await self._ask("ZSCORE", _past(identity), old)
        if end is not None:
            await self._ask("ZADD", _past(identity), end, new)
            await self._ask("ZREM", _past(identity), old)

    # Rooms that wait for players with the same wish

    async def open_rooms(self, wish: str, most: int) -> dict[str, int]:
        """Return the open rooms of a wish, oldest first, and since when they are open."""
        found = await self._ask("ZRANGE", _open(wish), 0, most - 1, "WITHSCORES")
        return _scored(found)

    def offer(self, wish: str, room: str) -> None:
        """List a room as open, if it is not listed already. The entry may be lost."""
        for command in (
            packed("ZADD", _open(wish), "NX", now_ms(), room),
            packed("PEXPIRE", _open(wish), OPEN_MS),
        ):
            offered = self._log.call(Call(command))
            offered.add_done_callback(lambda offered: offered.cancelled() or offered.exception())

    async def drop(self, wish: str, room: str) -> None:
        """Remove a room from the list of open rooms."""
        await self._ask("ZREM", _open(wish), room)

    async def claim(self, wish: str, claim: str, ms: int) -> bool:
        """Claim the right to create the next room of a wish. Returns whether it was granted."""
        return await self._ask("SET", _claim(wish), claim, "NX", "PX", ms) is not None

    async def settle(self, wish: str, claim: str, room: str = "") -> bool:
        """End a claim, with the new room if there is one. Returns whether the claim still held."""
        keys = (_claim(wish), _open(wish))
        return bool(await self._log.call(run_call(_CLAIM, keys, claim, room, now_ms(), OPEN_MS)))

    # People who were given a seat and are not connected yet

    async def expect(self, who: Expected, ms: int) -> None:
        """Note that a person has this time to come. All notes have one key: while its primary is
        down and others are up, seats are given without a note."""
        call = _come("expect", f"{who.room} {who.identity}", ms)
        if not self._log.is_call_down(call):
            await self._log.call(call)

    async def late(self, lease_ms: int, most: int) -> list[tuple[Expected, int]]:
        """Lease expired notes to this node. Returns them, with the end of the lease."""
        found = await self._log.call(_come("late", lease_ms, most))
        pairs = zip(found[::2], found[1::2], strict=True)
        return [(Expected(*who.decode().split(" ", 1)), int(till)) for who, till in pairs]

    async def settle_expected(self, who: Expected, till: int) -> None:
        """Remove a note, unless its person was given a seat again since."""
        await self._log.call(_come("settle", f"{who.room} {who.identity}", till))

    def _send(self, *command: Argument) -> None:
        """Send a command whose answer does not matter."""
        sent = self._log.call(Call(packed(*command)))
        sent.add_done_callback(lambda sent: sent.cancelled() or sent.exception())

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def _come(*given: Argument) -> Call:
    return run_call(_COMING, (COMING,), *given)


def _mine(identity: str) -> str:
    return f"towerhall:mine:{identity}"


def _invited(identity: str) -> str:
    return f"towerhall:invited:{identity}"


def _past(identity: str) -> str:
    return f"towerhall:past:{identity}"


def _open(wish: str) -> str:
    return f"towerhall:{{quick:{wish}}}:open"


def _claim(wish: str) -> str:
    return f"towerhall:{{quick:{wish}}}:claim"


def _scored(found: list[bytes]) -> dict[str, int]:
    return {room.decode(): int(score) for room, score in zip(found[::2], found[1::2], strict=True)}
