"""Export of all that is kept of a person, and erasure.

Both list the same places. Erasure may be interrupted and repeated: the way from the id to the
handle is closed first, and its mark keeps the handle until everything else is gone.
"""

import asyncio
from typing import Any

import msgspec

from towerhall_server.accounts.store import AccountStore
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.pushes import PushStore
from towerhall_server.regulars.bonds import Bonds
from towerhall_server.regulars.journal import MOST_PAST
from towerhall_server.regulars.keys import GAMES, board_key
from towerhall_server.regulars.people import PeopleStore, Who
from towerhall_server.regulars.profiles import Profiles, Wish
from towerhall_server.regulars.reports import Reports
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import packed

MOST_ROOMS = 100


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
    ) -> None:
        self._log, self._lobby, self._people, self._pushes = log, lobby, people, pushes
        self._profiles, self._bonds, self._reports = profiles, bonds, reports
        self._accounts = accounts

    async def export(self, who: Who) -> dict[str, object]:
        """Return all that is kept of a person besides the own profile, for that person."""
        handle = who.handle
        past = await self._profiles.history(who, Wish(most=MOST_PAST), handle)
        reports = await self._reports.of(who.id)
        return {
            "games": past["games"],
            "people": await self._bonds.lists(handle),
            # Who has reported the person is not theirs to know.
            "reports": [
                {name: value for name, value in msgspec.to_builtins(report).items() if name != "by"}
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
        for operator, report in await self._reports.of(identity):
            await self._reports.settle(operator, report.number)
        await self._lobby.forget_all(identity)
        await self._accounts.erase(identity)
        await self._pushes.forget(identity)
        await self._people.end_erasing(identity, handle)
