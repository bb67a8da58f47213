"""How many people are online: each node tells its own, and a silent node is left out."""

import asyncio

import pytest

from tests.live.live_rooms import LiveNode
from towerhall_server.eventlog.notifications import Counted, listen
from towerhall_server.lobby import people as module
from towerhall_server.lobby.people import People


def people_of(node: LiveNode, count: int) -> People:
    return People(node.log, lambda: count, lambda online: None)


async def test_the_people_of_all_nodes_are_added(url: str, one: LiveNode, other: LiveNode) -> None:
    here, there = people_of(one, 2), people_of(other, 3)

    async def follow() -> None:
        async for _ in here.tapped(listen(url, one.log.node)):
            pass

    tasks = [asyncio.create_task(each) for each in (follow(), here.run(), there.run())]
    try:
        async with asyncio.timeout(10):
            while here.online != 5:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_node_that_falls_silent_is_left_out(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = people_of(one, 2)
    here.hear(Counted(one.log.node, 99))
    here.hear(Counted("other", 4))
    here.hear(Counted("other", 3))
    assert here.online == 5
    monkeypatch.setattr(module, "SILENT_SECONDS", -1.0)
    assert here.online == 2
