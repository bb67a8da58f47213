"""Whole games over sockets, by the library that everybody can use."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from towerhall_client.bot import play_bot, random_policy
from towerhall_client.connection import Table, connect
from towerhall_client.http import Guest, NewRoom, Service
from towerhall_client.retry import Retry
from towerhall_protocol.document import Document

QUICK = Retry(first_seconds=0.05, most_seconds=0.4)


async def guests_of(service: Service, *names: str) -> list[Guest]:
    return [await service.guest(name) for name in names]


@asynccontextmanager
async def seated(
    service: Service,
    people: int,
    *,
    bots: Sequence[str] = (),
    subprotocol: str = "towerhall.v1.msgpack",
    keep_frames: bool = True,
    bot_delay_ms: int = 0,
    turn_seconds: int = 0,
) -> AsyncIterator[tuple[NewRoom, list[Table]]]:
    """A room whose people sit and are ready; the game has not started."""
    guests = await guests_of(service, *(f"player {number}" for number in range(people)))
    size = people + len(bots)
    made = await service.create_room(
        guests[0].token,
        "five_towers",
        seats=size,
        bot_delay_ms=bot_delay_ms,
        turn_seconds=turn_seconds,
    )
    async with AsyncExitStack() as stack:
        tables = []
        for guest in guests:
            table = await stack.enter_async_context(
                connect(
                    service.url,
                    made.code,
                    guest.token,
                    retry=QUICK,
                    subprotocol=subprotocol,
                    keep_frames=keep_frames,
                )
            )
            await table.sit()
            await table.ready()
            tables.append(table)
        for level in bots:
            await tables[0].add_bot(level)
        yield made, tables


async def play_out(tables: Sequence[Table], seed: int = 1) -> list[Document]:
    """Play to the end; what each of them sees then."""
    return list(
        await asyncio.gather(
            *(
                play_bot(table, random_policy(random.Random(f"{seed}/{number}")))
                for number, table in enumerate(tables)
            )
        )
    )


async def disturb(
    playing: Awaitable[list[Document]],
    tables: Sequence[Table],
    disturbance: Callable[[], Awaitable[None]],
    every: int,
) -> list[Document]:
    """Let something happen each time that so many more commits have been seen."""
    task = asyncio.ensure_future(playing)
    seen = tables[0].seq
    while not task.done():
        await asyncio.wait((task,), timeout=0.01)
        if tables[0].seq >= seen + every and not task.done():
            await disturbance()
            seen = tables[0].seq
    return await task
