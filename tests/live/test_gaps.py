"""Single news that get lost: the next ones show it, and without any it is found out, too."""

import pytest

from tests.live.live_rooms import FakeViewer, LiveNode, live_node, no_fault
from towerhall_server.eventlog import notifications
from towerhall_server.live import directory


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


async def test_a_message_that_got_lost_is_missed_though_nothing_else_is_amiss(
    url: str, one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "SURE_SECONDS", 0.2)
    monkeypatch.setattr(notifications, "DOUBT_SECONDS", 3600.0)
    async with live_node(url, "other") as other:
        hear = other.directory._hear
        one.beat()
        other.beat()
        ann = await FakeViewer("ann").enter(await one.found())
        bob = await other.enter(ann.code, "bob")
        await bob.until(lambda: other.directory._neighbours)
        monkeypatch.setattr(
            other.directory,
            "_hear",
            lambda wake: (
                None if isinstance(wake, notifications.Woken | notifications.Missed) else hear(wake)
            ),
        )
        await ann.do("sit")
        await bob.reach(2)
        no_fault(bob)
