"""Servers that are killed in mid-game: operators hear of everything all the same."""

import asyncio
import random
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.end_to_end.games import QUICK, disturb, play_out
from tests.operators.processes import SEATS, as_operator, node
from tests.operators.receiver import OK, SECRET, receiver, status
from tests.operators.test_deliveries import told, without_repeats
from towerhall_client.connection import connect
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.operators import Delivered
from towerhall_server.game import discover
from towerhall_server.live.node import Node, ServiceClock
from towerhall_server.operators.pending import Logs


async def to_tell(url: str, code: str) -> list[tuple[int, str]]:
    """What the log says that there is to tell, read by somebody who has no part in it."""
    async with EventLog(url) as log:
        node = Node("reader", log, ServiceClock(), discover())
        reading = await Logs(node).after(code, Delivered())
    assert reading is not None
    return [(news.at.seq, news.kind) for news in reading.notices]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("engine_url", ["redis"], indirect=True)
async def test_every_turn_is_told_while_servers_are_killed(url: str, tmp_path: Path) -> None:
    rng = random.Random(5)
    async with receiver() as hook, AsyncExitStack() as stack:
        hook.answer = lambda count: status(500) if count % 4 == 1 else OK
        variables = {
            "TOWERHALL_WEBHOOKS": f"acme:{hook.url}",
            "TOWERHALL_WEBHOOK_SECRETS": f"acme:{SECRET.decode()}",
        }
        servers = [
            stack.enter_context(node(tmp_path / name, url, **variables)) for name in ("a", "b")
        ]
        wanted = {"game": "five_towers", "seats": SEATS}
        answer = await asyncio.to_thread(as_operator, servers[0].url, "POST", "/rooms", wanted)
        assert answer.status == 201, answer.body
        made = answer.document
        tables = []
        for server, seat in zip(servers, made["seats"], strict=True):
            table = await stack.enter_async_context(
                connect(server.url, made["code"], seat["token"], retry=QUICK)
            )
            await table.sit()
            await table.ready()
            tables.append(table)
        kills = 0

        async def kill() -> None:
            nonlocal kills
            if kills < 5:
                kills += 1
                victim = rng.choice(servers)
                victim.kill()
                await asyncio.to_thread(victim.start)

        await disturb(play_out(tables), tables, kill, every=4)
        expected = await to_tell(url, made["code"])
        await hook.until(lambda: len(without_repeats(hook.taken)) >= len(expected), seconds=60)
    assert kills == 5
    assert expected[-1][1] == "end"
    assert told(without_repeats(hook.taken)) == expected
    assert all(delivery.is_signed_by(SECRET) for delivery in hook.got)
