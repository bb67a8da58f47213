"""Who is told what, when and how often: on a real store, by a push service that checks all."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace
from redis.asyncio import Redis

from tests.live.live_rooms import FakeViewer, begin, live_node
from tests.push.away import REST_SECONDS, AwayNode, away_node, token_of
from tests.push.double import HANG, Device, PushService
from tests.room.pure_rooms import id_of
from towerhall_server.access.revocations import of_device
from towerhall_server.eventlog.operators import Ban, OperatorStore
from towerhall_server.eventlog.pushes import BURST, Subscription
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.presence import PRESENCE_SECONDS
from towerhall_server.outbound.posting import Posted
from towerhall_server.push.telling import MOST_FAILS, outcome_of, wait_after


@pytest.fixture
async def node(engine_url: str, redis: Redis) -> AsyncIterator[AwayNode]:
    async with away_node(engine_url) as running:
        yield running


@pytest.fixture
def phone(service: PushService) -> Device:
    return Device(service)


def to_act(actor: RoomActor, people: list[FakeViewer]) -> FakeViewer:
    """Whose turn it is."""
    (seat,) = actor.follower.room.to_act()
    (person,) = [each for each in people if each.seat == seat]
    return person


async def until_it_is_ben(actor: RoomActor, people: list[FakeViewer]) -> None:
    """The others play until it is the turn of the last person."""
    while (person := to_act(actor, people)) is not people[-1]:
        await person.move()


async def ben_is_to_act(node: AwayNode) -> tuple[RoomActor, list[FakeViewer]]:
    """A game in which it is Ben's turn. Both are there."""
    actor, people = await node.room_of("ann", "ben")
    await begin(*people)
    await until_it_is_ben(actor, people)
    return actor, people


async def tell(node: AwayNode, actor: RoomActor, name: str = "ben") -> None:
    """A node takes it that this person may have to be told."""
    await node.pushes.telling.concern(id_of(name), actor.code)
    await node.work()


async def kept_of(node: AwayNode, name: str = "ben") -> Subscription:
    (kept,) = await node.pushes.store.of(id_of(name))
    return kept


async def test_a_person_who_is_away_is_told_of_their_turn(node: AwayNode, phone: Device) -> None:
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    (push,) = phone.got
    assert push.note == {
        "kind": "turn",
        "room": actor.code,
        "game": "tile_duel",
        "names": ["ann"],
        "language": "de",
    }
    assert push.headers["urgency"] == "high"
    assert actor.code not in str(push.headers), "the push service is not led to the room"
    assert push.claims["sub"] == "mailto:towers@example.org"


async def test_a_push_lives_as_long_as_the_turn(node: AwayNode, phone: Device) -> None:
    await node.subscribe("ben", phone)
    actor, people = await node.room_of("ann", "ben", turn_seconds=60)
    await begin(*people)
    await until_it_is_ben(actor, people)
    people[-1].leave()
    await node.rest()
    assert 0 < int(phone.got[0].headers["ttl"]) <= 60


async def test_nothing_is_told_to_who_is_there_or_does_not_want_it(
    node: AwayNode, phone: Device, engine_url: str
) -> None:
    await node.subscribe("ben", phone)
    actor, (ann, ben) = await ben_is_to_act(node)
    ann.leave()
    await node.rest()
    assert phone.service.asked == 0, "ann has not subscribed, and ben is there"
    ben.leave()
    async with live_node(engine_url, "two") as other:
        await other.enter(actor.code, "ben")
        await node.rest()
        assert phone.service.asked == 0, "ben is there on another node"


async def test_who_is_there_on_another_node_is_not_told_by_a_node_that_has_just_opened_the_room(
    node: AwayNode, phone: Device, engine_url: str
) -> None:
    await node.subscribe("ben", phone)
    async with live_node(engine_url, "two") as other:
        actor = await other.found()
        people = [await other.enter(actor.code, name) for name in ("ann", "ben")]
        await begin(*people)
        await until_it_is_ben(actor, people)
        await tell(node, actor)
        assert phone.service.asked == 0
        people[1].leave()
        await asyncio.sleep(2 * PRESENCE_SECONDS)
        await tell(node, actor)
    assert [note["kind"] for note in phone.notes] == ["turn"]


async def test_a_turn_is_told_once_by_all_nodes(
    node: AwayNode, phone: Device, engine_url: str
) -> None:
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    async with away_node(engine_url, "two") as other:
        await other.live.open(actor.code)
        await other.rest()
    async with away_node(engine_url, "three") as later:
        await later.live.open(actor.code)
        await later.rest()
    assert len(phone.got) == 1


async def test_a_quick_game_is_not_told(node: AwayNode, phone: Device) -> None:
    await node.subscribe("ann", phone)
    await node.subscribe("ben", Device(phone.service))
    actor, people = await ben_is_to_act(node)
    for viewer in people:
        viewer.leave()
    people = [await FakeViewer(each.owner.name).enter(actor) for each in people]
    now = 1000.0
    for _ in range(4):
        await node.pushes.watch.look(now)
        await to_act(actor, people).move()
        now += REST_SECONDS - 1
    for viewer in people:
        viewer.leave()
    await node.pushes.watch.look(now)
    await node.pushes.watch.look(now + REST_SECONDS - 1)
    assert await node.pushes.telling.do_due() == 0, "this decision has stood for 4 s"
    await node.pushes.watch.look(now + REST_SECONDS)
    assert await node.pushes.telling.do_due() == 1
    assert len(phone.service.got) == 1


async def test_the_next_turn_is_told_only_after_the_person_came(
    node: AwayNode, phone: Device
) -> None:
    await node.subscribe("ben", phone)
    actor, (ann, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    back = await FakeViewer("ben").enter(actor)  # past the gateway, which notes visits
    await back.move()
    await until_it_is_ben(actor, [ann, back])
    back.leave()
    await node.rest()
    assert len(phone.got) == 1
    await node.visit("ben", actor)
    await tell(node, actor)
    assert len(phone.got) == 2
    await tell(node, actor)
    await node.visit("ben", actor)
    await tell(node, actor)
    assert len(phone.got) == 2, "the same turn is told once, also to who has looked at it"


async def test_a_connection_that_turns_out_to_be_dead_does_not_count(
    node: AwayNode, phone: Device
) -> None:
    await node.subscribe("ben", phone)
    _, (_, ben) = await ben_is_to_act(node)
    await node.rest()
    assert phone.service.asked == 0
    ben.leave()
    await node.rest()
    assert len(phone.got) == 1


async def test_who_has_just_gone_is_looked_for_again_by_a_node_that_has_not_heard_it(
    node: AwayNode, phone: Device, engine_url: str
) -> None:
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    presence = actor.follower.audience.presence
    async with live_node(engine_url, "two") as other:
        await other.enter(actor.code, "ben")
        async with asyncio.timeout(10):
            while 1 not in presence.online:  # noqa: ASYNC110 - nobody announces it
                await asyncio.sleep(PRESENCE_SECONDS)
        then = await node.pushes.telling._tell(id_of("ben"), actor.code)
        assert (then.going, then.seconds) == ("rest", REST_SECONDS)
        assert phone.service.asked == 0


async def test_who_leaves_after_the_first_minute_has_seen_the_turn(
    node: AwayNode, phone: Device
) -> None:
    await node.subscribe("ben", phone)
    _, (_, ben) = await ben_is_to_act(node)
    for _ in range(5):
        await node.rest()
    ben.leave()
    await node.rest()
    assert phone.service.asked == 0


async def test_a_turn_that_is_over_when_the_job_is_done_is_not_told(
    node: AwayNode, phone: Device
) -> None:
    await node.subscribe("ben", phone)
    actor, (ann, ben) = await ben_is_to_act(node)
    while to_act(actor, [ann, ben]) is ben:
        await ben.move()
    ben.leave()
    await tell(node, actor)
    assert phone.service.asked == 0


async def test_the_end_of_a_game_is_told_with_the_place(node: AwayNode, phone: Device) -> None:
    await node.subscribe("ann", phone)
    _, (ann, ben) = await ben_is_to_act(node)
    await ben.do("resign")
    ann.leave()
    ben.leave()
    await node.rest()
    (push,) = phone.got
    assert (push.note["kind"], push.note["place"], push.note["names"]) == ("ended", 1, ["ben"])
    assert push.headers["urgency"] == "normal"


async def test_an_invited_person_is_told_once(node: AwayNode, phone: Device) -> None:
    await node.subscribe("cyd", phone)
    actor, (ann,) = await node.room_of("ann")
    await ann.do("sit")
    alias = actor.follower.room.alias_of(id_of("cyd"))
    await ann.do("invite", id=alias)
    await node.rest()
    await node.rest()
    assert [note["kind"] for note in phone.notes] == ["invited"]
    assert phone.notes[0]["names"] == ["ann"]


async def test_an_invitation_by_a_blocked_host_is_not_told(node: AwayNode, phone: Device) -> None:
    await node.subscribe("cyd", phone)
    node.blocks.add((id_of("cyd"), id_of("ann")))
    actor, (ann,) = await node.room_of("ann")
    await ann.do("sit")
    await ann.do("invite", id=actor.follower.room.alias_of(id_of("cyd")))
    await node.rest()
    assert phone.notes == []


async def test_a_room_has_one_topic_and_other_rooms_have_others(
    node: AwayNode, phone: Device
) -> None:
    await node.subscribe("ben", phone)
    topics = set()
    for _ in range(2):
        _, (ann, ben) = await ben_is_to_act(node)
        ben.leave()
        await node.rest()
        await ann.do("resign")
        await node.rest()
        *_, turn, ended = phone.got
        assert [turn.note["kind"], ended.note["kind"]] == ["turn", "ended"]
        assert turn.headers["topic"] == ended.headers["topic"]
        topics.add(turn.headers["topic"])
    assert len(topics) == 2


# Devices


async def kept_keys(redis: Redis) -> list[str]:
    """What the store keeps for pushes; the buckets of rates end by themselves."""
    found: Any = await redis.keys("towerhall:*push*")
    return [key.decode() for key in found if b"quotas" not in key]


async def test_each_device_is_told_and_one_that_is_gone_is_forgotten(
    node: AwayNode, service: PushService
) -> None:
    phone, tablet, old = Device(service), Device(service), Device(service)
    service.answer = lambda device: (410 if device is old else 201, "")
    await node.subscribe("ben", phone, tablet, old)
    _, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    assert len(phone.got) == len(tablet.got) == 1
    assert sorted(await node.devices_of("ben")) == sorted([phone.endpoint, tablet.endpoint])


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, "taken"),
        (201, "taken"),
        (404, "gone"),
        (410, "gone"),
        (413, "later"),
        (429, "later"),
        (500, "later"),
        (307, "later"),
        (403, "later"),
        (0, "later"),
    ],
)
def test_what_an_answer_means(status: int, outcome: str) -> None:
    assert outcome_of(Posted(status)) == outcome


def test_waits_grow_up_to_a_day() -> None:
    assert [wait_after(fails) for fails in (1, 2, 3)] == [60, 120, 240]
    assert wait_after(MOST_FAILS - 1) < wait_after(100) == 24 * 3600


async def test_a_push_that_failed_is_sent_later_and_not_before_its_time(
    node: AwayNode, phone: Device
) -> None:
    service = phone.service
    service.answer = lambda _: (429, "Retry-After: 300\r\n")
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    kept = await kept_of(node)
    assert kept.fails == 1
    assert kept.retry_ms - kept.since_ms > 290_000
    service.answer = lambda _: (201, "")
    then = await node.pushes.telling._tell(id_of("ben"), actor.code)
    assert (then.going, then.seconds > 60) == ("again", True)
    assert service.asked == 1
    await node.pushes.store.put(id_of("ben"), replace(kept, retry_ms=0))
    then = await node.pushes.telling._tell(id_of("ben"), actor.code)
    assert then.going == "rest"
    assert len(phone.got) == 1
    kept = await kept_of(node)
    assert (kept.fails, kept.retry_ms) == (0, 0)


async def test_a_device_that_always_fails_is_forgotten_in_the_end(
    node: AwayNode, phone: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("towerhall_server.eventlog.pushes.BURST", 100)
    phone.service.answer = lambda _: (500, "")
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    tries = 0
    while kept := await node.pushes.store.of(id_of("ben")):
        await node.pushes.store.put(id_of("ben"), replace(kept[0], retry_ms=0))
        await node.pushes.telling._tell(id_of("ben"), actor.code)
        tries += 1
    assert tries == phone.service.asked == MOST_FAILS


async def test_a_device_that_hangs_is_given_up(
    node: AwayNode, phone: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node.pushes.telling._outbound, "_attempt_seconds", 0.2)
    phone.service.answer = lambda _: (HANG, "")
    await node.subscribe("ben", phone)
    _, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    assert (await kept_of(node)).fails == 1


async def test_pushes_to_a_person_have_a_rate(node: AwayNode, phone: Device) -> None:
    for _ in range(BURST):
        assert await node.pushes.store.take(id_of("ben")) == 0
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    then = await node.pushes.telling._tell(id_of("ben"), actor.code)
    assert (then.going, then.seconds > 60) == ("again", True)
    assert phone.service.asked == 0


async def test_an_endpoint_inside_the_network_is_not_asked(
    node: AwayNode, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(service)
    monkeypatch.setattr(node.pushes.telling._outbound, "_networks", ())
    await node.subscribe("ben", device)
    _, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    assert service.asked == 0
    assert (await kept_of(node)).fails == 1


# Tokens, other people, crashes


@pytest.mark.parametrize("why", ["revoked", "logged out", "expired", "banned"])
async def test_a_device_ends_with_the_token_that_named_it(
    node: AwayNode, phone: Device, why: str
) -> None:
    changes: dict[str, dict[str, Any]] = {
        "expired": {"expires": 1},
        "logged out": {"device": "phone"},
    }
    more = changes.get(why, {})
    await node.subscribe("ben", phone, **more)
    if why == "revoked":
        assert await node.access.revoke(token_of("ben"), others=False) is None
    elif why == "logged out":
        await node.access._revocations.revoke(of_device(id_of("ben"), "phone"))
        await node.access.refresh()
    elif why == "banned":
        await OperatorStore(node.live.log).ban(Ban(id_of("ben"), "", 1))
        await node.access.refresh()
    _, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    assert phone.service.asked == 0
    assert await node.devices_of("ben") == []


async def test_a_device_belongs_to_one_person(node: AwayNode, phone: Device) -> None:
    await node.subscribe("ben", phone)
    await node.subscribe("cyd", phone)
    assert await node.devices_of("ben") == []
    _, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    assert phone.service.asked == 0


async def test_a_person_has_ten_devices(node: AwayNode, service: PushService) -> None:
    devices = [Device(service) for _ in range(12)]
    for device in devices:
        # Those that are there have been there for longer.
        for kept in await node.pushes.store.of(id_of("ben")):
            await node.pushes.store.put(id_of("ben"), replace(kept, since_ms=kept.since_ms - 1000))
        await node.subscribe("ben", device)
    assert sorted(await node.devices_of("ben")) == sorted(each.endpoint for each in devices[2:])


async def test_a_node_that_dies_while_it_pushes_leaves_the_job_to_others(
    node: AwayNode, phone: Device, engine_url: str
) -> None:
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.pushes.telling.concern(id_of("ben"), actor.code)
    # It takes the job, and is no more.
    assert len(await node.pushes.store.queue.claim("dead", 1, 16)) == 1
    await asyncio.sleep(0.01)  # the lease ends
    async with away_node(engine_url, "two") as other:
        await other.work()
    assert [note["kind"] for note in phone.notes] == ["turn"]


async def test_who_comes_while_the_push_is_under_way_is_told_of_the_next_turn(
    node: AwayNode, phone: Device
) -> None:
    await node.subscribe("ben", phone)
    actor, (ann, ben) = await ben_is_to_act(node)
    ben.leave()

    def answer(_: Device) -> tuple[int, str]:
        node.pushes.store.visited(id_of("ben"), actor.code)
        return 201, ""

    phone.service.answer = answer
    await node.rest()
    back = await FakeViewer("ben").enter(actor)
    await back.move()
    await until_it_is_ben(actor, [ann, back])
    back.leave()
    await node.rest()
    assert len(phone.got) == 2


async def test_a_turn_that_comes_while_a_push_is_under_way_is_not_lost(
    node: AwayNode, phone: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("towerhall_server.push.telling.AFTER_SECONDS", 0.0)
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.pushes.telling.concern(id_of("ben"), actor.code)

    def answer(_: Device) -> tuple[int, str]:
        # In this very moment the next turn is noted.
        node.pushes.store.queue.look(f"{id_of('ben')} {actor.code}")
        return 201, ""

    phone.service.answer = answer
    assert await node.pushes.telling.do_due() == 1
    assert await node.pushes.telling.do_due() == 1, "the room is looked at once more"
    assert await node.pushes.telling.do_due() == 0
    assert len(phone.got) == 1


async def test_what_is_erased_is_gone(node: AwayNode, phone: Device, redis: Redis) -> None:
    await node.subscribe("ben", phone)
    actor, (_, ben) = await ben_is_to_act(node)
    ben.leave()
    await node.rest()
    await node.pushes.telling.concern(id_of("ben"), actor.code)
    assert len(await kept_keys(redis)) == 6
    await node.pushes.store.forget(id_of("ben"))
    assert await kept_keys(redis) == ["towerhall:push:key"]
    await node.work()
    assert len(phone.got) == 1
