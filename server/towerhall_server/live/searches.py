"""The queue of slow decisions of all rooms of a server, and the workers that take from it.

Searches run in a bounded number of workers, so other rooms keep their core. A worker is started
when the first search needs it. The queue is ordered by urgency, then by arrival: the command of a
person, a bot's move, and last a search ahead of a command.

Failure cases: a worker that dies is replaced, and its search is done again, twice at most. A search
whose worker dies each time fails, as does one whose rules raise an exception. A search that is not
wanted any more leaves the queue; one that is being done goes on, and its answer is dropped.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import Final, Protocol

from towerhall_server.room.search import Job, JobAnswer

logger = logging.getLogger(__name__)

MOST_ATTEMPTS: Final = 3
"""Attempts of one search. A process may be killed for lack of memory, whatever it searches. A bot
whose search fails plays the game's default, where a verifier would find another move."""
OnPlace = Callable[[int], None]
"""Called with the number of searches that must end before this one begins; 0: it has begun."""


class Urgency(IntEnum):
    """The lowest number goes first."""

    PERSON = 0
    BOT = 1
    AHEAD = 2
    """Started before the command, which may never come."""


class WorkerLostError(Exception):
    """The worker has died, or could not be started."""


class Worker(Protocol):
    """Does one job at a time."""

    @property
    def alive(self) -> bool: ...

    async def do(self, job: Job) -> JobAnswer:
        """Raises `WorkerLostError` if the worker died, any other exception if the job raised."""
        ...

    async def close(self) -> None:
        """End the worker at once. Must not raise."""
        ...


class Search:
    """One job in the queue, in a worker, or answered."""

    __slots__ = ("attempts", "ended", "job", "number", "on_place", "place", "urgency")

    def __init__(self, job: Job, urgency: Urgency, number: int, on_place: OnPlace | None) -> None:
        self.job = job
        self.urgency = urgency
        self.number = number
        self.on_place = on_place
        self.ended: asyncio.Future[JobAnswer] = asyncio.get_running_loop().create_future()
        """Done when there is an answer, or the exception that stands for it."""
        self.attempts = 0
        self.place = 0
        """The last place in the queue that `on_place` got."""

    @property
    def rank(self) -> tuple[int, int]:
        return (self.urgency, self.number)

    def tell(self, place: int) -> None:
        if self.on_place is not None and place != self.place:
            self.place = place
            self.on_place(place)

    def fail(self, error: Exception) -> None:
        self.ended.set_exception(error)
        # A search may fail that no actor awaits: asyncio must not report it as forgotten.
        self.ended.exception()


class Searches:
    """All searches of a server."""

    def __init__(self, employ: Callable[[], Awaitable[Worker]], most: int) -> None:
        self._employ = employ
        self._most = most
        self.begun = 0
        """Searches that were asked for since the start."""
        self._waiting: list[Search] = []
        self._idle: list[Worker] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> int:
        """Searches in the queue."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Searches in workers."""
        return len(self._tasks)

    def begin(self, job: Job, urgency: Urgency, on_place: OnPlace | None = None) -> Search:
        """Put a job into the queue, or into a worker that is free."""
        self.begun += 1
        search = Search(job, urgency, self.begun, on_place)
        self._waiting.append(search)
        self._start_more()
        return search

    def hurry(self, search: Search, urgency: Urgency, on_place: OnPlace | None = None) -> None:
        """Raise the urgency of a search."""
        search.urgency = min(search.urgency, urgency)
        if on_place is not None:
            search.on_place, search.place = on_place, 0
        self._tell_places()

    def drop(self, search: Search) -> None:
        """Drop a search that is not needed any more. May be called twice, and at any time."""
        if search in self._waiting:
            self._waiting.remove(search)
            self._tell_places()
        search.on_place = None

    async def close(self) -> None:
        """End all workers. Open searches stay without an answer."""
        self._waiting.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        idle, self._idle = self._idle, []
        await asyncio.gather(*(worker.close() for worker in idle))

    def _start_more(self) -> None:
        while self._waiting and len(self._tasks) < self._most:
            search = min(self._waiting, key=lambda each: each.rank)
            self._waiting.remove(search)
            search.tell(0)
            task = asyncio.create_task(self._do(search))
            self._tasks.add(task)
            task.add_done_callback(self._done)
        self._tell_places()

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self._start_more()

    def _tell_places(self) -> None:
        for place, search in enumerate(sorted(self._waiting, key=lambda each: each.rank), 1):
            search.tell(place)

    async def _do(self, search: Search) -> None:
        search.attempts += 1
        worker: Worker | None = None
        try:
            worker = await self._free_worker()
            answer = await worker.do(search.job)
        except WorkerLostError as error:
            logger.warning("a search process was lost: %s", error)
            await _close(worker)
            if search.attempts < MOST_ATTEMPTS:
                self._waiting.append(search)
            else:
                search.fail(error)
        except asyncio.CancelledError:
            await _close(worker)
            raise
        except Exception as error:  # noqa: BLE001 - raised where the search is awaited
            search.fail(error)
            self._idle += [worker] if worker is not None else []
        else:
            search.ended.set_result(answer)
            self._idle.append(worker)

    async def _free_worker(self) -> Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            await worker.close()
        return await self._employ()


async def _close(worker: Worker | None) -> None:
    if worker is not None:
        await worker.close()
