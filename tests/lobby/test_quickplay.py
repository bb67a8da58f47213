"""Quickplay on real stores, with two nodes: who wants the same meets, whatever happens."""

import asyncio
from functools import partial

import msgspec
import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import DUEL, FakeViewer, LiveNode
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.game import AnyGame
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.lobby import arrivals, caller, quickplay
from towerhall_server.lobby.caller import ask
from towerhall_server.lobby.quickplay import Quickplay, Seated, offer_again, wish_of
from towerhall_server.room.events import Settings
from towerhall_server.room.seats import Person
from towerhall_server.room.steps import Plan
from towerhall_server.store.errors import StoreError


def person(name: str) -> Person:
    return FakeViewer(name).owner


def plan(name: str, seats: int = 2, turn_seconds: int = 0) -> Plan:
    settings = Settings(turn_seconds, bot_delay_ms=0)
    return Plan(DUEL, DUEL.presets["standard"], seats, settings, person(name).id)


class At:
    """Quickplay on one node."""

    def __init__(self, node: LiveNode) -> None:
        self.node = node
        self.store = LobbyStore(node.log)
        self.quickplay = Quickplay(node.directory, self.store)

    async def seat(self, name: str, **wanted: int) -> Seated:
        return await self.quickplay.seat(plan(name, **wanted), person(name))


@pytest.fixture
def here(one: LiveNode) -> At:
    return At(one)


@pytest.fixture
def there(other: LiveNode) -> At:
    return At(other)


def shares(found: list[Seated]) -> list[int]:
    """How many are in each room."""
    codes = [seated.code for seated in found]
    return sorted(codes.count(code) for code in set(codes))


async def test_two_who_ask_at_the_same_moment_on_two_nodes_meet(here: At, there: At) -> None:
    for number in range(10):
        ann, bob = await asyncio.gather(here.seat(f"ann {number}"), there.seat(f"bob {number}"))
        assert ann.code == bob.code
        assert {ann.seat, bob.seat} == {0, 1}


async def test_many_at_once_fill_room_after_room(here: At, there: At) -> None:
    found = await asyncio.gather(
        *((here, there)[number % 2].seat(f"person {number}", seats=4) for number in range(24))
    )
    assert shares(found) == [4] * 6
    assert len({(seated.code, seated.seat) for seated in found}) == 24


async def test_a_window_that_is_open_gets_the_seat_and_is_not_closed(here: At, there: At) -> None:
    ann = await here.seat("ann")
    for node in (here.node, there.node):
        bob = await node.enter(ann.code, f"bob at {node.log.node}")
        seated = await there.quickplay.seat(plan("ann", seats=2), bob.owner)
        assert seated.code == ann.code
        await bob.until(partial(is_seated, bob))
        assert bob.replay.seat == seated.seat
        assert bob.closed is None
        await bob.do("stand")


def is_seated(viewer: FakeViewer) -> bool:
    return viewer.replay.seat is not None


async def test_only_those_who_want_the_same_meet(here: At, there: At) -> None:
    found = [
        await here.seat("ann"),
        await there.seat("bob", seats=3),
        await here.seat("cyd", turn_seconds=30),
        await there.seat("dan", seats=3),
    ]
    assert found[1].code == found[3].code
    assert shares(found) == [1, 1, 2]
    towers: AnyGame = FIVE_TOWERS
    wishes = {
        wish_of(Plan(towers, towers.presets[name], 2, Settings(), "host"))
        for name in ("standard", "printed", "spanish")
    }
    assert len(wishes) == 3


async def test_people_who_shun_each_other_are_not_seated_together(here: At, there: At) -> None:
    asked: list[str] = []

    async def shunned(identity: str) -> frozenset[str]:
        asked.append(identity)
        return frozenset({person("ann").id}) if identity == person("bob").id else frozenset()

    ann = await here.seat("ann")
    there.quickplay = Quickplay(there.node.directory, there.store, shunned)
    bob = await there.seat("bob")
    assert bob.code != ann.code
    assert await there.seat("bob") == bob
    assert (await there.seat("cyd")).code == ann.code
    assert asked == [person(name).id for name in ("bob", "bob", "cyd")], "once for each request"


async def test_whoever_asks_again_gets_the_same_seat(here: At, there: At) -> None:
    first = await here.seat("ann")
    assert await asyncio.gather(*(at.seat("ann") for at in (here, there) * 5)) == [first] * 10
    bob = await there.seat("bob")
    assert bob.code == first.code
    assert await here.seat("bob") == bob


async def test_a_room_that_fills_meanwhile_leads_to_another(
    here: At, there: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await here.seat("ann")
    asked = 0

    async def overtaken(*given: object) -> object:
        nonlocal asked
        asked += 1
        if asked == 1:
            assert (await there.seat("bob")).code == ann.code
        return await ask(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(quickplay, "ask", overtaken)
    cyd = await here.seat("cyd")
    assert cyd.code != ann.code
    dan = await there.seat("dan")
    assert dan.code == cyd.code


async def test_rooms_that_began_or_are_gone_are_forgotten(
    here: At, there: At, redis: Redis
) -> None:
    ann = await here.seat("ann")
    await there.seat("bob")
    viewers = [await here.node.enter(ann.code, name) for name in ("ann", "bob")]
    await viewers[1].do("ready")
    await viewers[0].do("start")
    cyd = await there.seat("cyd")
    assert cyd.code != ann.code
    (key,) = await redis.keys("*quick*open")
    assert await redis.zrange(key, 0, -1) == [cyd.code.encode()]
    actor = await there.node.open(cyd.code)
    await there.node.log.remove(cyd.code, actor.follower.replica.point)
    actor.doubt()
    await asyncio.wait((actor._task,), timeout=10)
    assert (await here.seat("dan")).code not in (ann.code, cyd.code)


async def test_a_seat_that_is_free_again_is_given_to_the_next(here: At, there: At) -> None:
    ann = await here.seat("ann")
    bob = await there.seat("bob")
    leaving = await there.node.enter(bob.code, "bob")
    await leaving.do("stand")
    await (await here.node.enter(ann.code, "ann")).reach(4)
    cyd = await here.seat("cyd")
    assert (cyd.code, cyd.seat) == (ann.code, bob.seat)


async def test_a_room_that_was_opened_just_before_the_claim_is_found(
    here: At, there: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = here.store.claim
    bob: list[Seated] = []

    async def late(*given: object) -> bool:
        if not bob:
            bob.append(await there.seat("bob"))
        return await claim(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(here.store, "claim", late)
    ann = await here.seat("ann")
    assert ann.code == bob[0].code
    # The claim was given back, so that the next one need not wait.
    monkeypatch.setattr(quickplay, "PATIENCE_SECONDS", 0.0)
    assert (await there.seat("cyd")).code != ann.code


async def test_a_claim_that_was_slept_away_leads_to_the_room_of_others(
    here: At, there: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle = here.store.settle

    async def late(wish: str, claim: str, room: str = "") -> bool:
        monkeypatch.setattr(here.store, "settle", settle)
        await asyncio.sleep(0.3)
        bob.append(await there.seat("bob"))
        return await settle(wish, claim, room)

    bob: list[Seated] = []
    monkeypatch.setattr(quickplay, "CLAIM_MS", 200)
    monkeypatch.setattr(here.store, "settle", late)
    ann = await here.seat("ann")
    assert ann.code == bob[0].code
    tables = [actor.follower.room.table for actor in here.node.directory]
    (own,) = (table for table in tables if table.code != bob[0].code)
    assert own.free_seats() == (0, 1), "nobody sits in the room to which nobody is sent"


async def test_a_maker_that_dies_is_waited_for_a_moment_only(
    here: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await here.store.claim(wish_of(plan("ann")), "of a node that died", 300)
    assert (await here.seat("ann")).seat == 0
    await here.seat("bob")
    monkeypatch.setattr(quickplay, "PATIENCE_SECONDS", 0.2)
    assert await here.store.claim(wish_of(plan("ann")), "of a node that hangs", 5000)
    with pytest.raises(StoreError):
        await here.seat("cyd")


async def test_whoever_may_not_make_a_room_lets_others_make_it_at_once(here: At) -> None:
    async def never() -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        await here.quickplay.seat(plan("ann"), person("ann"), never)
    async with asyncio.timeout(0.9 * quickplay.CLAIM_MS / 1000):
        bob = await here.seat("bob")
    # To sit down beside somebody needs no room of one's own.
    ann = await here.quickplay.seat(plan("ann"), person("ann"), never)
    assert ann.code == bob.code


async def test_nobody_is_sent_to_a_room_that_all_have_left(
    here: At, there: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await here.seat("ann")
    looking = await here.node.enter(ann.code, "ann")
    await looking.do("ready")
    monkeypatch.setattr(arrivals, "COMING_MS", 0)
    bob = await there.seat("bob", seats=2)
    assert bob.code == ann.code  # she is there, on another node
    await (await there.node.enter(ann.code, "bob")).do("stand")
    looking.leave()
    await asyncio.sleep(0.3)
    cyd = await there.seat("cyd")
    assert cyd.code != ann.code


async def test_a_room_that_does_not_answer_is_a_store_that_does_not(
    here: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(caller, "LOOK_SECONDS", 0.05)
    actor = await here.node.found(DUEL, 2)
    monkeypatch.setattr(actor, "put", lambda item: None)
    with pytest.raises(StoreError):
        await ask(actor, person("ann"), {"command": "sit"})
    await actor.stop("restart")
    refusal = await ask(actor, person("ann"), {"command": "sit"})
    assert refusal is not None
    assert refusal.code == "room_gone"


async def test_a_silent_store_is_told(here: At) -> None:
    await here.node.log.close()
    store = LobbyStore(EventLog("unix:///nowhere/at/all"))
    with pytest.raises(StoreError):
        await Quickplay(here.node.directory, store).seat(plan("ann"), person("ann"))


async def test_a_room_that_was_put_back_is_offered_to_others_again(
    here: At, there: At, redis: Redis
) -> None:
    quick = msgspec.structs.replace(plan("ann"), quick=True)
    ann = await here.quickplay.seat(quick, person("ann"))
    (key,) = await redis.keys("*quick*open")
    own = await here.node.found(DUEL, 2)
    for _ in range(2):
        await redis.delete(key)
        for actor in (await here.node.open(ann.code), own):
            offer_again(actor.follower.room, here.store)
        await asyncio.sleep(0.05)
        assert await redis.zrange(key, 0, -1) == [ann.code.encode()]
    bob = await there.seat("bob")
    assert bob.code == ann.code
    await redis.delete(key)
    viewers = [await here.node.enter(ann.code, name) for name in ("ann", "bob")]
    for viewer in reversed(viewers):
        await viewer.do("ready")
    offer_again((await here.node.open(ann.code)).follower.room, here.store)
    cyd = await there.seat("cyd")
    assert cyd.code != ann.code
