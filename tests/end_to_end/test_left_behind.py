"""What ends leaves garbage in cycles, which is swept when there may be enough of it: so each ending
has to be counted for at least as much as it leaves behind."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

from tests.end_to_end.games import play_out, seated
from tests.end_to_end.raw import SECONDS, inside, new_guest, new_room
from tests.end_to_end.servers import ServerProcess, running
from towerhall_client.http import Service
from towerhall_server.telemetry.meters import CONNECTION_OBJECTS, ROOM_OBJECTS

SWEPT = re.compile(r"swept: counted=(\d+) found=(\d+)")
CONNECTIONS = 30


class Tidy(ServerProcess):
    module = "tests.end_to_end.tidy_server"

    def sweeps(self) -> list[tuple[int, int]]:
        """What was counted and found in each sweep so far."""
        return [(int(counted), int(found)) for counted, found in SWEPT.findall(self.log)]


async def total(server: Tidy, since: int, until: Callable[[int], bool]) -> tuple[int, int]:
    """What was counted and found in all sweeps since then, when enough is counted and one more
    sweep has been made."""
    async with asyncio.timeout(SECONDS):
        # What is waited for is a line in another process's log.
        while not until(sum(counted for counted, _ in server.sweeps()[since:-1])):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    sweeps = server.sweeps()[since:]
    return sum(counted for counted, _ in sweeps), sum(found for _, found in sweeps)


async def test_connections_leave_no_more_behind_than_is_counted(tmp_path: Path) -> None:
    with running(tmp_path / "data", kind=Tidy) as server:
        assert isinstance(server, Tidy)
        token = new_guest(server.url)
        code = new_room(server.url, token)["code"]
        async with inside(server.url, code, token):  # the room stays awake
            await asyncio.sleep(0.5)
            since = len(server.sweeps())
            for _ in range(CONNECTIONS):
                async with inside(server.url, code, token):
                    pass
            expected = CONNECTIONS * CONNECTION_OBJECTS
            counted, found = await total(server, since, lambda counted: counted >= expected)
        assert counted == expected
        assert CONNECTIONS < found <= counted


async def test_a_room_leaves_no_more_behind_than_is_counted(tmp_path: Path) -> None:
    with running(tmp_path / "data", kind=Tidy) as server:
        assert isinstance(server, Tidy)
        async with seated(Service(server.url), 1, bots=["easy"] * 3) as (_, tables):
            await tables[0].start()
            await play_out(tables)
            since = len(server.sweeps())
        counted, found = await total(server, since, lambda counted: counted >= ROOM_OBJECTS)
        assert counted >= ROOM_OBJECTS + CONNECTION_OBJECTS
        assert 10 < found <= counted, "though most of a room is plain data, which no sweep sees"
