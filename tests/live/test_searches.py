"""The queue of searches: who comes first, who is told what, and what happens when a worker dies."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.games import tile_duel as duel
from towerhall_server.game import Seat
from towerhall_server.live.searches import Search, Searches, Urgency, Worker, WorkerLostError
from towerhall_server.room.search import Job, JobAnswer, JobFailedError

PERSON, BOT, AHEAD = Urgency


def job(name: str) -> Job:
    state = duel.GAME.start(duel.Options(), 2, bytes(32))
    return Job(rules=duel.GAME, state=state, seat=Seat(0), command={"command": name})


class Hand:
    """A worker whose searches end as the test says."""

    def __init__(self, crew: "Crew") -> None:
        self.alive = True
        self.closed = False
        self._crew = crew

    async def do(self, job: Job) -> JobAnswer:
        assert job.command is not None
        name = job.command["command"]
        self._crew.began.append(name)
        ending = self._crew.endings.setdefault(name, asyncio.get_running_loop().create_future())
        try:
            await ending
        except WorkerLostError:
            self.alive = False
            raise
        finally:
            self._crew.endings.pop(name, None)
        return JobAnswer(job.command, ())

    async def close(self) -> None:
        self.closed = True


class Crew:
    """All workers of a test."""

    def __init__(self) -> None:
        self.hands: list[Hand] = []
        self.began: list[str] = []
        self.endings: dict[str, asyncio.Future[None]] = {}

    async def employ(self) -> Worker:
        self.hands.append(Hand(self))
        return self.hands[-1]

    async def end(self, name: str, error: Exception | None = None) -> None:
        """Let a search end, and whatever follows from that begin."""
        if error is None:
            self.endings[name].set_result(None)
        else:
            self.endings[name].set_exception(error)
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def crew() -> Crew:
    return Crew()


@pytest.fixture
async def searches(crew: Crew) -> AsyncIterator[Searches]:
    one = Searches(crew.employ, 1)
    yield one
    await one.close()


async def test_no_worker_is_there_before_it_is_needed(searches: Searches, crew: Crew) -> None:
    await settle()
    assert crew.hands == []
    search = searches.begin(job("a"), PERSON)
    await settle()
    await crew.end("a")
    assert search.ended.result().command == {"command": "a"}
    searches.begin(job("b"), PERSON)
    await settle()
    await crew.end("b")
    assert len(crew.hands) == 1, "a worker that is free is used again"


async def test_no_more_search_at_once_than_there_are_workers(crew: Crew) -> None:
    searches = Searches(crew.employ, 2)
    for name in "abcde":
        searches.begin(job(name), PERSON)
    await settle()
    assert crew.began == ["a", "b"]
    assert (searches.running, searches.waiting) == (2, 3)
    await crew.end("b")
    assert crew.began == ["a", "b", "c"]
    await searches.close()
    assert [hand.closed for hand in crew.hands] == [True, True]


async def test_persons_come_before_bots_and_these_before_what_nobody_asked_for(
    searches: Searches, crew: Crew
) -> None:
    for name, urgency in (("a", AHEAD), ("b", AHEAD), ("c", BOT), ("d", PERSON), ("e", PERSON)):
        searches.begin(job(name), urgency)
    await settle()
    for name in "adecb":
        assert crew.began[-1] == name
        await crew.end(name)
    assert crew.began == list("adecb")


async def test_a_search_that_is_not_wanted_any_more_never_begins(
    searches: Searches, crew: Crew
) -> None:
    running = searches.begin(job("a"), AHEAD)
    waiting = searches.begin(job("b"), AHEAD)
    last = searches.begin(job("c"), AHEAD)
    await settle()
    for dropped in (running, waiting, waiting):
        searches.drop(dropped)
    await crew.end("a")
    await crew.end("c")
    assert crew.began == ["a", "c"]
    assert last.ended.done()
    assert not waiting.ended.done()


async def test_whoever_waits_is_told_how_many_come_first(searches: Searches, crew: Crew) -> None:
    told: dict[str, list[int]] = {name: [] for name in "abcd"}
    found: dict[str, Search] = {}
    for name in "abcd":
        found[name] = searches.begin(job(name), PERSON, told[name].append)
    await settle()
    assert told == {"a": [], "b": [1], "c": [2], "d": [3]}, "one that begins at once tells nothing"
    searches.drop(found["c"])
    assert told == {"a": [], "b": [1], "c": [2], "d": [3, 2]}
    await crew.end("a")
    assert told == {"a": [], "b": [1, 0], "c": [2], "d": [3, 2, 1]}
    await crew.end("b")
    assert told == {"a": [], "b": [1, 0], "c": [2], "d": [3, 2, 1, 0]}


async def test_what_was_nobodys_becomes_urgent_when_a_person_asks(
    searches: Searches, crew: Crew
) -> None:
    told: list[int] = []
    searches.begin(job("a"), PERSON)
    ahead = [searches.begin(job(name), AHEAD) for name in "bc"]
    bot = searches.begin(job("d"), BOT)
    await settle()
    searches.hurry(ahead[1], PERSON, told.append)
    assert told == [1]
    searches.hurry(ahead[1], AHEAD)
    await crew.end("a")
    assert (crew.began, told) == (["a", "c"], [1, 0])
    await crew.end("c")
    assert crew.began == ["a", "c", "d"]
    assert not bot.ended.done()


async def test_a_worker_that_dies_is_replaced_and_its_search_done_again(
    searches: Searches, crew: Crew
) -> None:
    search = searches.begin(job("a"), PERSON)
    waiting = searches.begin(job("b"), PERSON)
    await settle()
    await crew.end("a", WorkerLostError("it died"))
    assert crew.began == ["a", "a"], "it keeps its place"
    assert [hand.closed for hand in crew.hands] == [True, False]
    await crew.end("a")
    await crew.end("b")
    assert search.ended.done()
    assert waiting.ended.done()
    assert len(crew.hands) == 2


async def test_a_search_that_kills_three_workers_fails(searches: Searches, crew: Crew) -> None:
    search = searches.begin(job("a"), PERSON)
    await settle()
    for _ in range(3):
        await crew.end("a", WorkerLostError("it died"))
    with pytest.raises(WorkerLostError):
        search.ended.result()
    assert crew.began == ["a", "a", "a"]
    searches.begin(job("b"), PERSON)
    await settle()
    assert crew.began == ["a", "a", "a", "b"], "others go on"


async def test_a_worker_whose_rules_raise_goes_on(searches: Searches, crew: Crew) -> None:
    search = searches.begin(job("a"), PERSON)
    await settle()
    await crew.end("a", JobFailedError("a traceback"))
    with pytest.raises(JobFailedError, match="a traceback"):
        search.ended.result()
    searches.begin(job("b"), PERSON)
    await settle()
    assert len(crew.hands) == 1


async def test_a_worker_that_died_while_it_was_idle_costs_no_attempt(
    searches: Searches, crew: Crew
) -> None:
    searches.begin(job("a"), PERSON)
    await settle()
    await crew.end("a")
    crew.hands[0].alive = False
    search = searches.begin(job("b"), PERSON)
    await settle()
    assert (search.attempts, len(crew.hands)) == (1, 2)
    assert crew.hands[0].closed


async def test_a_search_whose_worker_cannot_be_started_fails() -> None:
    async def employ() -> Worker:
        raise WorkerLostError("no memory")

    searches = Searches(employ, 1)
    search = searches.begin(job("a"), PERSON)
    await settle()
    with pytest.raises(WorkerLostError, match="no memory"):
        search.ended.result()


async def test_closing_ends_workers_that_are_busy_and_those_that_are_not(crew: Crew) -> None:
    searches = Searches(crew.employ, 2)
    for name in "ab":
        searches.begin(job(name), PERSON)
    await settle()
    await crew.end("a")
    searches.begin(job("c"), PERSON)
    waiting = searches.begin(job("d"), PERSON)
    await searches.close()
    assert [hand.closed for hand in crew.hands] == [True, True]
    assert not waiting.ended.done()
    assert "d" not in crew.began
