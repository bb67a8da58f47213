"""Pages of history: what was live once is told again, to the letter, from the log alone."""

import asyncio
from random import Random

import pytest

from tests.live.live_rooms import DUEL, HIDDEN, FakeViewer, LiveNode, begin
from towerhall_protocol.codec import canonical, encode
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.messages import ServerFrame, ServerReset
from towerhall_server.game import AnyGame
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live import history
from towerhall_server.live.history import page
from towerhall_server.room.view import view_class


async def pages(node: LiveNode, code: str, name: str, first: int, last: int) -> list[ServerFrame]:
    """Ask as a client does: for the rest, until there is none."""
    frames: list[ServerFrame] = []
    while first <= last:
        found = await page(node.directory.node, code, name, first, last)
        assert found is not None
        assert found.last == last
        assert found.frames
        assert found.frames[0].seq == first
        frames += found.frames
        first = frames[-1].seq + 1
    return frames


def as_sent(frames: list[ServerFrame]) -> list[bytes]:
    return [encode(frame) for frame in frames]


@pytest.mark.parametrize("rules", [DUEL, HIDDEN, FIVE_TOWERS], ids=lambda rules: str(rules.name))
async def test_history_tells_what_was_live_to_everybody_as_they_saw_it(
    rules: AnyGame, one: LiveNode, deaf: LiveNode
) -> None:
    one.beat()
    seats = max(2, rules.seats[0])
    ann = await FakeViewer("ann").enter(await one.found(rules, seats=seats))
    code = ann.code
    bob, eve = await one.enter(code, "bob"), await one.enter(code, "eve")
    await begin(ann, bob, bots=seats - 2)
    await asyncio.gather(ann.play(Random(1)), bob.play(Random(2)))
    top = ann.replay.seq
    # Another node, to which the room is new, tells the same.
    for node in (one, deaf):
        for viewer in (ann, bob, eve):
            name = view_class(rules, viewer.seat)
            told = await pages(node, code, name, 1, top)
            assert [frame.seq for frame in told] == list(range(1, top + 1))
            # Whoever sits down sees with other eyes from then on.
            since = max([reset.cursor.seq for reset in viewer.of(ServerReset)], default=1)
            live = [frame for frame in viewer.frames if frame.seq > since]
            assert len(live) > 5
            assert as_sent(told[since:]) == as_sent(live)
            document: dict[str, object] = {}
            for frame in told:
                document = apply(document, frame.patch)
            assert canonical(document) == canonical(viewer.view)


async def test_a_page_has_the_frames_that_were_asked_for_both_ends_included(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    code = ann.code
    await ann.do("sit")
    for number in range(8):
        await ann.do("ready", ready=bool(number % 2))
    whole = await pages(one, code, "0", 1, 10)
    for first in range(1, 11):
        for last in range(first, 11):
            assert await pages(one, code, "0", first, last) == whole[first - 1 : last]
    beyond = await page(one.directory.node, code, "0", 11, 20)
    assert beyond is not None
    assert beyond.frames == ()


async def test_a_page_ends_where_its_limits_are_and_the_next_goes_on_from_there(
    one: LiveNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MOST_FRAMES", 7)
    ann = await FakeViewer("ann").enter(await one.found())
    code = ann.code
    await ann.do("sit")
    for number in range(28):
        await ann.do("ready", ready=bool(number % 2))
    first = await page(one.directory.node, code, "0", 1, 30)
    assert first is not None
    assert len(first.frames) == 7
    whole = await pages(one, code, "0", 1, 30)
    assert as_sent(whole[2:]) == as_sent(ann.frames[1:])
    most = len(encode(whole[0])) + len(encode(whole[1])) + len(encode(whole[2])) - 1
    monkeypatch.setattr(history, "MOST_BYTES", most)
    by_size = await page(one.directory.node, code, "0", 1, 30)
    assert by_size is not None
    assert by_size.frames == tuple(whole[:3]), "the frame that reaches the limit is the last"
    monkeypatch.setattr(history, "MOST_BYTES", 0)
    assert await pages(one, code, "0", 1, 30) == whole


async def test_the_limits_are_those_of_the_protocol() -> None:
    assert (history.MOST_FRAMES, history.MOST_BYTES) == (100, 32 * 1024)


async def test_a_log_of_several_reads_is_told_and_loaded_without_a_seam(
    one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    for number in range(13):
        await ann.do("ready", ready=bool(number % 2))
    for deaf.log.page in (1, 2, 5, 14, 15, 16):
        told = await pages(deaf, ann.code, "0", 1, 15)
        assert as_sent(told[2:]) == as_sent(ann.frames[1:])
        await deaf.directory.close("restart")
        eve = await deaf.enter(ann.code, "eve")
        assert (eve.place, eve.view) == (ann.place, ann.view)


async def test_of_a_room_that_is_gone_there_is_no_history(one: LiveNode) -> None:
    assert await page(one.directory.node, "ABCDEF", "0", 1, 10) is None
