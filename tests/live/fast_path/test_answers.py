"""The short way of a command when the store does not answer, or when somebody else was first."""

import pytest

from tests.live.fast_path.ways import Fate, Way, forget, refusals, seated, senders
from tests.live.live_rooms import (
    FakeViewer,
    LiveNode,
    no_fault,
    sender,
    whole_log,
)
from towerhall_protocol.messages import (
    ClientCommand,
    ServerDuplicate,
    ServerError,
    ServerFrame,
    ServerPaused,
    ServerRejected,
    ServerWelcome,
)
from towerhall_server.eventlog.answers import Conflict
from towerhall_server.live.items import Command, Item, Tried

# A store that does not answer


@pytest.mark.parametrize(
    "fates",
    [
        ("lost answer",),
        ("lost request",),
        ("lost request", "lost request", "lost answer"),
        ("lost answer", "lost answer", "lost request"),
    ],
    ids=["it arrived", "it did not", "it arrived at last", "it arrived at first"],
)
async def test_what_nobody_knows_of_is_sent_again_as_it_is_until_it_is_known(
    fates: tuple[Fate, ...], url: str, one: LiveNode, way: Way, turns: list[type[Item]]
) -> None:
    ann, bob = await seated(one)
    forget(way, turns)
    way.fates.extend(fates)
    n = ann.ask("ready")
    later = bob.ask("ready")
    assert isinstance(await ann.answer(n), ServerFrame)
    assert isinstance(await bob.answer(later), ServerFrame)
    assert len(ann.answers(n)) == 1
    first, *again = way.asked[: 1 + len(fates)]
    assert again == [first] * len(fates), "the same bytes, and the same commit id"
    assert turns == [Tried, Command]
    for viewer in (ann, bob):
        assert viewer.of(ServerPaused) == [ServerPaused(True), ServerPaused(False)]
        assert viewer.seqs == [2, 3, 4, 5]
    entries = await whole_log(url, ann.code)
    assert len(entries) == 5
    assert entries[3].commit_id == first.entry.commit_id
    assert (await senders(url, ann.code))[2:] == [(sender(ann), n), (sender(bob), later)]
    await ann.do("ready", ready=False)
    assert turns == [Tried, Command], "the next one has the short way again"
    no_fault(ann, bob)


async def test_while_the_room_is_paused_commands_are_kept_and_their_senders_told(
    url: str, one: LiveNode, way: Way
) -> None:
    ann, bob = await seated(one)
    way.fates.extend(["lost request", "late answer"])
    ann.ask("ready")
    await way.is_late()
    assert ann.of(ServerPaused) == [ServerPaused(True)]
    n = bob.ask("ready")
    assert [error.code for error in bob.of(ServerError)] == ["store_unavailable"]
    assert ann.seqs == [2, 3]
    way.let_go()
    assert isinstance(await bob.answer(n), ServerFrame)
    assert refusals(ann) == refusals(bob) == []
    assert len(await whole_log(url, ann.code)) == 5
    no_fault(ann, bob)


# Somebody else was first


async def test_a_command_that_came_second_is_decided_again_and_lands_once(
    url: str, one: LiveNode, other: LiveNode, way: Way, turns: list[type[Item]]
) -> None:
    ann, _ = await seated(one)
    eve = await other.enter(ann.code, "eve")
    elsewhere = await other.enter(ann.code, "bob")
    forget(way, turns)
    one.log.next_append(lambda: elsewhere.do("ready"))
    frame = await ann.do("ready")
    assert one.log.count(Conflict) == 1
    assert Tried in turns
    assert frame.seq == 5
    assert ann.seqs == [2, 3, 4, 5], "what the other node did is shown first"
    first, second = way.asked
    assert first.entry.commit_id != second.entry.commit_id, (
        "it is another commit, after another past"
    )
    assert (await senders(url, ann.code))[2:] == [(sender(elsewhere), 1), (sender(ann), 2)]
    await eve.reach(5)
    assert eve.view == ann.view
    no_fault(ann, eve)


async def test_a_command_that_came_second_and_is_no_longer_allowed_is_refused(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await other.enter(ann.code, "bob")
    one.log.next_append(lambda: bob.do("sit", seat=1))
    n = ann.ask("sit", seat=1)
    later = ann.ask("sit", seat=0)
    assert isinstance(await ann.answer(later), ServerFrame)
    assert [type(answer) for answer in ann.answers(n)] == [ServerRejected]
    assert refusals(ann) == ["seat_taken"]
    assert one.log.count(Conflict) == 1
    assert ann.seqs == [2, 3]
    assert await senders(url, ann.code) == [(sender(bob), 1), (sender(ann), later)]
    no_fault(ann, bob)


async def test_what_waits_behind_a_command_that_came_second_is_done_after_it(
    url: str, one: LiveNode, other: LiveNode, turns: list[type[Item]]
) -> None:
    ann, bob = await seated(one)
    elsewhere = await other.enter(ann.code, "ann")
    one.log.next_append(lambda: elsewhere.do("ready"))
    bob.ask("ready")
    bob.ask("ready", ready=False)
    eve = await FakeViewer("eve").enter(ann.room)
    assert eve.of(ServerWelcome)[0].arrival.cursor.seq == 6
    done = [(sender(elsewhere), 1), (sender(bob), 2), (sender(bob), 3)]
    assert (await senders(url, ann.code))[2:] == done
    assert "ready" not in bob.view["room"]["seats"]["1"]
    no_fault(bob, eve)


async def test_a_command_that_another_node_has_done_is_read_and_acknowledged(
    url: str, one: LiveNode, other: LiveNode, turns: list[type[Item]]
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    twin = await FakeViewer("ann", ann.origin).enter(await other.open(ann.code))
    one.log.next_append(lambda: twin.do("sit"))
    n = ann.ask("sit")
    await ann.until(lambda: ann.of(ServerDuplicate))
    assert one.log.count(Conflict) == 1
    assert turns.count(Tried) == 1
    assert [type(answer) for answer in ann.answers(n)] == [ServerFrame, ServerDuplicate]
    assert ann.of(ServerDuplicate) == [ServerDuplicate(n, 2)]
    assert ann.unanswered == set()
    assert await senders(url, ann.code) == [(sender(ann), n)]


async def test_a_command_that_a_later_one_has_overtaken_elsewhere_is_stale(
    url: str, one: LiveNode, other: LiveNode, turns: list[type[Item]]
) -> None:
    ann, _ = await seated(one)
    twin = await FakeViewer("ann", ann.origin).enter(await other.open(ann.code))

    async def overtake() -> None:
        twin.hand_over(ClientCommand(9, "", {"command": "ready"}))
        await twin.answer(9)

    one.log.next_append(overtake)
    ann.hand_over(ClientCommand(8, "", {"command": "stand"}))
    [answer] = await ann.until(lambda: ann.of(ServerRejected))
    assert (answer.n, answer.code, answer.rule) == (8, "stale", "P-42")
    assert one.log.count(Conflict) == 1
    assert turns.count(Tried) == 1
    assert ann.unanswered == set()
    assert (await senders(url, ann.code))[2:] == [(sender(ann), 9)]
