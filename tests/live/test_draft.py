"""What will be shown is made while the store still writes, and is shown only if it gets there."""

from collections.abc import Callable, Collection, Mapping

import pytest

from tests.live.live_rooms import FakeViewer, LiveNode, begin, live_node, no_fault
from tests.proxy.store import Proxy
from towerhall_protocol.document import Document
from towerhall_protocol.messages import ServerFrame, ServerPaused
from towerhall_protocol.statements import Sign
from towerhall_server.eventlog.answers import Answer, Append, Conflict
from towerhall_server.game import Seat
from towerhall_server.live import fan_out
from towerhall_server.live.fan_out import Change, Draft, draft_of
from towerhall_server.store.batch import Later
from towerhall_server.store.errors import StoreError

QUICK = "?socket_timeout=0.6"


@pytest.fixture
def drafts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seq of each draft that is made."""
    made: list[int] = []

    def noted(
        change: Change, views: Mapping[str, Document], seated: Collection[Seat], sign: Sign
    ) -> Draft:
        made.append(change.seq)
        return draft_of(change, views, seated, sign)

    monkeypatch.setattr(fan_out, "draft_of", noted)
    return made


async def at_play(node: LiveNode, turn_seconds: int = 0) -> tuple[FakeViewer, FakeViewer]:
    """Two who have begun: the one whose turn it is comes first."""
    ann = await FakeViewer("ann").enter(await node.found(turn_seconds=turn_seconds))
    bob = await FakeViewer("bob").enter(ann.room)
    await begin(ann, bob)
    await ann.until(lambda: ann.replay.offers or bob.replay.offers)
    return (ann, bob) if ann.replay.offers else (bob, ann)


async def test_a_draft_is_made_once_and_before_the_store_answers(
    proxy: Proxy, drafts: list[int]
) -> None:
    async with live_node(proxy.url + QUICK, listens=False) as node:
        first, second = await at_play(node)
        seq, told = first.replay.seq, len(second.got)
        drafts.clear()
        proxy.silent = True
        n = first.ask(**await first.offered())
        await first.until(lambda: drafts)
        assert drafts == [seq + 1]
        await first.until(lambda: first.of(ServerPaused))
        assert not [message for message in second.got[told:] if isinstance(message, ServerFrame)]
        assert not first.answers(n), "nothing is shown before it is in the log"
        proxy.silent = False
        assert isinstance(await first.answer(n), ServerFrame)
        assert drafts == [seq + 1]
        await second.reach(seq + 1)
        assert second.replay.offers
        no_fault(first, second)


async def test_an_answer_that_is_faster_than_the_draft_leaves_nothing_to_make_in_vain(
    one: LiveNode, drafts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await at_play(one)
    ask = one.log.appender.ask

    def answered_first(
        wanted: Append,
        answered: Callable[[Answer | StoreError], Later | None],
        meanwhile: Callable[[], None],
    ) -> None:
        def both(answer: Answer | StoreError) -> Later | None:
            later = answered(answer)
            meanwhile()
            return later

        ask(wanted, both)

    monkeypatch.setattr(one.log.appender, "ask", answered_first)
    seq = first.replay.seq
    drafts.clear()
    await first.move()
    await second.reach(seq + 1)
    assert drafts == [seq + 1]
    no_fault(first, second)


async def test_a_clock_is_shown_by_the_time_of_the_commit(one: LiveNode, drafts: list[int]) -> None:
    players = await at_play(one, turn_seconds=20)
    room = players[0].room
    for _ in range(4):
        await players[0].until(lambda: [player for player in players if player.replay.offers])
        (asked, *_) = [player for player in players if player.replay.offers]
        await asked.move()
        began_ms = room.follower.room.began_ms
        assert asked.view["clock"]["due"] == began_ms + 20_000
        assert began_ms == room.follower.room.served_ms
    assert drafts == sorted(set(drafts)), "and nothing was made in vain"


async def test_what_came_too_late_is_never_shown(
    one: LiveNode, other: LiveNode, drafts: list[int]
) -> None:
    """The draft of a commit that lost its place is forgotten with it."""
    first, second = await at_play(one)
    elsewhere = await other.enter(first.code, second.owner.name)
    seq = first.replay.seq
    drafts.clear()

    async def be_first() -> None:
        await elsewhere.do("want_end")

    one.log.next_append(be_first)
    n = first.ask(**await first.offered())
    answer = await first.answer(n)
    assert isinstance(answer, ServerFrame)
    assert answer.seq == seq + 2
    assert one.log.count(Conflict) == 1
    assert drafts.count(seq + 1) >= 2, "one for each commit that wanted that place"
    await elsewhere.reach(seq + 2)
    assert first.view == elsewhere.view
    no_fault(first, elsewhere)
