"""Commands of connections that are gone: they are not decided, for they come again (P-45)."""

import asyncio

import pytest

from tests.live.fast_path.ways import Way
from tests.live.live_rooms import FakeViewer, LiveNode, commands_in, commits_of, sender
from towerhall_protocol.messages import ClientCommand, ServerFrame, ServerRejected
from towerhall_server.eventlog.answers import Conflict
from towerhall_server.live import presence

READY = {"command": "ready"}


@pytest.fixture(autouse=True)
def _nobody_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients whose connection is gone without a word are still there for other nodes."""
    monkeypatch.setattr(presence, "PRESENCE_SECONDS", 60.0)


@pytest.fixture
def way(one: LiveNode, monkeypatch: pytest.MonkeyPatch) -> Way:
    found = Way(one.log)
    monkeypatch.setattr(one.log.appender, "ask", found.ask)
    return found


async def at_table(node: LiveNode) -> tuple[FakeViewer, FakeViewer]:
    """Ann, the host, and bob on their seats."""
    ann = await FakeViewer("ann").enter(await node.found())
    bob = await FakeViewer("bob").enter(ann.room)
    await ann.do("sit")
    await bob.do("sit")
    return ann, bob


async def done_in(url: str, client: FakeViewer) -> list[int]:
    """The numbers of a client's commands that are in the log."""
    found = commands_in(await commits_of(url, client.code))
    return [n for who, n in found if who == sender(client)]


async def test_a_command_of_a_connection_that_is_gone_asks_nothing_of_the_store(
    url: str, one: LiveNode, way: Way
) -> None:
    ann, bob = await at_table(one)
    asked = len(way.asked)
    n = bob.ask("ready")
    bob.leave()
    await ann.do("ready")
    assert len(way.asked) == asked + 1
    assert n not in await done_in(url, bob)


async def test_what_waits_in_the_inbox_goes_with_its_connection(
    url: str, one: LiveNode, way: Way
) -> None:
    ann, bob = await at_table(one)
    way.fates.append("late answer")
    ann.ask("ready")
    await way.is_late()
    n = bob.ask("ready")
    bob.leave()
    way.let_go()
    await ann.do("ready", ready=False)
    assert n not in await done_in(url, bob)
    again = await bob.again().enter(ann.room)
    again.hand_over(ClientCommand(n, "", READY))
    assert isinstance(await again.answer(n), ServerFrame)


async def test_what_has_to_be_decided_again_goes_with_its_connection(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann, bob = await at_table(one)
    elsewhere = await FakeViewer("ann").enter(await other.open(ann.code))

    async def others_are_first() -> None:
        await elsewhere.do("ready")
        bob.leave()

    one.log.next_append(others_are_first)
    n = bob.ask("ready")
    await ann.reach(4)
    await ann.do("ready", ready=False)
    assert one.log.count(Conflict) == 1
    assert n not in await done_in(url, bob)


async def test_p45_what_was_rejected_on_the_next_connection_is_never_done(
    url: str, one: LiveNode, other: LiveNode, way: Way
) -> None:
    ann, bob = await at_table(one)
    way.fates.append("late answer")
    bob.ask("ready", ready=False)
    await way.is_late()
    n = ann.ask("start")
    ann.leave()
    # The client comes back at another server, and sends again what nobody has answered.
    again = FakeViewer("ann", ann.origin)
    await again.enter(await other.open(ann.code))
    again.hand_over(ClientCommand(n, "", {"command": "start"}))
    answer = await again.answer(n)
    assert isinstance(answer, ServerRejected)
    assert answer.code == "not_ready"
    moved = FakeViewer("bob", bob.origin)
    await moved.enter(again.room)
    moved.hand_over(ClientCommand(7, "", READY))
    await moved.answer(7)
    # Now it would be allowed, and the first server gets to its copy of it.
    way.let_go()
    await asyncio.sleep(0.3)
    assert n not in await done_in(url, ann)
    assert again.status == "waiting"
