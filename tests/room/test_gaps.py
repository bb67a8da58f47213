"""News with a gap: one message may be lost, and the next one shows it."""

from tests.room.live_rooms import FakeViewer, LiveNode, no_fault


async def test_news_that_are_not_the_next_entry_make_a_replica_read_what_is_between(
    one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    eve = await deaf.enter(ann.code, "eve")
    for number in range(3):
        await ann.do("ready", ready=number != 1)
    assert eve.replay.seq == 2, "no news come to this node by themselves"
    eve.room.hear(ann.room.follower.replica.tail[-1])
    await eve.reach(5)
    assert eve.seqs == [3, 4, 5]
    no_fault(eve)
