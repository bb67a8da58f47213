"""A worker that searches in a thread of the test: it knows any rules, and a test can stop it.

Jobs and answers take the form in which they travel to a process, so nothing else could get through.
"""

import asyncio

from towerhall_server.game import AnyGame
from towerhall_server.room.search import (
    Job,
    JobAnswer,
    do_job,
    pack_answer,
    pack_job,
    unpack_answer,
    unpack_job,
)


class SearchThread:
    """A worker without a process."""

    alive = True

    async def do(self, job: Job) -> JobAnswer:
        return await asyncio.to_thread(do_as_a_process, job)

    async def close(self) -> None:
        pass


async def start_search_thread() -> SearchThread:
    return SearchThread()


def do_as_a_process(job: Job) -> JobAnswer:
    """The answer to a job, as it comes back from a process."""

    def rules_of(name: str, version: int) -> AnyGame:
        assert (name, version) == (job.rules.name, job.rules.version)
        return job.rules

    return unpack_answer(pack_answer(do_job(unpack_job(pack_job(job), rules_of))), job.rules)
