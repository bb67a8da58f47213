"""Somebody else appends while a lost tail is put back: whoever is first in the log is right."""

from redis.asyncio import Redis

from tests.live.live_rooms import FakeViewer, LiveNode, copy_of, go_back, no_fault, whole_log
from towerhall_protocol.messages import ServerReset
from towerhall_server.eventlog.answers import Append
from towerhall_server.live.items import Doubt


async def test_a_tail_that_meets_another_commit_is_dropped_there_and_its_viewers_are_told(
    redis: Redis, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await deaf.found())
    await ann.do("sit")
    copy = await copy_of(redis, ann.code)
    for number in range(3):
        await ann.do("ready", ready=number != 1)
    await go_back(redis, ann.code, copy)
    bob = await one.enter(ann.code, "bob")

    async def rival(wanted: Append) -> None:
        """Somebody sits down just before the second entry would be put back."""
        if wanted.mode == "heal" and wanted.before.seq == 3:
            deaf.log.before_append = None
            await bob.reach(3)
            await bob.do("sit")

    deaf.log.before_append = rival
    ann.room.put(Doubt())
    await FakeViewer("eve").enter(ann.room)
    told = [(reset.lost, reset.cursor.seq) for reset in ann.of(ServerReset) if reset.lost]
    assert told == [(2, 4)]
    assert ann.view == bob.view
    assert ann.place == bob.place
    assert len(await whole_log(one.url, ann.code)) == 4
    no_fault(bob)
