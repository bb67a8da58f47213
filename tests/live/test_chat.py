"""Chat: everybody on every node hears the same lines in the same order, and no log knows of it."""

import asyncio

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import FakeViewer, LiveNode, whole_log
from tests.store.processes import eventually
from towerhall_protocol.messages import ServerChat, ServerEmote, ServerWelcome
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.frames import Prepared
from towerhall_server.live import chat_window, presence
from towerhall_server.live.chat import BACKLOG, make_emote, message_of, say


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
    await say(one.log, ann.table, ann, "hello")
    await say(other.log, bob.table, bob, "<b>hi</b>")
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
        *(say(one.log, ann.table, ann, f"{number}") for number in range(20)),
        *(say(other.log, bob.table, bob, f"{number}") for number in range(20)),
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
    await say(one.log, ann.table, ann, "between two commits")
    await ann.until(lambda: heard(ann))
    assert ann.view == before
    assert (await ann.do("ready")).seq == 3
    entries = await whole_log(url, ann.code)
    assert len(entries) == 3
    assert not any(b"between two commits" in entry.blob for entry in entries)


async def test_whoever_enters_is_told_the_last_lines_after_the_welcome(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    for number in range(BACKLOG + 5):
        await say(one.log, ann.table, ann, f"{number}")
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
    await say(one.log, ann.table, ann, "is anybody here?")
    assert await redis.exists(room_keys(code).chat) == 0


class WriteCounter(FakeViewer):
    """A viewer that notes which messages come together."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.writes: list[tuple[Prepared, ...]] = []

    def send(self, *messages: Prepared) -> None:
        self.writes.append(messages)
        super().send(*messages)


async def test_lines_and_emotes_of_a_tenth_of_a_second_leave_in_one_write_and_one_encoding(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only the newcomer below ends the window, however slow this machine is.
    monkeypatch.setattr(chat_window, "WINDOW_SECONDS", 60.0)
    monkeypatch.setattr(presence, "PRESENCE_SECONDS", 60.0)
    waiting: list[ServerChat | ServerEmote] = []
    add = chat_window.ChatWindow.add

    def noted(window: chat_window.ChatWindow, message: ServerChat | ServerEmote) -> None:
        add(window, message)
        waiting.append(message)

    monkeypatch.setattr(chat_window.ChatWindow, "add", noted)
    room = await one.found()
    viewers = [WriteCounter(name) for name in ("ann", "bob", "eve")]
    for viewer in viewers:
        await viewer.enter(room)
        viewer.writes.clear()
    ann = viewers[0]
    for number in range(10):
        await say(one.log, ann.table, ann, f"{number}")
    make_emote(one.log, ann.table, ann, "wow")
    await eventually(lambda: len(waiting) == 11 or ann.writes != [])
    room.follower.audience.add(room.follower.room, FakeViewer("zoe"))
    for viewer in viewers:
        await viewer.have(1, ServerEmote)
        assert heard(viewer) == [("ann", -1, f"{number}") for number in range(10)]
    assert len(ann.writes) == 1
    assert [viewer.writes for viewer in viewers] == [ann.writes] * 3


async def test_what_was_said_just_before_the_room_ends_is_told(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    ann.room.follower.audience.say(ServerEmote("bob", -1, "wow"))
    assert ann.of(ServerEmote) == []
    ann.room.follower.audience.close("restart")
    assert ann.of(ServerEmote) == [ServerEmote("bob", -1, "wow")]


async def test_a_crowd_is_told_group_by_group_and_each_viewer_in_order(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_window, "GROUP", 2)
    room = await one.found()
    viewers = [await FakeViewer(name).enter(room) for name in ("ann", "bob", "cyd", "dan", "eve")]
    audience = room.follower.audience
    for number in range(3):
        audience.say(ServerEmote(f"{number}", -1, "wow"))
    room.follower.audience.add(room.follower.room, FakeViewer("zoe"))
    assert [len(viewer.of(ServerEmote)) for viewer in viewers] == [3, 3, 0, 0, 0]
    viewers[2].leave()
    for viewer in (viewers[3], viewers[4]):
        await viewer.have(3, ServerEmote)
        assert [emote.name for emote in viewer.of(ServerEmote)] == ["0", "1", "2"]
    assert viewers[2].of(ServerEmote) == []


async def test_windows_of_several_rooms_that_end_together_share_the_groups_of_a_tick(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_window, "GROUP", 2)
    rooms = [await one.found() for _ in range(3)]
    viewers = [await FakeViewer(name).enter(room) for room in rooms for name in ("ann", "bob")]
    for room in rooms:
        room.follower.audience.say(ServerEmote("eve", -1, "wow"))
        room.follower.audience.add(room.follower.room, FakeViewer("zoe"))  # ends the window

    def told() -> list[int]:
        return [len(viewer.of(ServerEmote)) for viewer in viewers]

    assert told() == [1, 1, 0, 0, 0, 0]
    for viewer in viewers:
        await viewer.have(1, ServerEmote)


async def test_a_viewer_that_cannot_be_written_to_does_not_end_the_chat_of_others(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_window, "GROUP", 1)
    room = await one.found()
    viewers = [await FakeViewer(name).enter(room) for name in ("ann", "bob", "eve")]

    def fail(*_: Prepared) -> None:
        raise OSError("broken")

    monkeypatch.setattr(viewers[1], "send", fail)
    room.follower.audience.say(ServerEmote("eve", -1, "wow"))
    await viewers[2].have(1, ServerEmote)
