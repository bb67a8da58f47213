"""What concerns one person, in all rooms and through any node."""

import asyncio
from typing import Any

import msgspec
import pytest

from tests.live.live_rooms import DUEL, FakeViewer, begin
from tests.lobby.following import Follower, Following, follow, following, now
from tests.proxy.store import Proxy
from tests.room.pure_rooms import id_of
from towerhall_protocol.lobby import LobbyReset
from towerhall_protocol.messages import ServerGo, ServerPaused
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.notifications import Concerned, Followed, Missed
from towerhall_server.frames import Prepared
from towerhall_server.lobby import draining
from towerhall_server.lobby import events as module
from towerhall_server.lobby.events import MOST_PLACES, Events

ANN, BOB, EVE = (id_of(name) for name in ("ann", "bob", "eve"))


async def game(one: Following, *, bob_at: Following | None = None) -> tuple[FakeViewer, FakeViewer]:
    """Ann and Bob, who play. Their rooms are noted as the gateway does."""
    ann = await FakeViewer("ann").enter(await one.live.found(DUEL, 2))
    there = bob_at or one
    bob = await FakeViewer("bob").enter(await there.live.open(ann.code))
    one.store.remember(ANN, ann.code)
    one.store.remember(BOB, ann.code)
    await begin(ann, bob)
    return ann, bob


def turns(follower: Follower) -> list[str]:
    return [code for code, place in follower.rooms.items() if place.get("your_turn")]


async def move(ann: FakeViewer, bob: FakeViewer) -> None:
    """One of them moves, whose turn it is."""
    (seat,) = ann.room.follower.room.to_act()
    await (ann if ann.replay.seat == seat else bob).move()


async def agree(player: FakeViewer, follower: Follower) -> None:
    """Wait until a list says of a room what the room says."""
    acting = player.replay.seat in player.room.follower.room.to_act()
    await follower.until(lambda rooms: bool(rooms[player.code].get("your_turn")) is acting)


async def test_first_all_places_and_then_each_turn(url: str) -> None:
    async with following(url, "one") as one:
        ann, bob = await game(one)
        mine, his = await follow(one, ANN), await follow(one, BOB)
        assert set(mine.rooms) == set(his.rooms) == {ann.code}
        assert mine.rooms[ann.code]["host"] is True
        assert his.rooms[ann.code]["seat"] == bob.replay.seat
        for _ in range(5):
            await move(ann, bob)
            for player, follower in ((ann, mine), (bob, his)):
                await agree(player, follower)
        # A turn is told by one key, and the moves of others are not told.
        assert {str(patch) for patch in mine.patches} == {
            str({"rooms": {ann.code: {"your_turn": told}}}) for told in (True, None)
        }


async def test_turns_come_through_a_node_that_serves_no_room_of_the_person(url: str) -> None:
    async with following(url, "one") as one, following(url, "two") as two:
        ann, bob = await game(one)
        his = await follow(two, BOB)
        one.events.hear(Followed("two", frozenset({BOB}), all=True))
        await two.live.directory.close("restart")
        for _ in range(5):
            await move(ann, bob)
            await agree(bob, his)
        assert len(two.live.directory) == 0


async def test_nodes_tell_each_other_who_follows(url: str) -> None:
    async with following(url, "one") as one, following(url, "two") as two:
        follower = Follower(two.events, BOB)
        async with asyncio.timeout(10):
            while BOB not in one.events._followed:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
            two.events.tell_followed()
            follower.leave()
            two.events.tell_followed()
            while BOB in one.events._followed:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)


async def test_the_followers_of_a_silent_node_are_dropped(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with following(url, "one", listens=False) as one:
        one.events.hear(Followed("two", frozenset({BOB}), all=False))
        one.events.hear(Followed("two", frozenset({EVE}), all=False))
        one.events.hear(Followed("one", frozenset({ANN}), all=True))
        assert one.events._followed == {BOB, EVE}
        one.events.hear(Followed("two", frozenset({EVE}), all=True))
        assert one.events._followed == {EVE}
        monkeypatch.setattr(module, "SILENT_SECONDS", -1.0)
        one.events.tell_followed()
        assert one.events._followed == frozenset()


async def test_an_invitation_a_seat_and_being_sent_away_are_told(url: str) -> None:
    async with following(url, "one") as one:
        ann = await FakeViewer("ann").enter(await one.live.found(DUEL, 3))
        his = await follow(one, BOB)
        room = ann.room.follower.room
        await ann.do("invite", id=room.alias_of(BOB))
        await his.until(lambda rooms: rooms.get(ann.code, {}).get("invited"))
        bob = await FakeViewer("bob").enter(ann.room)
        await bob.do("sit", seat=2)
        await his.until(lambda rooms: rooms[ann.code].get("seat") == 2)
        assert "invited" not in his.rooms[ann.code]
        await ann.do("kick", seat=2)
        await his.until(lambda rooms: rooms[ann.code].get("kicked"))
        again = await follow(one, BOB)
        assert again.rooms == his.rooms
        await ann.do("admit", id=room.alias_of(BOB))
        await his.until(lambda rooms: ann.code not in rooms)


async def test_an_invitation_waits_for_who_comes_later(url: str) -> None:
    async with following(url, "one") as one, following(url, "two") as two:
        ann = await FakeViewer("ann").enter(await one.live.found(DUEL, 3))
        await ann.do("invite", id=ann.room.follower.room.alias_of(BOB))
        his = await follow(two, BOB)
        await his.until(lambda rooms: rooms.get(ann.code, {}).get("invited"))


async def test_an_invitation_by_a_blocked_host_is_not_told_here_or_later(url: str) -> None:
    asked: list[tuple[str, str]] = []

    async def shuns(person: str, host: str) -> bool:
        asked.append((person, host))
        return person == BOB

    async with following(url, "one", shuns=shuns) as one, following(url, "two") as two:
        ann = await FakeViewer("ann").enter(await one.live.found(DUEL, 3))
        room = ann.room.follower.room
        his, hers = await follow(one, BOB), await follow(one, EVE)
        for person in (BOB, EVE):
            await ann.do("invite", id=room.alias_of(person))
        await ann.do("sit")
        await hers.until(lambda rooms: rooms.get(ann.code, {}).get("taken") == 1)
        elsewhere = await follow(two, BOB)
        assert not his.rooms
        assert not elsewhere.rooms
        assert {host for _, host in asked} == {ANN}
        await (await FakeViewer("bob").enter(ann.room)).do("sit")
        await his.until(lambda rooms: "seat" in rooms.get(ann.code, {}))


async def test_the_end_is_told_with_the_place(url: str) -> None:
    async with following(url, "one") as one:
        ann, _ = await game(one)
        his = await follow(one, BOB)
        await ann.do("resign")
        await his.until(lambda rooms: rooms[ann.code]["status"] == "over")
        assert his.rooms[ann.code]["closed"] == "resigned"
        assert his.rooms[ann.code]["place"] == 1


async def test_others_hear_nothing(url: str) -> None:
    async with following(url, "one") as one:
        eve = await follow(one, EVE)
        ann, bob = await game(one)
        await move(ann, bob)
        await asyncio.sleep(0)
        assert eve.patches == []
        assert eve.rooms == {}


async def test_a_commit_costs_nothing_where_nobody_follows(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unused(*args: Any) -> Any:
        raise AssertionError("nobody follows")

    monkeypatch.setattr(module, "people_of", unused)
    async with following(url, "one", listens=False) as one:
        ann, bob = await game(one)
        await move(ann, bob)


async def test_lost_news_are_found_in_the_log_and_other_rooms_stay_closed(url: str) -> None:
    async with following(url, "one") as one, following(url, "two", listens=False) as two:
        still = await FakeViewer("bob").enter(await one.live.found(DUEL, 3))
        one.store.remember(BOB, still.code)
        await still.do("sit")
        ann, bob = await game(one)
        his = await follow(two, BOB)
        await two.live.directory.close("restart")
        was = bool(turns(his))
        await move(ann, bob)
        two.events.hear(Missed())
        for _ in range(50):  # its own copy may be behind, and then it looks again
            await two.events.look()
            now(his.feed)
            if bool(turns(his)) is not was:
                break
            await asyncio.sleep(0.02)
        assert bool(turns(his)) is not was
        assert [actor.code for actor in two.live.directory] == [ann.code]


async def test_a_room_that_is_gone_leaves_the_list(url: str) -> None:
    async with following(url, "one") as one:
        ann = await FakeViewer("ann").enter(await one.live.found(DUEL, 3))
        one.store.remember(ANN, ann.code)
        mine = await follow(one, ANN)
        assert set(mine.rooms) == {ann.code}
        replica = ann.room.follower.replica
        await one.live.log.remove(ann.code, replica.point)
        now(mine.feed)
        await one.events.look()
        await mine.until(lambda rooms: not rooms)
        assert await one.store.places(ANN) == {}


async def test_a_later_place_wins_and_an_older_one_is_dropped(url: str) -> None:
    async with following(url, "one", listens=False) as one:
        his = await follow(one, BOB)
        late, early = (
            msgspec.json.encode({"code": "ROOMAA", "status": status})
            for status in ("over", "playing")
        )
        one.events.hear(Concerned(BOB, "ROOMAA", 9, late))
        one.events.hear(Concerned(BOB, "ROOMAA", 8, early))
        await his.until(lambda rooms: rooms)
        assert his.rooms["ROOMAA"]["status"] == "over"
        one.events.hear(Concerned(BOB, "ROOMAA", 10, b"null"))
        await his.until(lambda rooms: not rooms)
        one.events.hear(Concerned(ANN, "ROOMAA", 11, late))
        assert his.rooms == {}


async def test_news_during_a_read_win_over_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with following(url, "one") as one:
        ann = await FakeViewer("ann").enter(await one.live.found(DUEL, 3))
        one.store.remember(ANN, ann.code)
        mine = await follow(one, ANN)
        open_room = mine.feed._open

        async def slowly(code: str) -> Any:
            actor = await open_room(code)
            mine.feed.take(code, 99, {"code": code, "status": "over"})
            return actor

        mine.feed._open = slowly
        await ann.do("sit")
        mine.feed._known.clear()
        now(mine.feed)
        await one.events.look()
        await mine.until(lambda rooms: rooms[ann.code]["status"] == "over")


async def test_the_list_is_bounded_and_says_how_many_there_are_more(url: str) -> None:
    async with following(url, "one", listens=False) as one:
        his = await follow(one, BOB)
        for number in range(MOST_PLACES + 9):
            status = "over" if number % 2 else "playing"
            turn = {"your_turn": True} if number == 0 else {}
            his.feed.take(f"R{number:05}", 1, {"status": status, **turn})
        await his.until(lambda rooms: rooms)
        assert len(his.rooms) == MOST_PLACES
        assert his.list["more"] == 9
        assert "R00000" in his.rooms
        assert sum(place["status"] == "playing" for place in his.rooms.values()) == 130
        for number in range(3 * MOST_PLACES):
            his.feed.take(f"S{number:05}", 1, {"status": "over"})
        assert len(his.feed._known) == 2 * MOST_PLACES


async def test_a_slow_viewer_gets_everything_anew(url: str) -> None:
    async with following(url, "one", listens=False) as one:
        his = await follow(one, BOB)
        heard: list[Prepared] = []
        his.feed.take("ROOMAA", 1, {"status": "over"})
        await his.until(lambda rooms: rooms)
        his.send = lambda message, *more: heard.append(message)  # type: ignore[method-assign]
        his.feed.resync(his)
        his.feed.resync(his)
        assert heard[0] is heard[1]
        assert heard[0].message == LobbyReset({"rooms": {"ROOMAA": {"status": "over"}}})
        his.leave()
        his.feed.resync(his)
        assert len(heard) == 2


async def test_an_outage_is_told_and_its_end(url: str, proxy: Proxy) -> None:
    async with EventLog(proxy.url) as log:
        events = Events(log.node, LobbyStore(log), lambda code: asyncio.sleep(0))
        his = await Follower(events, BOB).enter()
        heard: list[Any] = []
        his.send = lambda message, *more: heard.append(message.message)  # type: ignore[method-assign]
        proxy.lose_share = 1.0
        now(his.feed)
        await events.look()
        proxy.lose_share = 0.0
        now(his.feed)
        await events.look()
        assert heard == [ServerPaused(True), ServerPaused(False)]
        events.close("restart")


async def test_viewers_are_sent_on_and_the_last_one_ends_the_feed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with following(url, "one", listens=False) as one:
        monkeypatch.setattr(draining, "CLOSING_SECONDS", 0.0)
        first, second = await follow(one, BOB), await follow(one, BOB)
        assert first.feed is second.feed
        assert len(one.events) == 2
        heard: list[Any] = []
        first.send = lambda message, *more: heard.append(message.message)  # type: ignore[method-assign]
        await one.events.drain(0)
        assert heard == [ServerGo(0)]
        assert (first.closed, second.closed) == ("restart", "restart")
        first.leave()
        second.leave()
        assert len(one.events) == 0
        assert one.events._feeds == {}


async def test_a_read_that_is_given_up_harms_nobody(url: str) -> None:
    async with following(url, "one", listens=False) as one:
        his = await follow(one, BOB)
        now(his.feed)
        looking = asyncio.create_task(one.events.look())
        await asyncio.sleep(0)
        his.leave()
        await looking
