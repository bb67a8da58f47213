"""Chat: everybody on every node hears the same lines in the same order, and no log knows of it."""

import asyncio

from redis.asyncio import Redis

from tests.room.live_rooms import FakeViewer, LiveNode, whole_log
from towerhall_protocol.messages import ServerChat, ServerWelcome
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.room.chat import BACKLOG, message_of, say


def heard(viewer: FakeViewer) -> list[tuple[str, int, str]]:
    return [(line.name, line.seat, line.text) for line in viewer.of(ServerChat)]


async def test_a_line_reaches_everybody_on_both_nodes_with_name_and_seat(
    one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    code = ann.code
    await ann.do("sit")
    bob, eve = await other.enter(code, "bob"), await one.enter(code, "eve")
    elsewhere = await FakeViewer("ann").enter(await one.found())
    await say(one.log, code, ann, "hello")
    await say(other.log, code, bob, "<b>hi</b>")
    for viewer in (ann, bob, eve):
        await viewer.have(2, ServerChat)
        assert heard(viewer) == [("ann", 0, "hello"), ("bob", -1, "<b>hi</b>")]
    assert heard(elsewhere) == []


async def test_lines_that_are_said_at_once_on_two_nodes_have_one_order_for_all(
    one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    code = ann.code
    bob = await other.enter(code, "bob")
    await asyncio.gather(
        *(say(one.log, code, ann, f"{number}") for number in range(20)),
        *(say(other.log, code, bob, f"{number}") for number in range(20)),
    )
    for viewer in (ann, bob):
        await viewer.have(40, ServerChat)
    assert ann.of(ServerChat) == bob.of(ServerChat)
    assert len({line.id for line in ann.of(ServerChat)}) == 40
    for name in ("ann", "bob"):
        own = [text for who, _, text in heard(ann) if who == name]
        assert own == [str(number) for number in range(20)]


async def test_chat_is_in_no_seq_and_in_no_view(url: str, one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    before = ann.view
    await say(one.log, ann.code, ann, "between two commits")
    await ann.until(lambda: heard(ann))
    assert ann.view == before
    assert (await ann.do("ready")).seq == 3
    entries = await whole_log(url, ann.code)
    assert len(entries) == 3
    assert not any(b"between two commits" in entry.blob for entry in entries)


async def test_whoever_enters_is_told_the_last_lines_after_the_welcome(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    for number in range(BACKLOG + 5):
        await say(one.log, ann.code, ann, f"{number}")
    bob = FakeViewer("bob")
    lines = await one.log.said(ann.code, BACKLOG)
    bob.greet(ann.room, tuple(map(message_of, lines)))
    await bob.until(lambda: len(heard(bob)) == BACKLOG)
    assert isinstance(bob.got[0], ServerWelcome)
    assert [text for _, _, text in heard(bob)] == [str(n) for n in range(5, BACKLOG + 5)]
    await ann.until(lambda: len(heard(ann)) == BACKLOG + 5)
    assert bob.of(ServerChat) == ann.of(ServerChat)[5:]


async def test_a_room_that_is_gone_has_no_chat(redis: Redis, one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    code = ann.code
    await redis.flushall()
    await say(one.log, code, ann, "is anybody here?")
    assert await redis.exists(room_keys(code).chat) == 0
