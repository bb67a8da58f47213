"""The end of a game is announced with the commit that ends it, and read from its room."""

from redis.asyncio import Redis

from tests.live.conftest import one, other, url
from tests.live.live_rooms import FakeViewer, LiveNode, begin
from tests.room.pure_rooms import ADA, PureRoom
from towerhall_server.accounts.store import AccountStore
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.eventlog.lobby import LobbyStore
from towerhall_server.live.healing import healing
from towerhall_server.regulars.ends import end_of
from towerhall_server.regulars.service import Regulars, consumer_of, open_regulars

__all__ = ["one", "other", "url"]


def regulars_of(node: LiveNode) -> Regulars:
    return open_regulars(node.log, LobbyStore(node.log), AccountStore(node.log, 86_400))


async def played(node: LiveNode, *, rated: bool = False) -> FakeViewer:
    """A game between Ann and Bob that has just ended."""
    ann = await FakeViewer("ann").enter(await node.found(rated=rated))
    bob = await node.enter(ann.code, "bob")
    await begin(ann, bob)
    await bob.do("resign")
    return ann


async def test_the_commit_that_ends_a_game_announces_it(one: LiveNode, redis: Redis) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    ends = room_keys(ann.code).shard.ends
    assert not await redis.exists(ends)
    await bob.do("resign")
    assert await redis.smembers(ends) == {ann.code.encode()}


async def test_a_game_that_is_closed_without_a_result_is_not_announced(
    one: LiveNode, redis: Redis
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    await ann.do("want_end")
    await bob.do("want_end")
    assert not await redis.exists(room_keys(ann.code).shard.ends)


def test_a_sandbox_room_has_no_end_that_counts() -> None:
    for speed in (0, 1):
        pure = PureRoom(sandbox=speed).seat_people(ADA).deal()
        pure.say(ADA, "resign")
        assert pure.room.table.result is not None
        assert (end_of(pure.room, 0) is None) == bool(speed)


async def test_an_end_is_noted_by_another_node_with_ids_places_and_its_own_time(
    one: LiveNode, other: LiveNode
) -> None:
    ann = await played(one, rated=True)
    actor = await one.open(ann.code)
    ended_ms = actor.follower.replica.point.stamps.wall_ms
    await ann.do("rematch")
    regulars = regulars_of(other)
    consumer = consumer_of(regulars, other.directory)
    await consumer.note(ann.code)
    await consumer.finish()
    (slip,) = (await regulars.journal.after(0, 10)).values()
    handles = [
        await regulars.people.handle_of(FakeViewer(name).owner.id) for name in ("ann", "bob")
    ]
    assert [hand.handle for hand in slip.hands] == handles
    assert [hand.place for hand in slip.hands] == [1, 2]
    assert [hand.resigned for hand in slip.hands] == [False, True]
    assert (slip.rated, slip.private, slip.ended_ms) == (True, False, ended_ms)
    names = {who.name for who in (await regulars.people.all_of(handles)).values()}
    assert names == {"ann", "bob"}


async def test_an_end_that_is_put_back_is_announced_again(one: LiveNode) -> None:
    ann = await played(one)
    replica = (await one.open(ann.code)).follower.replica
    before = replica.tail[-2]
    (lost,) = healing(replica, before, 0, 1)
    assert lost.is_end


async def test_a_room_whose_game_goes_on_is_not_noted(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    regulars = regulars_of(one)
    await regulars.journal.announce(ann.code)
    await consumer_of(regulars, one.directory).note(ann.code)
    assert await regulars.journal.length() == 0
