"""Searches of live rooms: who may go on meanwhile, what is found again, and what is dropped."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from tests.games import tile_duel as duel
from tests.live.judging import to_move
from tests.live.live_rooms import (
    GAMES,
    FakeViewer,
    LiveNode,
    begin,
    hurry,
    live_node,
    no_fault,
    whole_log,
)
from tests.live.search_threads import do_as_a_process
from tests.live.slow_games import AHEAD, BOTS, SLOW, games
from tests.store.processes import eventually
from towerhall_protocol.messages import (
    ClientCommand,
    ServerAccepted,
    ServerFrame,
    ServerRejected,
    ServerSearching,
)
from towerhall_server.game import AnyGame, Seat
from towerhall_server.live.items import Command, TimeIsUp
from towerhall_server.live.search_process import SearchProcess, start_search_process
from towerhall_server.live.searches import Searches
from towerhall_server.room.search import Job, JobAnswer

GIVE_BACK = {"command": "give_back"}
ALL = {**GAMES, **games()}


class Held:
    """Workers whose searches end when the test says so."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        """All that have begun."""
        self._endings: list[asyncio.Future[JobAnswer]] = []
        self.free = False
        """Whether searches end at once."""

    async def employ(self) -> "Held":
        return self

    @property
    def alive(self) -> bool:
        return True

    async def do(self, job: Job) -> JobAnswer:
        if self.free:
            return do_as_a_process(job)
        self.jobs.append(job)
        self._endings.append(asyncio.get_running_loop().create_future())
        return await self._endings[-1]

    async def close(self) -> None:
        pass

    async def let_go(self, at: int = -1, answer: JobAnswer | Exception | None = None) -> None:
        """End a search, as the rules say or otherwise, and let what follows from it happen."""
        ending = self._endings[at]
        if isinstance(answer, Exception):
            ending.set_exception(answer)
        else:
            ending.set_result(answer or do_as_a_process(self.jobs[at]))
        for _ in range(5):
            await asyncio.sleep(0)

    async def has(self, count: int) -> Job:
        """Wait until so many searches have begun; the last one."""
        await eventually(lambda: len(self.jobs) >= count)
        assert len(self.jobs) == count
        return self.jobs[-1]


@pytest.fixture
def held() -> Held:
    return Held()


@asynccontextmanager
async def node_with(url: str, held: Held, most: int = 8, **more: Any) -> AsyncIterator[LiveNode]:
    searches = Searches(held.employ, most)
    async with live_node(url, games=ALL, searches=searches, **more) as node:
        yield node


async def playing(
    node: LiveNode, rules: AnyGame, held: Held, **settings: int
) -> tuple[FakeViewer, FakeViewer]:
    """Who is to move and who is not, in a room where a tile has to be placed. Nothing is held up
    to there."""
    held.free = True
    ann = await FakeViewer("ann").enter(await node.found(rules, **settings))
    bob = await FakeViewer("bob").enter(ann.room)
    await begin(ann, bob)
    found = await placing(ann, bob)
    await eventually(lambda: node.directory.node.searches.running == 0)
    held.free = False
    return found


async def placing(*players: FakeViewer) -> tuple[FakeViewer, FakeViewer]:
    """Choose until something has to be placed."""
    while (mover := to_move(*players)).replay.offers[0].command != "place":
        assert isinstance(await mover.move(), ServerFrame)
    # People are told before the room has moved on.
    await eventually(lambda: mover.place.seq == mover.replay.seq)
    (other,) = {*players} - {mover}
    return mover, other


async def placed(mover: FakeViewer) -> int:
    """Ask for the first placement."""
    return mover.ask(**await mover.offered())


async def moment() -> None:
    await asyncio.sleep(0.05)


# Others in the room


async def test_others_come_in_and_are_served_while_a_command_is_searched(
    url: str, held: Held
) -> None:
    async with node_with(url, held) as node:
        mover, other = await playing(node, SLOW, held)
        n = await placed(mover)
        await held.has(1)
        zoe = await FakeViewer("zoe").enter(mover.room)
        await other.do("want_end")
        await mover.reach(other.replay.seq)
        assert mover.answers(n) == []
        await held.let_go()
        assert isinstance(await mover.answer(n), ServerFrame)
        await held.has(1)
        await zoe.reach(mover.replay.seq)
        no_fault(mover, other, zoe)


async def test_commands_of_one_client_stay_in_their_order(url: str, held: Held) -> None:
    async with node_with(url, held) as node:
        mover, _ = await playing(node, SLOW, held)
        first, second = await placed(mover), mover.ask("want_end")
        await held.has(1)
        await moment()
        assert mover.answers(second) == []
        await held.let_go()
        moved, wanted = await mover.answer(first), await mover.answer(second)
        assert isinstance(moved, ServerFrame)
        assert isinstance(wanted, ServerFrame)
        assert wanted.seq == moved.seq + 1


async def test_a_command_that_was_overtaken_is_stale_before_its_search_has_ended(
    url: str, redis: Redis, other: LiveNode, held: Held
) -> None:
    async with node_with(url, held) as node:
        mover, _ = await playing(node, SLOW, held, turn_seconds=30)
        n, top = await placed(mover), mover.replay.seq
        await held.has(1)
        await hurry(redis, mover.code, 30_000)
        await other.directory.beat_once()
        (await other.open(mover.code)).put(TimeIsUp())
        answer = await mover.answer(n)
        assert isinstance(answer, ServerRejected)
        assert answer.code == "stale"
        assert len(await whole_log(url, mover.code)) == top + 1


async def test_what_the_game_is_not_asked_about_is_not_searched(url: str, held: Held) -> None:
    async with node_with(url, held) as node:
        mover, other = await playing(node, SLOW, held)
        zoe = await FakeViewer("zoe").enter(mover.room)
        body = await mover.offered()
        late = ClientCommand(900, "another tag", body)
        mover.unanswered.add(late.n)
        mover.room.put(Command(mover, late))
        assert isinstance(stale := await mover.answer(late.n), ServerRejected)
        assert stale.code == "stale"
        assert await zoe.refused(**body) == "not_seated"
        assert await other.refused(**body) == "stale"
        await moment()
        assert held.jobs == []


async def test_a_search_that_fails_is_answered_as_a_fault_and_done_anew_when_asked_again(
    url: str, held: Held
) -> None:
    async with node_with(url, held) as node:
        mover, _ = await playing(node, SLOW, held)
        n = await placed(mover)
        await held.has(1)
        await held.let_go(answer=ZeroDivisionError("nobody knows why"))
        answer = await mover.answer(n)
        assert isinstance(answer, ServerRejected)
        assert answer.code == "poisoned"
        n = await placed(mover)
        await held.has(2)
        await held.let_go()
        assert isinstance(await mover.answer(n), ServerFrame)


async def test_a_slow_dry_run_is_searched_and_not_searched_again(url: str, held: Held) -> None:
    async with node_with(url, held) as node:
        mover, _ = await playing(node, SLOW, held)
        body, top = await mover.offered(), mover.replay.seq
        dry = mover.replay.command(body, dry=True)
        mover.hand_over(dry)
        await held.has(1)
        await held.let_go()
        assert isinstance(await mover.answer(dry.n), ServerAccepted)
        assert mover.replay.seq == top
        assert isinstance(await mover.answer(mover.ask(**body)), ServerFrame)
        await held.has(1)


async def test_a_room_that_ends_drops_its_searches(url: str, held: Held) -> None:
    async with node_with(url, held, most=1) as node:
        one, _ = await playing(node, SLOW, held)
        two, _ = await playing(node, SLOW, held)
        await placed(one)
        await held.has(1)
        await placed(two)
        await eventually(lambda: node.directory.node.searches.waiting == 1)
        await two.room.stop("restart")
        assert node.directory.node.searches.waiting == 0


# The queue


async def test_only_the_client_that_waits_in_the_queue_is_told_of_it(url: str, held: Held) -> None:
    async with node_with(url, held, most=1) as node:
        first, _ = await playing(node, SLOW, held)
        second, other = await playing(node, SLOW, held)
        third, _ = await playing(node, SLOW, held)
        third.level = 1
        zoe = await FakeViewer("zoe").enter(second.room)
        numbers = []
        for waiting, mover in enumerate((first, second, third)):
            numbers.append(await placed(mover))
            await eventually(lambda: node.directory.node.searches.waiting == waiting)  # noqa: B023
        assert second.of(ServerSearching) == [ServerSearching(numbers[1], 1)]
        await held.let_go()
        await held.has(2)
        assert second.of(ServerSearching)[1:] == [ServerSearching(numbers[1], 0)]
        await held.let_go()
        await held.has(3)
        await held.let_go()
        for mover, n in zip((first, second, third), numbers, strict=True):
            assert isinstance(await mover.answer(n), ServerFrame)
        assert [viewer.of(ServerSearching) for viewer in (first, third, other, zoe)] == [[]] * 4
        no_fault(first, second, third, other, zoe)


async def test_a_person_does_not_wait_behind_what_nobody_has_asked_for(
    url: str, held: Held
) -> None:
    async with node_with(url, held, most=1) as node:
        busy, _ = await playing(node, SLOW, held)
        guessed = [await playing(node, AHEAD, held) for _ in range(3)]
        asking, _ = await playing(node, SLOW, held)
        await placed(busy)
        await held.has(1)
        for mover, other in guessed:
            await mover.move()
            await placing(mover, other)
        assert node.directory.node.searches.waiting == 3
        n = await placed(asking)
        await held.let_go()
        assert (await held.has(2)).command == (await asking.offered())
        await held.let_go()
        assert isinstance(await asking.answer(n), ServerFrame)


# Decided ahead


async def test_what_a_person_may_ask_for_is_searched_once_and_before_they_ask(
    url: str, held: Held
) -> None:
    async with node_with(url, held) as node:
        mover, other = await playing(node, AHEAD, held)
        assert isinstance(await mover.move(), ServerFrame)
        mover, other = await placing(mover, other)
        job = await held.has(1)
        assert (job.command, job.seat) == (GIVE_BACK, mover.seat)
        n = mover.ask("give_back")
        await moment()
        assert mover.answers(n) == []
        await held.let_go()
        answer = await mover.answer(n)
        assert isinstance(answer, ServerRejected)
        assert answer.code == "place_exists"
        assert await mover.refused("give_back") == "place_exists"
        await held.has(1)
        assert mover.of(ServerSearching) == []


async def test_an_answer_is_used_in_no_other_state(url: str, held: Held) -> None:
    async with node_with(url, held) as node:
        mover, other = await playing(node, AHEAD, held)
        await mover.move()
        mover, other = await placing(mover, other)
        await held.has(1)
        await mover.move()
        mover, other = await placing(mover, other)
        await held.has(2)
        n = mover.ask("give_back")
        await held.let_go(0, JobAnswer(GIVE_BACK, (duel.GivenBack(Seat(0)),)))
        await moment()
        assert mover.answers(n) == []
        await held.let_go(1)
        answer = await mover.answer(n)
        assert isinstance(answer, ServerRejected)
        assert answer.code == "place_exists"


async def test_a_state_that_has_passed_is_not_searched_any_more(url: str, held: Held) -> None:
    async with node_with(url, held, most=1) as node:
        busy, _ = await playing(node, SLOW, held)
        mover, other = await playing(node, AHEAD, held)
        await placed(busy)
        await held.has(1)
        seqs = set()
        for _ in range(4):
            await mover.move()
            mover, other = await placing(mover, other)
            seqs.add(mover.replay.seq)
            assert node.directory.node.searches.waiting == 1
        await held.let_go()
        job = await held.has(2)
        assert job.state is mover.room.follower.room.game
        assert len(seqs) == 4


async def test_nothing_is_searched_ahead_for_bots_and_for_those_who_are_not_there(
    url: str, held: Held
) -> None:
    async with node_with(url, held) as node:
        mover, other = await playing(node, AHEAD, held)
        other.leave()
        body = await mover.offered()
        assert isinstance(await mover.answer(mover.ask(**body)), ServerFrame)
        await moment()
        if mover.replay.offers:
            await mover.move()
            await moment()
        seats = [job.seat for job in held.jobs]
        assert other.seat not in seats
        back = await other.again().enter(mover.room)
        await moment()
        assert not back.replay.offers or back.replay.offers[0].command == "choose" or held.jobs
        count = len(held.jobs)
        await back.do("leave")
        await moment()
        assert all(job.level for job in held.jobs[count:])


# Slow bots


async def test_slow_bots_play_a_whole_game_in_search_processes(url: str) -> None:
    async def employ() -> SearchProcess:
        return await start_search_process("tests.live.slow_games:games")

    searches = Searches(employ, 2)
    async with live_node(url, games=ALL, searches=searches) as node:
        ann = await FakeViewer("ann").enter(await node.found(BOTS))
        await ann.do("sit")
        await ann.do("add_bot", level="medium")
        await ann.do("start")
        await ann.do("leave", level="medium")
        await ann.until(lambda: ann.status == "over")
        no_fault(ann)
        moves = [frame for frame in ann.frames if len(frame.cause) == 1]
        assert searches.begun >= len(moves) > 10
        assert "timed_out" not in {fact[0] for frame in ann.frames for fact in frame.facts}


async def test_a_person_takes_back_their_seat_while_the_bot_thinks(url: str, held: Held) -> None:
    async with node_with(url, held) as node:
        mover, other = await playing(node, AHEAD, held)
        n = mover.ask("leave", level="medium")
        assert isinstance(await mover.answer(n), ServerFrame)
        await eventually(lambda: any(job.level for job in held.jobs))
        top = mover.replay.seq
        await mover.do("take_back")
        assert mover.replay.seq == top + 1
        for at, job in enumerate(held.jobs):
            if job.level:
                await held.let_go(at)
        await moment()
        assert mover.replay.seq == top + 1
        assert isinstance(await mover.move(), ServerFrame)
        no_fault(mover, other)


async def test_a_bot_whose_search_fails_is_replaced_by_the_games_default(
    url: str, held: Held
) -> None:
    async with node_with(url, held) as node:
        mover, _ = await playing(node, AHEAD, held)
        seat, top = mover.seat, mover.replay.seq
        await mover.do("leave", level="medium")
        await eventually(lambda: any(job.level for job in held.jobs))
        await held.let_go(answer=ZeroDivisionError("as bots do"))
        await mover.reach(top + 2)
        assert mover.frames[-1].cause == (seat,)
        assert mover.frames[-1].facts[0][:3] == ("placed", seat, 0)
