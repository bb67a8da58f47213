"""A server whose rooms are removed soon after their end, so that only records of them are left."""

import asyncio

from tests.end_to_end.raw import ask
from tests.end_to_end.servers import ServerProcess


class BriefProcess(ServerProcess):
    module = "tests.end_to_end.brief_server"


async def gone(url: str, code: str) -> None:
    """Wait until a public room has been removed."""
    while (  # noqa: ASYNC110 - the room tells nobody
        await asyncio.to_thread(ask, url, "GET", f"/v1/rooms/{code}")
    ).status != 404:
        await asyncio.sleep(0.05)
