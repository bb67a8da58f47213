"""The same projections behind sentinels and on a cluster as on one engine."""

from typing import Any

from tests.eventlog.conftest import log
from tests.eventlog.several.conftest import engine_url, group, redis
from tests.regulars.games import Table, person, some_ends
from towerhall_server.accounts.store import AccountStore
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.profiles import Wish
from towerhall_server.regulars.service import open_regulars

__all__ = ["engine_url", "group", "log", "redis"]
ENDS = some_ends(12)


async def test_games_are_applied_rebuilt_and_erased_on_stores_of_several_engines(
    log: EventLog, redis: Any
) -> None:
    table = Table(log, ENDS, batch=4)
    await table.announce()
    await table.settle()
    regulars = open_regulars(log, LobbyStore(log), AccountStore(log, 86_400))
    ada = await regulars.people.who(await table.handle("ada"))
    assert ada is not None
    before = await regulars.profiles.profile(ada)
    games = [end for end in ENDS if person("ada") in [seat.identity for seat in end.seats]]
    history = await regulars.profiles.history(ada, Wish(most=50), ada.handle)
    assert isinstance(history["games"], list)
    assert len(history["games"]) == len(games) > 3
    await table.journal.order_rebuild()
    await table.consumer().finish()
    assert await regulars.profiles.profile(ada) == before
    await regulars.erasure.erase(person("ada"))
    assert await regulars.people.who(ada.handle) is None
