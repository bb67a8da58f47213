"""What is changed back and forth, and leads to nothing: a person has a rate of that in a room."""

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import FakeViewer, LiveNode, begin, hurry, no_fault
from tests.room.pure_rooms import ADA, BEN, GAMES, PureRoom, whole_room
from towerhall_protocol.messages import ServerRejected
from towerhall_server.room import pace
from towerhall_server.room.closing import close_step
from towerhall_server.room.decision import not_before_ms
from towerhall_server.room.state import decides
from towerhall_server.room.steps import Step

AT_ONCE, RETURNS_MS = pace.MOST_AT_ONCE, pace.RETURNS_MS
HOUR_MS = 3_600_000


def playing() -> PureRoom:
    return PureRoom().seat_people(ADA, BEN).deal()


def wait_ms(pure: PureRoom, step: Step, now_ms: int) -> int:
    """How long a step has to wait at a service time."""
    return max(not_before_ms(pure.room, step) - now_ms, 0)


def test_a_person_can_change_so_much_at_once_and_then_waits() -> None:
    pure = playing()
    now_ms = pure.now_ms + HOUR_MS
    for number in range(AT_ONCE):
        step = pure.ask(ADA, {"command": "want_end", "wanted": number % 2 == 0})
        assert isinstance(step, Step)
        assert wait_ms(pure, step, now_ms) == 0, number
        pure.append(step, after_ms=now_ms - pure.now_ms)
    step = pure.ask(ADA, {"command": "want_end"})
    assert isinstance(step, Step)
    assert wait_ms(pure, step, now_ms) == RETURNS_MS
    assert wait_ms(pure, step, now_ms + RETURNS_MS - 1) == 1
    assert wait_ms(pure, step, now_ms + RETURNS_MS) == 0
    other = pure.ask(BEN, {"command": "leave"})
    assert isinstance(other, Step)
    assert wait_ms(pure, other, now_ms) == 0, "nobody waits for anybody else"
    move = pure.ask(pure.holder(pure.room.to_act()[0]), pure.offered(pure.room.to_act()[0], 0))
    assert not_before_ms(pure.room, move) == 0, "a move of the game never waits"
    assert not_before_ms(pure.room, close_step(pure.room, "over", "service")) == 0


def test_no_toggling_makes_a_log_grow_faster_than_its_rate() -> None:
    pure = playing()
    began_ms, count = pure.now_ms, 0
    while pure.now_ms < began_ms + HOUR_MS // 2:
        step = pure.ask(ADA, {"command": "want_end", "wanted": count % 2 == 0})
        assert isinstance(step, Step)
        pure.append(step, after_ms=max(1, wait_ms(pure, step, pure.now_ms)))
        count += 1
    assert count < AT_ONCE + HOUR_MS // 2 / RETURNS_MS + 10


def test_buckets_that_are_full_again_are_forgotten() -> None:
    full_at = pace.after_one_more({"ada": 5_000, "ben": 90_000}, "eve", 10_000)
    assert full_at == {"ben": 90_000, "eve": 10_000 + RETURNS_MS}
    assert pace.after_one_more(full_at, "ben", 10_000)["ben"] == 90_000 + RETURNS_MS


def test_a_log_from_before_there_was_a_rate_locks_nobody_out() -> None:
    full_at: dict[str, int] = {}
    for number in range(20_000):
        full_at = pace.after_one_more(full_at, "ada", number)
    assert pace.not_before_ms(full_at, "ada") == 19_999 + RETURNS_MS


@pytest.mark.parametrize("name", GAMES)
def test_moves_take_nothing_from_a_bucket(name: str) -> None:
    pure = whole_room(name)
    for before, after in zip(pure.rooms, pure.rooms[1:], strict=False):
        if decides(before, after):
            assert after.full_at == before.full_at


# in live rooms


async def test_toggling_is_refused_on_all_nodes_until_time_has_passed(
    one: LiveNode, other: LiveNode, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "MOST_AT_ONCE", 6)
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    await hurry(redis, ann.code, HOUR_MS)
    for node in (one, other):
        await node.directory.beat_once()
    for number in range(6):
        await ann.do("want_end", wanted=number % 2 == 0)
    top = ann.replay.seq
    for viewer in (ann, await other.enter(ann.code, "ann")):
        answer = await viewer.answer(viewer.ask("want_end"))
        assert isinstance(answer, ServerRejected)
        assert (answer.code, answer.rule) == ("too_many", "P-72")
        retry_ms = answer.params["retry_ms"]
        assert isinstance(retry_ms, int)
        assert 0 < retry_ms <= RETURNS_MS
        assert viewer.replay.seq == top
    await bob.do("want_end")
    await bob.do("want_end", wanted=False)
    mover = next(each for each in (ann, bob) if each.replay.offers)
    if mover is bob:
        await bob.move()
    await hurry(redis, ann.code, RETURNS_MS)
    await other.directory.beat_once()
    again = await other.enter(ann.code, "ann")
    await again.do("want_end")
    assert await again.refused("want_end", wanted=False) == "too_many"
    no_fault(again, bob)
