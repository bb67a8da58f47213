"""Whose rooms are whose: a soft list in the store, and the truth in the rooms."""

import asyncio

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import DUEL, FakeViewer, LiveNode, begin
from tests.proxy.store import Proxy
from towerhall_server.eventlog import lobby as store
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live.directory import PoisonedRoomError
from towerhall_server.lobby import my_rooms
from towerhall_server.lobby.my_rooms import rooms_of
from towerhall_server.room import steps
from towerhall_server.room.events import Settings
from towerhall_server.room.gate import key_hash
from towerhall_server.room.steps import Plan
from towerhall_server.store.errors import StoreError

ANN = FakeViewer("ann").owner.id
BOB = FakeViewer("bob").owner.id
KEY = f"towerhall:mine:{ANN}"


async def noted(shelf: LobbyStore, identity: str, *codes: str) -> None:
    for code in codes:
        shelf.remember(identity, code)
    while set(await shelf.remembered(identity, 50)) < set(codes):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)


async def test_it_is_told_where_somebody_sits_and_whose_turn_it_is(
    one: LiveNode, other: LiveNode
) -> None:
    shelf = LobbyStore(one.log)
    waiting = await FakeViewer("ann").enter(await one.found(DUEL, 3))
    ann = await FakeViewer("ann").enter(await one.found(DUEL, 2, turn_seconds=60))
    bob = await other.enter(ann.code, "bob")
    await begin(ann, bob)
    await noted(shelf, ANN, ann.code, waiting.code)
    await noted(shelf, BOB, ann.code, waiting.code)
    acting = ann if ann.replay.offers else bob
    for node in (one, other):
        rooms = {
            identity: await rooms_of(node.directory, LobbyStore(node.log), identity)
            for identity in (ANN, BOB)
        }
        assert {room["code"] for room in rooms[ANN]} == {ann.code, waiting.code}
        # Bob only looked at the other one.
        assert [room["code"] for room in rooms[BOB]] == [ann.code]
        seat = acting.replay.seat
        for client, identity in ((ann, ANN), (bob, BOB)):
            (game,) = [room for room in rooms[identity] if room["code"] == ann.code]
            assert game["to_act"] == (seat,)
            assert game["your_turn"] is (client is acting)
            assert game["seat"] == client.replay.seat
            assert 0 < int(str(game["left_ms"])) <= 60_000
            assert ("host" in game) is (client is ann)
        first = rooms[ANN][0]
        assert first["your_turn"] is (acting is ann)


async def test_rooms_that_are_gone_are_forgotten_and_lately_taken_places_are_not(
    one: LiveNode, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = LobbyStore(one.log)
    room = await one.found(DUEL, 2)
    await noted(shelf, BOB, room.code, "ZZZZZZ")
    assert await rooms_of(one.directory, shelf, BOB) == []
    assert list(await shelf.remembered(BOB, 50)) == [room.code]
    monkeypatch.setattr(my_rooms, "NEW_MS", -1)
    assert await rooms_of(one.directory, shelf, BOB) == []
    assert await shelf.remembered(BOB, 50) == {}


async def test_a_room_that_cannot_be_read_here_is_kept_for_others(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = LobbyStore(one.log)
    room = await one.found(DUEL, 2)
    await noted(shelf, ANN, room.code)

    async def poisoned(code: str) -> None:
        raise PoisonedRoomError(code)

    monkeypatch.setattr(one.directory, "open", poisoned)
    assert await rooms_of(one.directory, shelf, ANN) == []
    assert list(await shelf.remembered(ANN, 50)) == [room.code]


async def test_so_many_are_kept_and_the_latest_come_first(
    one: LiveNode, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = LobbyStore(one.log)
    clock = iter(range(1000))
    monkeypatch.setattr(store, "now_ms", lambda: next(clock))
    monkeypatch.setattr(store, "MOST_MINE", 5)
    codes = [f"ROOM{number:02}" for number in range(9)]
    for code in codes:
        shelf.remember(ANN, code)
    while await redis.zscore(KEY, codes[-1]) is None:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    assert list(await shelf.remembered(ANN, 50)) == codes[:3:-1]
    assert list(await shelf.remembered(ANN, 2)) == codes[:-3:-1]
    assert await redis.pttl(KEY) > 0


async def test_a_store_that_does_not_answer_is_told(one: LiveNode, proxy: Proxy) -> None:
    async with EventLog(proxy.url) as log:
        shelf = LobbyStore(log)
        await noted(shelf, ANN, "AAAAAA")
        proxy.lose_share = 1.0
        with pytest.raises(StoreError):
            await rooms_of(one.directory, shelf, ANN)
        shelf.remember(ANN, "BBBBBB")  # which nobody waits for
        await asyncio.sleep(0.05)
        proxy.lose_share = 0.0


async def test_a_link_is_good_once_for_one_and_for_a_while(one: LiveNode, redis: Redis) -> None:
    shelf = LobbyStore(one.log)
    await shelf.links.keep("code", b"who", 60_000)
    assert not any(b"code" in key for key in await redis.keys("*"))
    taken = await asyncio.gather(*(shelf.links.take("code") for _ in range(10)))
    assert taken.count(b"who") == 1
    await shelf.links.keep("short", b"who", 20)
    await asyncio.sleep(0.05)
    assert await shelf.links.take("short") is None
    assert await shelf.links.take("") is None


async def test_a_room_that_was_put_back_is_everybodys_again_who_has_a_place(
    one: LiveNode, redis: Redis
) -> None:
    shelf = LobbyStore(one.log)
    ann = await FakeViewer("ann").enter(await one.found(DUEL, 3))
    bob = await one.enter(ann.code, "bob")
    await bob.do("sit")
    await ann.do("add_bot", level="easy")
    assert await redis.keys("towerhall:mine:*") == []
    my_rooms.note_again(ann.room.follower.room, shelf)
    await noted(shelf, ANN, ann.code)
    await noted(shelf, BOB, ann.code)
    assert len(await redis.keys("towerhall:mine:*")) == 2


async def test_a_finished_game_stays_for_its_people_when_its_room_is_gone(
    one: LiveNode, redis: Redis
) -> None:
    shelf = LobbyStore(one.log)
    ann = await FakeViewer("ann").enter(await one.found(DUEL, 2))
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    before = ann.room.follower.room
    await bob.do("resign")
    after = ann.room.follower.room
    assert after.table.status == "over"
    my_rooms.note_over(before, after, shelf, 30)
    my_rooms.note_over(after, after, shelf, 30)  # a rematch, say: it ended before
    while len(await shelf.past(ANN)) + len(await shelf.past(BOB)) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    (game,) = await rooms_of(one.directory, shelf, BOB)
    assert (game["code"], game["seat"], game["gone"]) == (ann.code, 1, True)
    assert (game["status"], game["your_turn"]) == ("over", False)
    # As long as the room is there, it is listed once, as a room.
    await noted(shelf, ANN, ann.code)
    (room,) = await rooms_of(one.directory, shelf, ANN)
    assert "gone" not in room
    assert room["host"] is True
    kept_ms = await redis.pttl(f"towerhall:past:{BOB}")
    assert 29 * store.DAY_MS < kept_ms <= 30 * store.DAY_MS


async def test_so_many_finished_games_are_kept(one: LiveNode) -> None:
    shelf = LobbyStore(one.log)
    for number in range(store.MOST_PAST + 5):
        shelf.note_over(ANN, str(number).encode(), 60_000 + number)
    latest = list(range(store.MOST_PAST + 5))[: -store.MOST_PAST - 1 : -1]
    async with asyncio.timeout(10):
        while [*map(int, await shelf.past(ANN))] != latest:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


def test_the_host_of_a_private_room_needs_neither_key_nor_seat() -> None:
    preset = FIVE_TOWERS.presets["standard"]
    plan = Plan(FIVE_TOWERS, preset, 2, Settings(), "host", key_hash("key"), aliased=True)
    table = steps.found(plan, "ABCDEF", bytes(16), bytes(64)).after.table
    assert my_rooms.admits(table, "host", "")
    assert my_rooms.admits(table, "another", "key")
    assert not my_rooms.admits(table, "another", "")
