"""Faults in the rules: what is refused, what is quarantined, and that nobody else suffers.

The rules are those of the toy, and each of their functions raises while a test wants it to.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from random import Random
from time import monotonic
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.live.live_rooms import (
    DUEL,
    FakeViewer,
    LiveNode,
    begin,
    commits_of,
    hurry,
    live_node,
    no_fault,
    whole_log,
)
from towerhall_protocol.messages import ServerDuplicate, ServerFrame, ServerRejected
from towerhall_server.game import AnyGame
from towerhall_server.live import directory as directory_module
from towerhall_server.live.directory import QUARANTINE_SECONDS, PoisonedRoomError
from towerhall_server.live.follower import BACKSTOP_MS
from towerhall_server.live.record_store import record_of
from towerhall_server.record.verify import verify
from towerhall_server.room.events import RoomClosed
from towerhall_server.room.steps import ABANDONED_MS


class FaultError(Exception):
    """Something is wrong with the rules."""


class FaultyRules:
    """Rules whose functions fail as long as they are `broken`; calls of each are counted."""

    def __init__(self) -> None:
        self.broken: set[str] = set()
        self.calls: Counter[str] = Counter()
        names = ("decide", "fold", "view", "offers", "to_act", "timeout", "result")
        functions: dict[str, Any] = {
            name: self._watched(name, getattr(DUEL, name)) for name in names
        }
        bots = {level: self._watched("bot", bot) for level, bot in DUEL.bots.items()}
        self.game: AnyGame = replace(DUEL, name="faulty", bots=bots, **functions)

    def _watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls[name] += 1
            if name in self.broken:
                raise FaultError(name)
            return function(*arguments)

        return call


@pytest.fixture
def rules() -> FaultyRules:
    return FaultyRules()


@pytest.fixture
async def node(url: str, rules: FaultyRules) -> AsyncIterator[LiveNode]:
    async with live_node(url, games={"faulty": rules.game, DUEL.name: DUEL}) as live:
        yield live


@pytest.fixture
async def healthy(node: LiveNode) -> AsyncIterator[FakeViewer]:
    """Somebody in another room of the same node, which has to stay as it is."""
    ann = await FakeViewer("ann").enter(await node.found())
    yield ann
    assert (await ann.do("sit")).seq == 2
    assert ann.closed is None
    no_fault(ann)


async def playing(node: LiveNode, rules: FaultyRules) -> tuple[FakeViewer, FakeViewer]:
    """Two persons in a game: whose turn it is, and the other one."""
    ann = await FakeViewer("ann").enter(await node.found(rules.game))
    bob = await node.enter(ann.code, "bob")
    await begin(ann, bob)
    await ann.until(lambda: ann.replay.offers or bob.replay.offers)
    return (ann, bob) if ann.replay.offers else (bob, ann)


# While deciding


@pytest.mark.parametrize("part", ["decide", "fold", "result", "to_act"])
async def test_a_fault_while_deciding_refuses_one_command_and_nothing_is_written(
    part: str, url: str, node: LiveNode, rules: FaultyRules, healthy: FakeViewer
) -> None:
    first, other = await playing(node, rules)
    length = len(await whole_log(url, first.code))
    body = await first.offered()
    rules.broken = {part}
    for _ in range(3):
        assert await first.refused(**body) == "poisoned"
    assert len(await whole_log(url, first.code)) == length
    rules.broken = set()
    assert isinstance(await first.move(), ServerFrame)
    await other.reach(first.replay.seq)
    no_fault(first, other)


# While showing


@pytest.mark.parametrize("part", ["view", "offers"])
async def test_what_is_in_the_log_and_cannot_be_shown_is_not_called_refused(
    part: str, url: str, node: LiveNode, rules: FaultyRules, healthy: FakeViewer
) -> None:
    first, other = await playing(node, rules)
    body = await first.offered()
    length = len(await whole_log(url, first.code))
    rules.broken = {part}
    n = first.ask(**body)
    assert await first.ended() == await other.ended() == "server_fault"
    assert not any(isinstance(answer, ServerRejected) for answer in first.answers(n))
    assert len(await whole_log(url, first.code)) == length + 1
    # As long as it is so nobody is let in, or whoever has a choice is not; but nobody waits.
    again = first.again(), other.again()
    actor = await node.open(first.code)
    for viewer in again:
        viewer.greet(actor)
    acting = [viewer for viewer in again if is_to_act(actor.follower.room, viewer)]
    for viewer in acting if part == "offers" else again:
        assert await viewer.ended() == "server_fault"
    rules.broken = set()
    back = [await viewer.again().enter(await node.open(first.code)) for viewer in again]
    for command in back[0].replay.resend():
        back[0].hand_over(command)
    await back[0].until(lambda: not back[0].replay.unanswered)
    assert [type(answer) for answer in back[0].answers(n)] in ([], [ServerFrame], [ServerDuplicate])
    await asyncio.gather(*(viewer.play(Random(1)) for viewer in back))
    assert back[0].view == back[1].view
    assert back[0].faults == back[1].faults == []


def is_to_act(room: Any, viewer: FakeViewer) -> bool:
    return any(
        room.table.seats[seat].identity == viewer.person.id for seat in DUEL.to_act(room.game)
    )


async def test_who_cannot_be_let_in_is_sent_away_and_those_inside_play_on(
    url: str, node: LiveNode, rules: FaultyRules
) -> None:
    first, other = await playing(node, rules)
    async with live_node(url, "second", games={"faulty": rules.game}) as second:
        actor = await second.open(first.code)
        rules.broken = {"view"}
        eve = FakeViewer("eve")
        eve.greet(actor)
        assert await eve.ended() == "server_fault"
        assert len(actor.follower.audience) == 0
        rules.broken = set()
        eve = await FakeViewer("eve").enter(actor)
        assert isinstance(await first.move(), ServerFrame)
        await eve.reach(first.replay.seq)
        await other.reach(first.replay.seq)
        no_fault(first, other, eve)


# While reading a log


@pytest.mark.parametrize("part", ["fold", "to_act"])
async def test_a_room_that_cannot_be_replayed_is_served_again_when_the_cause_is_gone(
    part: str, url: str, node: LiveNode, rules: FaultyRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = await playing(node, rules)
    await first.move()
    async with live_node(url, "other", games={"faulty": rules.game, DUEL.name: DUEL}) as other:
        healthy = await FakeViewer("ann").enter(await other.found())
        rules.broken = {part}
        for _ in range(3):
            with pytest.raises(PoisonedRoomError):
                await other.open(first.code)
        assert other.log.loads == 1, "it is not tried again and again"
        assert (await healthy.do("sit")).seq == 2
        rules.broken = set()
        with pytest.raises(PoisonedRoomError):
            await other.open(first.code)
        monkeypatch.setattr(directory_module, "monotonic", lambda: monotonic() + QUARANTINE_SECONDS)
        back = await first.again().enter(await other.open(first.code))
        assert back.replay.seq == first.replay.seq


async def test_a_poisoned_room_does_not_keep_others_from_being_woken(
    url: str, redis: Redis, rules: FaultyRules
) -> None:
    games = {"faulty": rules.game, DUEL.name: DUEL}
    async with live_node(url, games=games) as node:
        poisoned = [(await playing(node, rules))[0].code for _ in range(3)]
        ann = await FakeViewer("ann").enter(await node.found())
        await ann.do("sit")
    rules.broken = {"to_act"}
    async with live_node(url, "other", games=games) as other:
        for code in (*poisoned, ann.code):
            await hurry(redis, code, ABANDONED_MS + BACKSTOP_MS)
        await other.directory.beat_once()
        async with asyncio.timeout(10):
            while not await is_closed(url, ann.code):  # noqa: ASYNC110 - the store is looked at
                await asyncio.sleep(0.02)


async def is_closed(url: str, code: str) -> bool:
    commits = await commits_of(url, code)
    return any(isinstance(event, RoomClosed) for commit in commits for event in commit.room)


# By itself


def chooses_nonsense(view: Any, offers: Any, entropy: bytes) -> dict[str, object]:
    return {"command": "place", "column": 99, "side": "flat", "tilt": -1}


@pytest.mark.parametrize("way", ["raises", "chooses nonsense"])
async def test_for_a_bot_that_fails_the_default_is_played_and_the_game_goes_on(
    way: str, url: str, node: LiveNode, rules: FaultyRules, healthy: FakeViewer
) -> None:
    if way == "raises":
        rules.broken = {"bot"}
    else:
        rules.game.bots["easy"] = rules._watched("bot", chooses_nonsense)  # type: ignore[index]
    node.beat()
    ann = await FakeViewer("ann").enter(await node.found(rules.game))
    await begin(ann, bots=1)
    await ann.play(Random(4))
    no_fault(ann)
    commits = await commits_of(url, ann.code)
    by_bot = [commit for commit in commits if commit.cause.seat == 1 and commit.game]
    assert len(by_bot) >= 5
    assert rules.calls["bot"] == len(by_bot), "it was asked once for each move"
    games = {"faulty": rules.game}
    record = await record_of(node.log, ann.code, games)
    assert record is not None
    assert verify(record, games) == (), "the bot fails again, and the default stands for it again"
    if way == "raises":
        rules.broken = set()
        (finding,) = verify(record, games)
        assert finding.code == "bot", "a sound bot has no default"


@pytest.mark.parametrize("errand", ["bot", "turn"])
async def test_a_room_that_cannot_go_on_by_itself_tries_again_now_and_then(
    errand: str, node: LiveNode, redis: Redis, rules: FaultyRules, healthy: FakeViewer
) -> None:
    node.beat()
    settings = {"bot_delay_ms": 300} if errand == "bot" else {"turn_seconds": 1}
    ann = await FakeViewer("ann").enter(await node.found(rules.game, **settings))
    if errand == "bot":
        await begin(ann, bots=1)
        while ann.replay.offers:
            await ann.move()
    else:
        await begin(ann, await node.enter(ann.code, "bob"))
    began, before = ann.replay.seq, rules.calls["decide"]
    rules.broken = {"decide"}
    await asyncio.sleep(1.5)
    tries = rules.calls["decide"] - before
    # The bot's own choice and the default for it; or the default for whoever sleeps.
    assert tries == (2 if errand == "bot" else 1), "it does not try again and again"
    assert ann.replay.seq == began
    assert ann.closed is None
    # The store wakes it later on, and then it goes on.
    rules.broken = set()
    await hurry(redis, ann.code, 5_000)
    await ann.reach(began + 1)
    no_fault(ann)
