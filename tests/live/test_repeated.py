"""A command that is sent again is done once, by whichever node it comes.

Two nodes on one store stand for any number. Who comes first is not left to luck: just before an
append goes out, a test lets the other node have its way.
"""

import msgspec

from tests.live.judging import to_move
from tests.live.live_rooms import (
    FakeViewer,
    LiveNode,
    begin,
    commands_in,
    commits_of,
    sender,
    whole_log,
)
from towerhall_protocol.messages import (
    ClientCommand,
    ServerDuplicate,
    ServerFrame,
    ServerRejected,
)
from towerhall_server.eventlog.answers import Conflict


async def test_a_repeated_command_gets_its_first_seq_on_every_node_and_after_a_restart(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    code = ann.code
    first = await ann.do("sit")
    await ann.do("ready")
    repeated = ClientCommand(1, "", {"command": "sit"})
    ann.hand_over(repeated)
    assert await ann.until(lambda: ann.of(ServerDuplicate)) == [ServerDuplicate(1, first.seq)]
    for node in (other, one):
        again = FakeViewer("ann", ann.origin)
        await node.directory.close("restart")
        await again.enter(await node.open(code))
        again.hand_over(repeated)
        assert await again.answer(1) == ServerDuplicate(1, first.seq)
    assert commands_in(await commits_of(url, code)) == [(sender(ann), 1), (sender(ann), 2)]


async def test_a_command_repeated_before_its_first_answer_is_done_once(
    url: str, one: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    for _ in range(3):
        ann.hand_over(ClientCommand(1, "", {"command": "sit"}))
    await ann.until(lambda: len(ann.answers(1)) == 3)
    assert ann.answers(1)[1:] == [ServerDuplicate(1, 2), ServerDuplicate(1, 2)]
    assert len(await whole_log(url, ann.code)) == 2


async def test_a_command_that_another_node_did_meanwhile_is_acknowledged_there(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    twin = FakeViewer("ann", ann.origin)
    await twin.enter(await other.open(ann.code))
    one.log.next_append(lambda: twin.do("sit"))
    ann.ask("sit")
    await ann.until(lambda: ann.of(ServerDuplicate))
    assert one.log.count(Conflict) == 1
    assert [type(answer) for answer in ann.answers(1)] == [ServerFrame, ServerDuplicate]
    assert ann.of(ServerDuplicate) == [ServerDuplicate(1, 2)]
    assert len(await whole_log(url, ann.code)) == 2


async def test_a_command_that_was_overtaken_is_stale(url: str, one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    ann.hand_over(ClientCommand(5, "", {"command": "sit"}))
    ann.hand_over(ClientCommand(4, "", {"command": "ready"}))
    answer = await ann.answer(4)
    assert isinstance(answer, ServerRejected)
    assert answer.code == "stale"
    assert commands_in(await commits_of(url, ann.code)) == [(sender(ann), 5)]


async def test_a_node_that_does_not_know_of_it_calls_an_overtaken_command_stale_too(
    url: str, one: LiveNode, deaf: LiveNode
) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    await ann.do("sit")
    late = FakeViewer("ann", ann.origin)
    await late.enter(await deaf.open(ann.code))
    ann.hand_over(ClientCommand(5, "", {"command": "ready"}))
    await ann.answer(5)
    late.hand_over(ClientCommand(4, "", {"command": "ready", "ready": False}))
    answer = await late.answer(4)
    assert isinstance(answer, ServerRejected)
    assert answer.code == "stale"
    assert deaf.log.count(Conflict) == 1
    assert len(await whole_log(url, ann.code)) == 3


async def test_a_command_for_an_old_decision_is_stale(url: str, one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found())
    bob = await one.enter(ann.code, "bob")
    await begin(ann, bob)
    first = to_move(ann, bob)
    tag, body = first.replay.tag, await first.offered()
    await first.move()
    top = first.replay.seq
    first.hand_over(ClientCommand(99, tag, body))
    answer = await first.answer(99)
    assert isinstance(answer, ServerRejected)
    assert (answer.code, answer.rule) == ("stale", "P-43")
    assert len(await whole_log(url, ann.code)) == top


async def test_p42_nobody_can_make_others_believe_that_their_command_is_done(one: LiveNode) -> None:
    ann = await FakeViewer("ann").enter(await one.found(seats=3))
    await ann.do("sit")
    # Every frame names its origin.
    eve = await FakeViewer("eve", ann.replay.origin).enter(ann.room)
    waiting = ann.replay.command({"command": "ready"})
    forged = msgspec.structs.replace(waiting, body={"command": "sit"})
    eve.hand_over(forged)
    answer = await eve.answer(forged.n)
    assert isinstance(answer, ServerRejected)
    assert (answer.code, answer.rule) == ("origin_taken", "P-42")
    assert ann.replay.unanswered == (waiting.n,)
    ann.hand_over(waiting)
    assert isinstance(await ann.answer(waiting.n), ServerFrame)


async def test_p42_of_two_persons_with_one_origin_whoever_is_first_has_it(
    url: str, one: LiveNode, other: LiveNode
) -> None:
    ann = await FakeViewer("ann", "same origin").enter(await one.found())
    bob = await FakeViewer("bob", "same origin").enter(await other.open(ann.code))

    async def ann_sits() -> None:
        await ann.do("sit")

    other.log.next_append(ann_sits)
    bob.hand_over(ClientCommand(1, "", {"command": "sit"}))
    await bob.until(lambda: bob.of(ServerRejected))
    assert bob.of(ServerRejected)[0].code == "origin_taken"
    assert not (ann.of(ServerDuplicate) + bob.of(ServerDuplicate))
    assert len(commands_in(await commits_of(url, ann.code))) == 1
