"""A sandbox room whose log loses its end because a viewer wants it (P-191)."""

from functools import partial

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import FakeViewer, LiveNode, begin, no_fault, sit_down, whole_log
from towerhall_protocol.messages import ServerReset
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.live.items import Lose


def losses(client: FakeViewer) -> list[int]:
    """How many commits each `reset` told of; one without a loss only changes the view."""
    return [reset.lost for reset in client.of(ServerReset) if reset.lost]


async def test_viewers_are_reset_and_the_room_goes_on(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found(sandbox=1))
    bob = await one.enter(ann.code, "bob")
    away = await one.enter(ann.code, "cyd")
    await begin(ann, bob)
    await away.until(lambda: away.status == "playing")
    away.leave()
    was = ann.replay.seq
    ann.room.put(Lose(2))
    for client in (ann, bob):
        await client.until(partial(losses, client))
        assert losses(client) == [2]
        assert client.replay.seq == was - 2
        assert client.status == "waiting"
    log = await whole_log(one.url, ann.code)
    assert [entry.seq for entry in log] == list(range(1, was - 1))
    back = away.again()
    await back.enter(ann.room)
    assert back.replay.seq == was - 2
    assert back.status == "waiting"
    # What was lost can be done again, and enters the log at the same place.
    await bob.do("ready")
    await ann.do("start")
    assert (await whole_log(one.url, ann.code))[-1].seq == was
    no_fault(ann, bob, back)


async def test_the_first_commit_stays_and_so_does_the_expiry(one: LiveNode, redis: Redis) -> None:
    ann = await FakeViewer("ann").enter(await one.found(sandbox=1))
    await sit_down(ann)
    log = room_keys(ann.code).log
    snapshots = room_keys(ann.code).snapshots
    await redis.hset(snapshots, mapping={"1": "kept", "2": "lost"})
    ann.room.put(Lose(1000))
    await ann.until(partial(losses, ann))
    assert ann.replay.seq == await redis.xlen(log) == 1
    assert await redis.hkeys(snapshots) == [b"1"]
    assert await redis.pttl(log) > 0
    # There is nothing more to lose.
    ann.room.put(Lose(1))
    await ann.do("sit")
    assert losses(ann) == [1]


async def test_a_room_that_is_over_keeps_its_log(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found(sandbox=1))
    await begin(ann, bots=1)
    await ann.do("want_end")
    assert ann.status == "over"
    ann.room.put(Lose(1))
    again = await one.enter(ann.code, "bob")
    assert again.status == "over"
    assert not losses(ann)


@pytest.mark.parametrize("lost", [1, 3])
async def test_a_command_in_a_lost_commit_may_be_done_again(one: LiveNode, lost: int) -> None:
    ann = await FakeViewer("ann").enter(await one.found(sandbox=1))
    for number in range(4):
        await ann.do("sit" if number % 2 == 0 else "stand")
    ann.room.put(Lose(lost))
    await ann.until(partial(losses, ann))
    is_seated = "0" in ann.view["room"]["seats"]
    await ann.do("stand" if is_seated else "sit")
