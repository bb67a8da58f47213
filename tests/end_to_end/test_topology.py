"""Several servers on one store behind Caddy: any server serves any room, and any of them may go."""

import asyncio
import os
import random
import signal
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.end_to_end.games import QUICK, disturb, play_out, seated
from tests.end_to_end.raw import ask, bearer, connected, denied, inside, new_guest, new_room
from tests.end_to_end.servers import ServerProcess
from tests.end_to_end.test_survival import Witness, check_log
from tests.end_to_end.topology import Topology, caddy, node, overseer_of, topology
from tests.store.engines import client
from towerhall_client.bot import play_bot, random_policy
from towerhall_client.connection import Table, connect
from towerhall_client.http import Service
from towerhall_protocol.document import Document

WAKE_SECONDS = 1.0
EXIT_SECONDS = 20.0
REPLACED = 4409
TURN_SECONDS = 5
ALL_RANKS_SECONDS = 2.0
"""Longer than the last server waits for the others before it acts itself."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topology]:
    with topology(tmp_path_factory.mktemp("topology")) as everything:
        yield everything
        for each in everything.nodes:
            assert "Traceback" not in each.log


def rooms_of(nodes: Sequence[ServerProcess]) -> list[int]:
    """How many rooms each server has in memory."""
    return [ask(each.url, "GET", "/readyz").document["rooms"] for each in nodes]


@asynccontextmanager
async def seated_at(
    urls: Sequence[str], *, bots: Sequence[str] = (), turn_seconds: int = 0
) -> AsyncIterator[list[Table]]:
    """A room whose people come by addresses of their own; the game has not started."""
    guests = [await Service(url).guest("Ada") for url in urls]
    made = await Service(urls[0]).create_room(
        guests[0].token,
        "five_towers",
        seats=len(urls) + len(bots),
        bot_delay_ms=0,
        turn_seconds=turn_seconds,
    )
    async with AsyncExitStack() as stack:
        tables = []
        for url, guest in zip(urls, guests, strict=True):
            entering = connect(url, made.code, guest.token, retry=QUICK, keep_frames=True)
            tables.append(await stack.enter_async_context(entering))
            await tables[-1].sit()
            await tables[-1].ready()
        for level in bots:
            await tables[0].add_bot(level)
        yield tables


@asynccontextmanager
async def watching(urls: Sequence[str], code: str) -> AsyncIterator[list[Table]]:
    async with AsyncExitStack() as stack:
        tables = []
        for url in urls:
            guest = await Service(url).guest("Eve")
            entering = connect(url, code, guest.token, retry=QUICK, keep_frames=True)
            tables.append(await stack.enter_async_context(entering))
        yield tables


async def commits_in_store(running: Topology, code: str) -> int:
    """Entries of the log, read without anything of ours."""
    async with client(overseer_of(running.store_url)) as redis:
        (key,) = [key async for key in redis.scan_iter(f"*{code}*", _type="STREAM")]
        return int(await redis.xlen(key))


# Who plays where


async def test_players_on_different_servers_see_the_same_game_and_finish_it(
    running: Topology,
) -> None:
    before = rooms_of(running.nodes)
    async with seated(Service(running.url), 3, bots=["easy"]) as (_, tables):
        after = rooms_of(running.nodes)
        assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1, 1]
        witnesses = [Witness(table) for table in tables]
        await tables[0].start()
        views = await play_out(tables)
        assert all(view == views[0] for view in views)
        await check_log(tables[0], witnesses)
        for witness in witnesses:
            witness.stop()


async def test_those_of_one_room_meet_on_one_server_unless_told_otherwise(
    running: Topology,
) -> None:
    first, *others = running.nodes
    token = new_guest(first.url)
    for _ in range(3):
        before = rooms_of(others)
        code = new_room(first.url, token, seats=2)["code"]
        async with watching([running.hashed_url] * 6, code):
            opened = [now - then for now, then in zip(rooms_of(others), before, strict=True)]
            assert sum(opened) <= 1


async def test_a_move_is_seen_on_every_server_within_a_second(running: Topology) -> None:
    urls = [each.url for each in running.nodes]
    async with (
        seated_at(urls[:2]) as tables,
        watching([running.url, urls[2]], tables[0].code) as viewers,
    ):
        noted = [asyncio.create_task(note_arrivals(table)) for table in (*tables, *viewers)]
        await tables[0].start()
        views = await play_out(tables)
        arrivals = await asyncio.gather(*noted)
        assert all(table.view == views[0] for table in (*tables, *viewers))
        for seq in range(tables[0].seq // 2, tables[0].seq + 1):
            times = [each[seq] for each in arrivals]
            assert max(times) - min(times) < WAKE_SECONDS


async def note_arrivals(table: Table) -> dict[int, float]:
    """When each frame was there, up to the last one."""
    times: dict[int, float] = {}
    while table.status != "over":
        seq = table.seq
        await table.until(lambda: table.seq > seq)  # noqa: B023 - used before the next round
        times |= dict.fromkeys(range(seq + 1, table.seq + 1), time.monotonic())
    return times


async def test_a_seat_is_seen_everywhere_and_its_newest_socket_wins_everywhere(
    running: Topology,
) -> None:
    here, there, elsewhere = (each.url for each in running.nodes)
    token = new_guest(here)
    code = new_room(here, token, seats=2)["code"]
    async with (
        inside(elsewhere, code, new_guest(elsewhere)) as watcher,
        inside(here, code, token) as old,
    ):
        await old.done("sit")
        await watcher.wait_for("presence", [0])
        async with inside(there, code, token) as new:
            assert (await old.end()).code == REPLACED
            assert await new.refused("sit") == "already_seated"
        await watcher.wait_for("presence", [])


# What happens once


async def test_bots_act_once_with_three_servers_at_their_table(running: Topology) -> None:
    urls = [each.url for each in running.nodes]
    async with (
        seated_at(urls[:1], bots=["easy"] * 3) as (table,),
        watching(urls[1:], table.code) as viewers,
    ):
        await table.start()
        await play_out([table])
        for viewer in viewers:
            await viewer.until(lambda: viewer.status == "over")  # noqa: B023 - awaited at once
            assert viewer.view == table.view
        assert await commits_in_store(running, table.code) == table.seq
        frames = await table.history()
        acted = [frame for frame in frames if len(frame.cause) == 1]
        assert len(acted) > 20
        for frame in acted:
            assert turn_at(table, frame.seq - 1) == frame.cause[0]


def turn_at(table: Table, seq: int) -> int | None:
    view = table.replay.view_at(seq)
    assert view is not None
    game = view["game"]
    assert isinstance(game, dict)
    turn = game.get("turn")
    assert turn is None or isinstance(turn, int)
    return turn


async def test_a_clock_runs_out_once_with_three_servers_at_the_table(running: Topology) -> None:
    urls = [each.url for each in running.nodes]
    async with (
        seated_at(urls[:2], turn_seconds=TURN_SECONDS) as tables,
        watching(urls[2:], tables[0].code) as (viewer,),
    ):
        await tables[0].start()
        await viewer.until(lambda: viewer.status == "playing" and viewer.view.get("game"))
        began, seq = time.monotonic(), viewer.seq
        seat = turn_at(viewer, seq)
        await viewer.until(lambda: viewer.seq > seq)
        # The viewer saw the start a little after it was.
        assert TURN_SECONDS - 0.3 < time.monotonic() - began < TURN_SECONDS + ALL_RANKS_SECONDS
        await asyncio.sleep(ALL_RANKS_SECONDS)
        assert viewer.seq == seq + 1 == await commits_in_store(running, viewer.code)
        (frame,) = await viewer.history(seq + 1)
        assert frame.cause == (seat,)


# Who goes


async def test_the_players_of_killed_servers_come_back_to_those_that_are_left(
    running: Topology,
) -> None:
    *doomed, _ = running.nodes
    dead: list[ServerProcess] = []

    async def kill_one() -> None:
        if len(dead) < len(doomed):
            dead.append(doomed[len(dead)])
            dead[-1].kill()

    try:
        async with seated(Service(running.url), 4) as (_, tables):
            witnesses = [Witness(table) for table in tables]
            await tables[0].start()
            views = await disturb(play_out(tables), tables, kill_one, every=20)
            assert dead == doomed
            assert all(view == views[0] for view in views)
            await check_log(tables[0], witnesses)
            for witness in witnesses:
                witness.stop()
    finally:
        for each in dead:
            each.start()


async def test_all_servers_restarted_one_by_one_lose_nothing_of_a_game(running: Topology) -> None:
    async with seated(Service(running.url), 4) as (_, tables), AsyncExitStack() as stack:
        witnesses = [Witness(table) for table in tables]
        await tables[0].start()
        rolled = asyncio.Event()
        playing = asyncio.gather(*(play_slowly(table, rolled) for table in tables))
        asking = asyncio.create_task(keep_asking(running.url, rolled))
        for each in running.nodes:
            token = new_guest(each.url)
            entering = inside(each.url, tables[0].code, token, receive_bytes=4096)
            deaf = await stack.enter_async_context(entering)
            # Far more to read than anybody holds for a connection, and nobody reads it.
            deaf.burst(*(["ping", seq] for seq in range(30_000)))
            began = time.monotonic()
            assert await asyncio.to_thread(each.stop) == 0
            assert time.monotonic() - began < EXIT_SECONDS
            deaf.wire.transport.abort()
            await asyncio.to_thread(each.start)
        assert not playing.done(), "the game was over before all servers were restarted"
        rolled.set()
        statuses = await asking
        assert len(statuses) > 50
        assert set(statuses) == {200}
        views = await playing
        assert all(view == views[0] for view in views)
        await check_log(tables[0], witnesses)
        for witness in witnesses:
            witness.stop()


async def keep_asking(url: str, enough: asyncio.Event) -> list[int]:
    """Look at the list of rooms again and again, as a lobby does; what the answers were."""
    statuses = []
    while not enough.is_set():
        statuses.append((await asyncio.to_thread(ask, url, "GET", "/v1/rooms")).status)
        await asyncio.sleep(0.02)
    return statuses


async def play_slowly(table: Table, hurry: asyncio.Event) -> Document:
    """Think before each move, until there is no reason to any more."""
    policy = random_policy(random.Random(table.seat))
    while not hurry.is_set() and (offers := await table.turn()):
        await asyncio.sleep(0.2)
        await table.send(policy(table.view, offers))
    return await play_bot(table, policy)


async def test_a_server_that_hangs_gets_nobody_new(running: Topology) -> None:
    paused = running.nodes[1].pid
    os.kill(paused, signal.SIGSTOP)
    try:
        await asyncio.sleep(4)  # a look a second, and two seconds for its answer
        began = time.monotonic()
        for _ in range(6):
            assert ask(running.url, "GET", "/v1/games").status == 200
        # Whoever is given to the server that hangs waits for much longer.
        assert time.monotonic() - began < 2
    finally:
        os.kill(paused, signal.SIGCONT)


# What Caddy says of its clients


def test_servers_know_clients_by_the_address_that_caddy_saw(
    running: Topology, tmp_path: Path
) -> None:
    limits = {"TOWERHALL_LIMIT_GUESTS_PER_IP": "1/h"}
    with (
        node(tmp_path / "node", running.store_url, **limits) as server,
        caddy(tmp_path / "caddy", f"127.0.0.1:{server.port}") as url,
    ):
        assert guest_from("127.0.0.5", url) == 201
        assert guest_from("127.0.0.6", url) == 201
        assert guest_from("127.0.0.5", url) == 429
        # What a client says of itself counts for nothing.
        assert guest_from("127.0.0.5", url, {"x-forwarded-for": "127.0.0.7"}) == 429


def guest_from(address: str, url: str, headers: dict[str, str] | None = None) -> int:
    connection = HTTPConnection(urlsplit(url).netloc, source_address=(address, 0), timeout=10)
    declared = {"content-type": "application/json"}
    connection.request("POST", "/v1/guests", b'{"name":"Ada"}', declared | (headers or {}))
    status = connection.getresponse().status
    connection.close()
    return status


async def test_the_page_that_caddy_delivers_may_connect_and_others_may_not(
    running: Topology,
) -> None:
    token = new_guest(running.url)
    code = new_room(running.url, token, seats=2)["code"]
    async with connected(running.url, code, page=running.url) as raw:
        await raw.hello(token)
        assert (await raw.hear())[0] == "welcome"
    answer = await denied(running.url, code, page="https://elsewhere.example")
    assert (answer.status, answer.code) == (403, "foreign_origin")


async def test_a_token_and_a_room_are_good_on_every_server(running: Topology) -> None:
    token = new_guest(running.nodes[0].url)
    code = new_room(running.nodes[1].url, token, seats=2)["code"]
    async with inside(running.nodes[2].url, code, token) as raw:
        await raw.done("sit")
    assert ask(running.url, "GET", f"/v1/rooms/{code}", headers=bearer(token)).status == 200
