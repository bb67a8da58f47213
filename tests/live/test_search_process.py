"""Search processes: real children that decide like the server, and never outlive it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.games import tile_duel as duel
from tests.live.slow_games import BOTS, SLOW
from tests.store.processes import eventually
from towerhall_protocol.document import Document
from towerhall_server.game import AnyGame, Rejected
from towerhall_server.live.search_process import (
    NICENESS,
    SearchProcess,
    start_search_process,
)
from towerhall_server.live.searches import Searches, Urgency, WorkerLostError
from towerhall_server.room.search import Job, JobAnswer, JobFailedError, do_job

GAMES = "tests.live.slow_games:games"
ROOT = Path(__file__).resolve().parent.parent.parent


async def start() -> SearchProcess:
    return await start_search_process(GAMES)


@pytest.fixture
async def process() -> AsyncIterator[SearchProcess]:
    child = await start()
    yield child
    await child.close()


def opening(rules: AnyGame = SLOW) -> Any:
    state = rules.start(duel.Options(), 2, bytes(range(32)))
    return rules.play(state, rules.setup(state))


def asked(command: Document, rules: AnyGame = SLOW) -> Job:
    state = opening(rules)
    return Job(rules=rules, state=state, seat=rules.to_act(state)[0], command=command)


def nasty(what: str, **more: object) -> Job:
    return asked({"command": "nasty", "do": what, **more})


async def told(process: SearchProcess) -> tuple[int, int, int]:
    """The process's id, its parent's, and its niceness."""
    answer = await process.do(nasty("tell"))
    assert isinstance(answer.events, Rejected)
    return tuple(map(int, str(answer.events.params["detail"]).split()))  # type: ignore[return-value]


async def test_a_process_decides_like_the_server_itself(process: SearchProcess) -> None:
    state = opening()
    for _ in range(12):
        (seat,) = SLOW.to_act(state)
        commands = [c for offer in SLOW.offers(state, seat) for c in offer.commands()]
        commands += [{"command": "give_back"}, {"command": "what"}, {}]
        for command in (commands[0], *commands[-4:]):
            job = Job(rules=SLOW, state=state, seat=seat, command=command)
            assert await process.do(job) == do_job(job), command
        events = SLOW.decide(state, seat, commands[0])
        assert not isinstance(events, Rejected)
        state = SLOW.play(state, events)


async def test_a_bot_chooses_and_its_move_is_decided_in_the_process(process: SearchProcess) -> None:
    state = opening(BOTS)
    seat = BOTS.to_act(state)[0]
    job = Job(rules=BOTS, state=state, seat=seat, level="medium", entropy=b"lot")
    answer = await process.do(job)
    assert answer == JobAnswer(answer.command, BOTS.decide(state, seat, answer.command))
    assert not isinstance(answer.events, Rejected)


async def test_the_process_is_another_one_and_gives_way_to_the_server(
    process: SearchProcess,
) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    least_urgent = 19
    niceness = min(own + NICENESS, least_urgent)
    assert await told(process) == (process.pid, os.getpid(), niceness)
    assert os.getsid(process.pid) == os.getsid(0), "niceness counts within a session only"


async def test_rules_that_raise_are_told_with_their_traceback(process: SearchProcess) -> None:
    with pytest.raises(JobFailedError, match="ZeroDivisionError: as it was told to"):
        await process.do(nasty("raise"))
    assert (await told(process))[0] == process.pid, "it goes on"


async def test_what_a_game_prints_is_no_answer(
    process: SearchProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    assert isinstance((await process.do(nasty("print"))).events, Rejected)
    assert isinstance((await process.do(nasty("tell"))).events, Rejected)


async def test_a_process_that_dies_is_noticed(process: SearchProcess) -> None:
    with pytest.raises(WorkerLostError):
        await process.do(nasty("die"))
    await process.close()
    assert not process.alive
    with pytest.raises(WorkerLostError):
        await process.do(nasty("tell"))


async def test_a_process_that_does_not_answer_is_lost(
    process: SearchProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("towerhall_server.live.search_process.ANSWER_SECONDS", 0.05)
    with pytest.raises(WorkerLostError):
        await process.do(nasty("burn", ms=20_000))


async def test_a_search_that_kills_its_process_once_is_done_by_the_next(tmp_path: Path) -> None:
    searches = Searches(start, 1)
    search = searches.begin(nasty("die once", file=str(tmp_path / "died")), Urgency.PERSON)
    answer = await asyncio.wait_for(search.ended, 20)
    assert isinstance(answer.events, Rejected)
    assert search.attempts == 2
    await searches.close()


async def test_no_process_stays_when_the_searches_are_closed() -> None:
    searches = Searches(start, 2)
    quick = searches.begin(nasty("tell"), Urgency.PERSON)
    searches.begin(nasty("burn", ms=60_000), Urgency.PERSON)
    answer = await asyncio.wait_for(quick.ended, 20)
    assert isinstance(answer.events, Rejected)
    pids = children()
    assert len(pids) == 2
    await searches.close()
    assert [pid for pid in pids if is_there(pid)] == []


async def test_ctrl_c_and_a_service_managers_end_are_the_servers_business(
    process: SearchProcess,
) -> None:
    await told(process)
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGTERM)
    assert (await told(process))[0] == process.pid


SERVER = """
import asyncio
from tests.live.test_search_process import nasty, start

async def main():
    idle, busy = await start(), await start()
    await idle.do(nasty("tell"))
    await busy.do(nasty("tell"))
    task = asyncio.create_task(busy.do(nasty("burn", ms=60_000)))
    await asyncio.sleep(0.2)
    print(idle.pid, busy.pid, flush=True)
    await task

asyncio.run(main())
"""


async def test_a_server_that_is_killed_leaves_no_process_behind() -> None:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, cwd=ROOT, stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    pids = [int(word) for word in (await server.stdout.readline()).split()]
    assert [is_there(pid) for pid in pids] == [True, True]
    server.kill()
    await server.communicate()
    try:
        await eventually(lambda: not any(map(is_there, pids)))
    finally:
        for pid in filter(is_there, pids):
            os.kill(pid, signal.SIGKILL)


def children() -> list[int]:
    """The search processes of this process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if int(stat[1]) == os.getpid() and b"search_process" in line:
            found.append(int(folder.name))
    return found


def is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
