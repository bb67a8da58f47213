"""Export of all that is kept of a person, and erasure.

Both list the same places. Erasure may be interrupted and repeated: the way from the id to the
handle is closed first, and its mark keeps the handle until everything else is gone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec

from towerhall_server.accounts.store import AccountStore
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.pushes import PushStore
from towerhall_server.live.chat import unsay
from towerhall_server.regulars.bonds import Bonds
from towerhall_server.regulars.journal import MOST_PAST
from towerhall_server.regulars.keys import GAMES, board_key
from towerhall_server.regulars.people import PeopleStore, Who
from towerhall_server.regulars.profiles import Profiles, Wish
from towerhall_server.regulars.reports import Reports
from towerhall_server.regulars.slips import Slip
from towerhall_server.room.state import Room
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import packed

logger = logging.getLogger(__name__)

MOST_ROOMS: Final = 200
ReadRoom = Callable[[str], Awaitable[Room | None]]
"""Returns a room that still exists."""


async def no_room(code: str) -> None:
    """Find no room: for programs that erase no one."""


class Erasure:
    """All places that hold something of a person."""

    def __init__(
        self,
        log: EventLog,
        lobby: LobbyStore,
        people: PeopleStore,
        profiles: Profiles,
        bonds: Bonds,
        reports: Reports,
        accounts: AccountStore,
        pushes: PushStore,
        read_room: ReadRoom,
    ) -> None:
        self._log, self._lobby, self._people, self._pushes = log, lobby, people, pushes
        self._profiles, self._bonds, self._reports = profiles, bonds, reports
        self._accounts, self._read_room = accounts, read_room

    async def export(self, who: Who) -> dict[str, object]:
        """Return all that is kept of a person besides the own profile, for that person."""
        handle = who.handle
        past = await self._profiles.history(who, Wish(most=MOST_PAST), handle)
        reports = await self._reports.of(who.id)
        return {
            "games": past["games"],
            "people": await self._bonds.lists(handle),
            # Who has reported the person is not theirs to know, nor the id of anybody else.
            "reports": [
                _without_ids(msgspec.to_builtins(report))
                for _, report in reports
                if report.by == who.id
            ],
            "rooms": sorted(await self._lobby.remembered(who.id, MOST_ROOMS)),
        }

    async def devices(self, identity: str) -> list[dict[str, object]]:
        """Return the devices of a person that are told by push, for that person."""
        return [
            {"endpoint": each.endpoint, "language": each.language, "since": each.since_ms}
            for each in await self._pushes.of(identity)
        ]

    async def erase(self, identity: str) -> None:
        """Erase a person. Other people keep their games, with a player without a name."""
        handle = await self._people.begin_erasing(identity)
        if handle:
            games: list[Any] = await self._log.call(Call(packed("SMEMBERS", GAMES)))
            await asyncio.gather(
                *(
                    self._log.call(Call(packed("ZREM", board_key(game.decode()), handle)))
                    for game in games
                )
            )
            await self._forget_among_others(handle)
        await self._unsay(identity)
        for operator, report in await self._reports.of(identity):
            await self._reports.settle(operator, report.number)
        await self._lobby.forget_all(identity)
        await self._accounts.erase(identity)
        await self._pushes.forget(identity)
        await self._people.end_erasing(identity, handle)

    async def _forget_among_others(self, handle: str) -> None:
        """Take a person off the lists of others, and the name out of their notes of games."""
        slips = await self._profiles.slips(handle)
        others = {each for slip in slips for each in slip.handles if each != handle}
        await self._bonds.forget(handle, others)
        seats = {slip.code: _seat_of(slip, handle) for slip in slips}
        people = await self._people.all_of(others)
        await asyncio.gather(*(self._unname(who.id, seats) for who in people.values()))

    async def _unname(self, other: str, seats: Mapping[str, int]) -> None:
        """Empty the name of a seat, by code of room, in another person's notes of games."""
        for note in await self._lobby.past(other):
            game = msgspec.json.decode(note)
            if game["code"] in seats:
                game["names"][seats[game["code"]]] = ""
                await self._lobby.replace_past(other, note, msgspec.json.encode(game))

    async def _unsay(self, identity: str) -> None:
        """Remove the lines of chat of a person in the rooms where they have or had a place."""
        for code in await self._lobby.remembered(identity, MOST_ROOMS):
            try:
                room = await self._read_room(code)
            except StoreError:
                raise
            except Exception as error:  # noqa: BLE001 - a room of another version, or a damaged one
                logger.warning("room %s keeps the chat of an erased person: %s", code, error)
                continue
            if room is not None and room.table.aliased:
                await unsay(self._log, code, room.alias_of(identity))


def _without_ids(report: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in report.items() if name not in ("by", "person")}


def _seat_of(slip: Slip, handle: str) -> int:
    """The seat of a person in a finished game: at its end, all seats are taken."""
    return next(seat for seat, hand in enumerate(slip.hands) if hand.handle == handle)
