"""Before, during and after a game on a real store: people on two nodes, and one room for them."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.live.judging import rightful
from tests.live.live_rooms import (
    DUEL,
    FakeViewer,
    LiveNode,
    begin,
    commits_of,
    no_fault,
    sit_down,
    whole_log,
)
from tests.room.pure_rooms import id_of
from tests.store.processes import eventually
from towerhall_protocol.messages import ServerChat, ServerEmote, ServerError, ServerRejected
from towerhall_server.live import absence
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.chat import BACKLOG, make_emote, message_of, say
from towerhall_server.room.codes import is_code
from towerhall_server.room.events import HostPassed, RematchMade, Settings
from towerhall_server.room.gate import key_hash, may_enter
from towerhall_server.room.steps import Plan

AWAY_SECONDS = 0.6
LONG_SECONDS = 60.0


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is away is so for long very soon."""
    monkeypatch.setattr(absence, "HOST_AWAY_SECONDS", AWAY_SECONDS)
    monkeypatch.setattr(absence, "ABSENT_SECONDS", AWAY_SECONDS)


async def look_around(*nodes: LiveNode, seconds: float = 0.0) -> None:
    """What nodes do once a second, a few times."""
    until = asyncio.get_running_loop().time() + seconds
    while True:
        for node in nodes:
            await node.directory.beat_once()
        if asyncio.get_running_loop().time() >= until:
            return
        await asyncio.sleep(0.05)


async def passed(url: str, code: str) -> list[int]:
    """Seats to which the host's powers went, in order."""
    commits = await commits_of(url, code)
    return [event.seat for c in commits for event in c.room if isinstance(event, HostPassed)]


async def two(
    one: LiveNode, other: LiveNode, seats: int = 2, bot_delay_ms: int = 0
) -> list[FakeViewer]:
    """Ann, the host, on one node, and bob on the other."""
    ann = await FakeViewer("ann").enter(await one.found(seats=seats, bot_delay_ms=bot_delay_ms))
    return [ann, await other.enter(ann.code, "bob")]


# Before


async def test_whoever_is_kicked_has_to_leave_every_node_until_let_in_again(
    one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other)
    await sit_down(ann, bob)
    kicked = await ann.do("kick", seat=1)
    assert await bob.ended() == "kicked"
    assert bob.seqs[-1] == kicked.seq, "they see why"
    cyd = await other.enter(ann.code, "cyd")
    await cyd.do("sit")
    assert cyd.replay.seat == 1
    for node in (one, other):
        again = FakeViewer("bob")
        again.greet(await node.open(ann.code))
        assert await again.ended() == "kicked"
        assert [error.code for error in again.of(ServerError)] == ["kicked"]
        assert not again.replay.welcomed
    back = await bob.again().enter(await elsewhere(ann, other, "admit", id=bob.person.id))
    assert (back.replay.seat, back.replay.seq) == (None, ann.replay.seq)
    no_fault(ann, bob, cyd, back)


async def elsewhere(host: FakeViewer, other: LiveNode, command: str, **fields: Any) -> RoomActor:
    """The room on another node, which has heard of what its host does now."""
    frame, actor = await host.do(command, **fields), await other.open(host.code)
    await eventually(lambda: actor.follower.replica.point.seq >= frame.seq)
    return actor


async def test_other_options_are_seen_everywhere_and_agreed_to_anew(
    one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other)
    await sit_down(ann, bob)
    frame = await ann.do("set_options", turn_seconds=86_400, options={"preset": "quick"})
    await bob.reach(frame.seq)
    assert bob.view["room"]["turn_seconds"] == 86_400
    assert "ready" not in bob.view["room"]["seats"]["1"]
    assert await ann.refused("start") == "not_ready"
    assert await bob.refused("set_options", turn_seconds=0) == "not_host"
    await bob.do("ready")
    await ann.do("start")
    assert "clock" in ann.view


async def test_the_powers_of_a_host_who_is_away_pass_on_once(
    url: str, one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await two(one, other, seats=3)
    cyd = await one.enter(ann.code, "cyd")
    await sit_down(ann, cyd, bob)
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    assert await passed(url, ann.code) == []
    ann.leave()
    monkeypatch.setattr(absence, "HOST_AWAY_SECONDS", LONG_SECONDS)
    await look_around(one, other, seconds=AWAY_SECONDS)
    assert await passed(url, ann.code) == [], "she may come back for a while"
    monkeypatch.setattr(absence, "HOST_AWAY_SECONDS", AWAY_SECONDS)
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    await bob.until(lambda: bob.view["room"]["host"] == 1)
    assert await passed(url, ann.code) == [1]
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    assert await passed(url, ann.code) == [1], "the new host is here"
    await cyd.do("kick", seat=0)


async def test_a_host_without_a_seat_is_missed_only_when_gone(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other)
    await bob.do("sit")
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    assert await passed(url, ann.code) == []
    ann.leave()
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    assert await passed(url, ann.code) == [0]


async def test_a_new_host_on_another_node_is_known_to_be_there(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other, seats=3)
    cyd = await one.enter(ann.code, "cyd")
    for client in (ann, bob, cyd):
        await client.do("sit")
    await ann.do("stand")
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    assert await passed(url, ann.code) == [1]


async def test_nobody_becomes_host_of_a_room_in_which_nobody_is(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other)
    await sit_down(ann, bob)
    bob.leave()
    ann.leave()
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    assert await passed(url, ann.code) == []


async def test_a_quick_room_starts_for_people_on_two_nodes(one: LiveNode, other: LiveNode) -> None:
    plan = Plan(DUEL, DUEL.presets["standard"], 2, Settings(), id_of("nobody"), quick=True)
    ann = await FakeViewer("ann").enter(await one.directory.create(plan))
    bob = await other.enter(ann.code, "bob")
    for client in (ann, bob):
        await client.do("sit")
        await client.do("ready")
    await ann.until(lambda: ann.status == "playing")
    no_fault(ann, bob)


async def test_a_reserved_seat_is_kept_on_every_node(one: LiveNode, other: LiveNode) -> None:
    bob = FakeViewer("bob")
    reserved = ("", bob.owner.id)
    plan = Plan(DUEL, DUEL.presets["standard"], 2, Settings(), bob.owner.id, reserved=reserved)
    code = (await one.directory.create(plan)).code
    cyd = await other.enter(code, "cyd")
    assert await cyd.refused("sit", seat=1) == "seat_reserved"
    await cyd.do("sit")
    await bob.enter(await other.open(code))
    await bob.do("sit")
    assert (cyd.replay.seat, bob.replay.seat) == (0, 1)


# During


async def turn_of(ann: FakeViewer, bob: FakeViewer, who: FakeViewer) -> None:
    """Play until it is that one's turn."""
    while not who.replay.offers:
        await eventually(lambda: bool(ann.replay.offers or bob.replay.offers))
        if not who.replay.offers:
            await (bob if who is ann else ann).move()


async def test_a_bot_plays_for_whoever_left_until_they_come_back_to_another_node(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other, bot_delay_ms=10_000)
    await begin(ann, bob)
    await turn_of(ann, bob, bob)
    await bob.do("leave", level="easy")
    await bob.until(lambda: not bob.replay.offers)
    await ann.until(lambda: ann.view["room"]["seats"]["1"].get("stand_in") == "easy")
    back = bob.again()
    bob.leave()
    await back.enter(await one.open(ann.code))
    assert back.replay.offers == ()
    assert await back.refused("roll") in ("bot_plays", "stale")
    await back.do("take_back")
    await back.until(lambda: back.replay.offers)
    await back.move()
    no_fault(ann, back)


async def test_a_stand_in_plays_the_game_to_its_end(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other)
    await begin(ann, bob)
    await bob.do("leave")
    await ann.do("leave")
    await ann.until(lambda: ann.status == "over")
    assert await rightful(url, ann.room)


async def test_a_bot_is_called_for_whoever_is_connected_nowhere(
    one: LiveNode, other: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await two(one, other)
    await begin(ann, bob)
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    assert await ann.refused("call_bot", seat=1) == "not_absent", "he is there, on the other node"
    bob.leave()
    monkeypatch.setattr(absence, "ABSENT_SECONDS", LONG_SECONDS)
    await look_around(one, other, seconds=AWAY_SECONDS)
    assert await ann.refused("call_bot", seat=1) == "not_absent", "he may come back"
    monkeypatch.setattr(absence, "ABSENT_SECONDS", AWAY_SECONDS)
    await look_around(one, other, seconds=1.5 * AWAY_SECONDS)
    await ann.do("call_bot", seat=1)
    back = await FakeViewer("bob").enter(await other.open(ann.code))
    await back.do("take_back")
    assert "stand_in" not in back.view["room"]["seats"]["1"]


async def test_the_game_ends_when_people_on_two_nodes_agree(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other)
    await begin(ann, bob)
    await ann.do("want_end")
    frame = await bob.do("want_end")
    await ann.reach(frame.seq)
    for client in (ann, bob):
        assert client.view["room"]["closed"] == "agreed"
        assert client.view["room"]["secret"]
    assert await rightful(url, ann.room)


async def test_a_resignation_ends_a_game_of_two_on_both_nodes(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other)
    await begin(ann, bob)
    frame = await bob.do("resign")
    await ann.reach(frame.seq)
    for client in (ann, bob):
        assert client.view["room"]["closed"] == "resigned"
        assert client.view["room"]["result"]["places"] == [1, 2]
        assert client.view["room"]["secret"]
    assert await bob.refused("take_back") == "not_playing"
    assert await rightful(url, ann.room)


# After


async def ended(one: LiveNode, other: LiveNode) -> list[FakeViewer]:
    ann, bob = await two(one, other)
    await begin(ann, bob)
    await ann.do("want_end")
    frame = await bob.do("want_end")
    await ann.reach(frame.seq)
    return [ann, bob]


async def test_a_rematch_is_for_the_same_people_one_seat_further_on(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await ended(one, other)
    frame = await bob.do("rematch")
    await ann.reach(frame.seq)
    code = ann.view["room"]["rematch"]
    assert is_code(code)
    again = [await FakeViewer(name).enter(await one.open(code)) for name in ("ann", "bob")]
    assert again[0].view["room"]["previous"] == ann.code
    for client in again:
        await client.do("sit")
    assert [client.replay.seat for client in again] == [1, 0]
    await again[0].do("ready")
    await again[1].do("start")
    cyd = await other.enter(ann.code, "cyd")
    assert await cyd.refused("rematch") == "not_seated"
    assert await rightful(url, ann.room)


async def test_of_two_rematches_at_once_one_counts_and_the_other_is_told_where(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await ended(one, other)
    first: list[int] = []

    async def bob_is_first() -> None:
        # The new room of ann is about to be made; then comes her commit.
        one.log.next_append(bob_asks)

    async def bob_asks() -> None:
        first.append((await bob.do("rematch")).seq)

    one.log.next_append(bob_is_first)
    answer = await ann.answer(ann.ask("rematch"))
    assert isinstance(answer, ServerRejected)
    assert answer.code == "rematch_made"
    await ann.reach(first[0])
    assert answer.params == {"room": ann.view["room"]["rematch"]}
    commits = await commits_of(url, ann.code)
    made = [event.code for c in commits for event in c.room if isinstance(event, RematchMade)]
    assert made == [bob.view["room"]["rematch"]]
    assert await bob.refused("rematch") == "rematch_made"


async def test_whoever_has_not_heard_of_the_end_gets_a_room_all_the_same(
    url: str, one: LiveNode, deaf: LiveNode
) -> None:
    bob = await FakeViewer("bob").enter(await one.found())
    ann = await deaf.enter(bob.code, "ann")
    await ann.do("sit")
    await bob.do("sit")
    await bob.do("ready")
    await ann.do("start")
    await ann.do("want_end")
    await bob.until(lambda: bob.status == "playing")
    await bob.do("want_end")
    assert ann.status == "playing"
    await ann.do("rematch")
    assert is_code(ann.view["room"]["rematch"])
    assert await rightful(url, ann.room)


async def test_the_rematch_of_a_private_room_has_the_same_key(one: LiveNode) -> None:
    hashed = key_hash("sesame")
    host = FakeViewer("ann").owner.id
    plan = Plan(DUEL, DUEL.presets["standard"], 2, Settings(bot_delay_ms=0), host, hashed)
    ann = await FakeViewer("ann").enter(await one.directory.create(plan))
    await begin(ann, bots=1)
    await ann.do("want_end")
    await ann.do("rematch")
    table = (await one.open(ann.view["room"]["rematch"])).follower.room.table
    assert may_enter(table, "sesame")
    assert not may_enter(table, "")
    assert [holder and holder.level for holder in table.seats] == ["easy", None]


# Beside the log


async def test_emotes_are_heard_on_every_node_and_kept_nowhere(
    redis: Redis, url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await two(one, other)
    await ann.do("sit")
    top = len(await whole_log(url, ann.code))
    make_emote(one.log, ann.table, ann, "well_played")
    make_emote(other.log, bob.table, bob, "thanks")
    await say(one.log, ann.table, ann, "and a word")
    for client in (ann, bob):
        heard = await client.have(2, ServerEmote)
        assert {(m.name, m.seat, m.emote) for m in heard} == {
            ("ann", 0, "well_played"),
            ("bob", -1, "thanks"),
        }
        await client.have(1, ServerChat)
    lines = await one.log.said(ann.code, BACKLOG)
    assert [message_of(line) for line in lines] == ann.of(ServerChat)
    assert len(await whole_log(url, ann.code)) == top
    await eventually(lambda: len(bob.of(ServerEmote)) == 2)
