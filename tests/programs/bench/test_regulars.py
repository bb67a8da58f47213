"""The store that the benchmark fills is one that the consumer could have left."""

from pathlib import Path
from typing import Any

import pytest

from tests.programs.bench import regulars
from tests.programs.bench.regulars_store import Filling, Stream, handle_of
from tests.store.engines import client, started
from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.consumer import Consumer
from towerhall_server.regulars.journal import Journal
from towerhall_server.regulars.keys import person_keys
from towerhall_server.regulars.people import PeopleStore

ACCOUNTS, GAMES = 30, 150


async def kept(redis: Any) -> dict[str, object]:
    """All that games make of each person. Ratings are drawn by chance, so their values are not in
    it."""
    found: dict[str, object] = {}
    for number in range(ACCOUNTS):
        keys = person_keys(handle_of(number))
        sums = await redis.hgetall(keys.sums)
        sums.pop(b"generation", None)
        found[keys.sums] = {
            name: value.split()[2] if name.startswith(b"rating") else value
            for name, value in sums.items()
        }
        found[keys.past] = await redis.lrange(keys.past, 0, -1)
        found[keys.met] = await redis.zrange(keys.met, 0, -1, withscores=True)
    for board in sorted(await redis.keys("*board*")):
        found[board] = sorted(await redis.zrange(board, 0, -1))
    return found


async def test_a_rebuild_of_the_filled_journal_makes_what_was_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More opponents and games than are kept, so that both lists are cut."""
    for module in ("tests.programs.bench.regulars_store", "towerhall_server.regulars.journal"):
        monkeypatch.setattr(f"{module}.MOST_MET", 7)
        monkeypatch.setattr(f"{module}.MOST_PAST", 20)

    async def no_room(code: str) -> None:
        raise NotImplementedError

    async with started("valkey", tmp_path) as url, client(url) as redis, EventLog(url) as log:
        filling = Filling(ACCOUNTS, GAMES)
        with Stream(url) as send:
            filling.accounts(send)
            filling.journal(send)
            filling.projections(send)
        wanted = await kept(redis)
        assert len(wanted) == 3 * ACCOUNTS + 2
        journal = Journal(log)
        await journal.order_rebuild()
        await Consumer(journal, PeopleStore(log), no_room, "test").finish()
        assert await kept(redis) == wanted


async def test_a_command_that_the_store_refuses_fails_the_filling(tmp_path: Path) -> None:
    async with started("valkey", tmp_path) as url:
        with pytest.raises(AssertionError, match="errorstat_ERR"), Stream(url) as send:
            send("XADD", "a stream")


def test_all_figures_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"ACCOUNTS": 400, "GAME_COUNT": 3000, "READS": 20, "APPLIED": 50, "KNOWN_UIDS": 1000}
    for name, value in sizes.items():
        monkeypatch.setattr(regulars, name, value)
    figures = {figure.name: figure.value for figure in regulars.measure()}
    assert len(figures) == 15
    assert all(value > 0 for value in figures.values())
