"""Ends of games become slips once, and slips change each person once, wherever a consumer dies."""

import asyncio
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.regulars.games import (
    Killed,
    Table,
    end,
    killed_before,
    person,
    projections,
    some_ends,
)
from towerhall_server.accounts.store import AccountStore
from towerhall_server.cli import projections as on_projections
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.regulars.ends import End
from towerhall_server.regulars.journal import MOST_PAST
from towerhall_server.regulars.reports import Report
from towerhall_server.regulars.service import open_regulars
from towerhall_server.regulars.slips import PLACED_GAMES, SlipBatch
from towerhall_server.store.batch import Call
from towerhall_server.store.slots import slot_of

ENDS = some_ends(7)


@pytest.fixture
def placed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few games are enough for the board."""
    monkeypatch.setattr("towerhall_server.regulars.slips.PLACED_GAMES", 2)


async def expected(log: EventLog, redis: Redis, ends: Sequence[End]) -> dict[str, object]:
    """What a consumer that is never killed makes of the ends."""
    table = Table(log, ends)
    await table.announce()
    await table.settle()
    found = await projections(redis, table.people)
    await redis.flushall()
    return found


async def killed_after(table: Table, calls: int) -> bool:
    """Run a new consumer that dies after that many calls; whether it died."""
    undo = killed_before(table.log, calls)
    try:
        await table.settle()
    except Killed:
        return True
    finally:
        undo()
        # Calls that were sent before the end still reach the store.
        await table.log.ping()
    return False


async def test_a_consumer_that_is_killed_at_any_step_leaves_the_same(
    log: EventLog, redis: Redis, placed_soon: None
) -> None:
    ends = (end(1, "ada", "ben"), end(2, "ben", "ada"))
    wanted = await expected(log, redis, ends)
    assert any(name.startswith("towerhall") for name in wanted), "nobody is on a board"
    calls, died = 0, True
    while died:
        table = Table(log, ends, batch=1)
        await table.announce()
        died = await killed_after(table, calls)
        await table.settle()
        assert await projections(redis, table.people) == wanted, calls
        await redis.flushall()
        calls += 1
    assert calls > 30


async def test_consumers_that_are_killed_one_after_the_other_leave_the_same(
    log: EventLog, redis: Redis, placed_soon: None
) -> None:
    wanted = await expected(log, redis, ENDS)
    for batch in (1, 3):
        table = Table(log, ENDS, batch)
        await table.announce()
        killed = 0
        while await killed_after(table, killed):
            killed += 1
        assert killed > 20
        assert await projections(redis, table.people) == wanted, batch
        await redis.flushall()


async def test_consumers_beside_each_other_change_nothing_twice(
    log: EventLog, redis: Redis, placed_soon: None
) -> None:
    wanted = await expected(log, redis, ENDS)
    table = Table(log, ENDS, batch=2)
    await table.announce()
    consumers = [table.consumer(str(number)) for number in range(4)]
    for _ in range(40):
        await asyncio.gather(*(consumer.step() for consumer in consumers))
    assert await projections(redis, table.people) == wanted


async def test_an_end_that_is_announced_again_is_the_same_end(log: EventLog, redis: Redis) -> None:
    table = Table(log)
    await table.play(end(1, "ada", "ben"), end(2, "ben", "ada"))
    before = await projections(redis, table.people)
    await table.play(end(1, "ada", "ben"))
    assert await projections(redis, table.people) == before
    assert await table.journal.length() == 2


async def test_an_end_waits_for_as_long_as_its_room_cannot_be_read(
    log: EventLog, redis: Redis
) -> None:
    table = Table(log)
    broken = end(1, "ada", "ben")
    read = table.read

    async def fail(room: str) -> None:
        raise ValueError("written by a newer server")

    table.read = fail  # type: ignore[method-assign]
    await table.announce(broken, end(2, "cyd", "dan"))
    await table.settle()
    assert await table.journal.length() == 0
    table.read = read  # type: ignore[method-assign]
    await table.settle()
    assert await table.journal.length() == 2


async def test_a_person_needs_some_rated_games_for_the_board(log: EventLog, redis: Redis) -> None:
    table = Table(log)
    for number in range(1, PLACED_GAMES + 1):
        assert not await redis.keys("*board*")
        await table.play(end(number, "ada", "ben"))
    assert await redis.zcard("towerhall:{ends}:board:five_towers") == 2


@pytest.mark.parametrize("spoilt", [{"rated": False}, {"bot": "easy"}])
async def test_games_that_are_not_rated_change_no_rating(
    log: EventLog, redis: Redis, spoilt: dict[str, object]
) -> None:
    table = Table(log)
    await table.play(end(1, "ada", "ben", **spoilt))  # type: ignore[arg-type]
    sums: Any = await redis.hgetall(f"towerhall:{{p:{await table.handle('ada')}}}:sums")
    assert sums[b"at"] == b"1"
    assert not [name for name in sums if name.startswith(b"rating")]


async def test_a_history_keeps_the_newest_games(
    log: EventLog, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_PAST >= 1000
    monkeypatch.setattr("towerhall_server.regulars.journal.MOST_PAST", 2)
    table = Table(log)
    await table.play(*(end(number, "ada", "ben") for number in (1, 2, 3)))
    past = await redis.lrange(f"towerhall:{{p:{await table.handle('ada')}}}:past", 0, -1)
    assert past == [b"3 five_towers 2", b"2 five_towers 2"]


async def test_a_rebuild_that_is_killed_at_every_step_leaves_the_same(
    log: EventLog, redis: Redis, placed_soon: None
) -> None:
    wanted = await expected(log, redis, ENDS)
    table = Table(log, ENDS, batch=3)
    await table.announce()
    await table.settle()
    ada = await table.handle("ada")
    await redis.hset(f"towerhall:{{p:{ada}}}:sums", "five_towers 2 1", 99)
    await redis.zadd("towerhall:{ends}:board:five_towers", {ada: 99_999, "A" * 11: 1})
    await table.journal.order_rebuild()
    killed = 0
    while await killed_after(table, killed):
        killed += 1
    assert killed > 10
    assert await projections(redis, table.people) == wanted


async def test_a_rebuild_by_the_command_line_leaves_the_same_at_whatever_step_it_is_killed(
    log: EventLog, redis: Redis, placed_soon: None
) -> None:
    """Each step once, always from the beginning: the command is run again, or a server goes on."""
    ends = (end(1, "ada", "ben"), end(2, "ben", "ada"))
    wanted = await expected(log, redis, ends)
    table = Table(log, ends)
    await table.announce()
    await table.settle()
    ada = await table.handle("ada")
    calls, died = 0, True
    while died:
        await redis.hset(f"towerhall:{{p:{ada}}}:sums", "five_towers 2 1", 99)
        await redis.zadd("towerhall:{ends}:board:five_towers", {ada: 99_999, "A" * 11: 1})
        before = (await table.journal.place()).generation
        undo = killed_before(log, calls)
        try:
            await on_projections._rebuild(log, Namespace())
            died = False
        except Killed:
            pass
        finally:
            undo()
        await log.ping()
        place = await table.journal.place()
        is_ordered = bool(place.wiping) or place.generation > before
        if is_ordered and calls % 2:
            await table.settle()
        elif died:
            await on_projections._rebuild(log, Namespace())
        assert await projections(redis, table.people) == wanted, calls
        calls += 1
    assert calls > 20


async def test_a_consumer_from_before_a_rebuild_is_refused(log: EventLog, redis: Redis) -> None:
    table = Table(log)
    await table.play(end(1, "ada", "ben"))
    await table.announce(end(2, "ada", "ben"))
    await table.consumer().note(end(2).code)
    slips = await table.journal.after(1, 1)
    standings = await table.journal.standings(slips[2].handles, ["five_towers"])
    await table.journal.begin(SlipBatch(2, 2, 0, standings))
    place = await table.journal.place()
    await table.journal.order_rebuild()
    late, table.batch = table.consumer("late"), 1
    consumer = table.consumer()
    while (await table.journal.place()).wiping or (await table.journal.place()).number < 1:
        await consumer.step()
    await late.apply(place)
    await consumer.finish()
    again = await projections(redis, table.people)
    await table.journal.order_rebuild()
    await consumer.finish()
    assert await projections(redis, table.people) == again
    assert again["place"] == 2
    assert again[person("ada")]["sums"][b"at"] == b"2"


async def test_names_are_the_newest_of_any_order(log: EventLog, redis: Redis) -> None:
    table = Table(log)
    await table.people.known(person("ada"), "Ada the second", 9_000_000)
    await table.play(end(1, "ada", "ben"))
    who = await table.people.who(await table.handle("ada"))
    assert who is not None
    assert who.name == "Ada the second"


async def test_all_keys_of_a_call_share_a_slot(
    log: EventLog, redis: Redis, placed_soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a cluster takes each call."""
    slots: list[set[int]] = []
    call = log.call

    def noted(wanted: Call) -> Any:
        slots.append(set(map(slot_of, keys_of(wanted.command))))
        return call(wanted)

    monkeypatch.setattr(log, "call", noted)
    table = Table(log, ENDS)
    await table.announce()
    await table.settle()
    await table.journal.order_rebuild()
    await table.consumer().finish()
    regulars = open_regulars(log, LobbyStore(log), AccountStore(log, 86_400))
    ada, ben = await table.handle("ada"), await table.handle("ben")
    await regulars.bonds.befriend(ada, ben)
    await regulars.bonds.block(ben, ada)
    await regulars.people.choose(ada, hidden=True, chat=False)
    await regulars.reports.add("", Report("ABCDEF", person("ada"), person("ben"), "Ben", "chat"))
    who = await regulars.people.who(ada)
    assert who is not None
    await regulars.erasure.export(who)
    await regulars.profiles.leaderboard("five_towers", 1, 10)
    await regulars.erasure.erase(person("ada"))
    assert len(slots) > 100
    assert all(len(found) == 1 for found in slots)
    assert len(set.union(*slots)) > 5, "people are spread over slots"


def keys_of(command: bytes) -> list[bytes]:
    """The keys of a packed command: all that a script or DEL names, else the first argument."""
    parts = command.split(b"\r\n")[2::2]
    if parts[0] in (b"EVALSHA", b"EVAL"):
        return parts[3 : 3 + int(parts[2])]
    return parts[1:] if parts[0] == b"DEL" else parts[1:2]
