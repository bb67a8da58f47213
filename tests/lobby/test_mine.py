"""Whose rooms are whose: a soft list in the store, and the truth in the rooms."""

import asyncio

import pytest
from redis.asyncio import Redis

from tests.eventlog.proxy import Proxy
from tests.room.live_rooms import DUEL, FakeViewer, LiveNode, begin
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.eventlog.log import EventLog
from towerhall_server.lobby import mine, store
from towerhall_server.lobby.mine import rooms_of
from towerhall_server.lobby.store import LobbyStore
from towerhall_server.room.directory import PoisonedRoomError

ANN = FakeViewer("ann").person.id
BOB = FakeViewer("bob").person.id
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
    monkeypatch.setattr(mine, "NEW_MS", -1)
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
    await shelf.keep_link("code", b"who", 60_000)
    assert not any(b"code" in key for key in await redis.keys("*"))
    taken = await asyncio.gather(*(shelf.take_link("code") for _ in range(10)))
    assert taken.count(b"who") == 1
    await shelf.keep_link("short", b"who", 20)
    await asyncio.sleep(0.05)
    assert await shelf.take_link("short") is None
    assert await shelf.take_link("") is None
