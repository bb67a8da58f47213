"""One primary of a cluster is killed under load, and its replica takes its place.

Rooms of other primaries go on meanwhile, and guests and rooms are made.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final

import msgspec

from tests.end_to_end.raw import ask, bearer
from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome, percentile
from tests.programs.faults.stage import Order, Stage, stage
from tests.store.several import Engine, cluster_of
from towerhall_server.eventlog.keys import room_keys
from towerhall_server.store.slots import slot_of

TITLE: Final = "a cluster replaces a primary that was killed or paused"
USUAL: Final = "1 minute"
KINDS: Final = {"kill_primary": Engine.kill, "pause_primary": Engine.pause}
REPLACED_SECONDS: Final = 20.0
AFTER_SECONDS: Final = 1.0
BACK_SECONDS: Final = 4.5
OTHERS_SECONDS: Final = 0.5
CALM_SECONDS: Final = 2.0
MADE_SECONDS: Final = 5.0
"""A call that is under way on a paused primary waits for its timeout; its client asks again."""


class Waits(msgspec.Struct):
    """The longest wait for a move, in seconds, of rooms that no fault has hit."""

    others: list[float] = []
    """Of rooms of other primaries while one was down."""
    calm: list[float] = []
    """Of all rooms while all were up: a busy machine shows here."""


async def run(order: Order) -> Outcome:
    kills = order.of(1, 6)
    made: list[float] = []
    waits = Waits()
    async with stage("cluster_primary_killed", order, several=cluster_of) as on:
        shown = on.progress(kills)
        for number in range(kills):
            async with harmed(on, number, tuple(KINDS)[number % len(KINDS)], waits) as replaced:
                while not await replaced():
                    node = on.rig.nodes[0].address
                    made.append(await asyncio.to_thread(_make, f"http://{node}"))
                await asyncio.sleep(AFTER_SECONDS)
            shown.show(number + 1)
        shown.done()
        return await on.finish(
            (
                *figures(on, kills, waits),
                Figure(
                    "a guest and a room were made meanwhile, most",
                    max(made, default=float("inf")),
                    "s",
                    at_most=MADE_SECONDS,
                    note=f"{len(made)} times",
                ),
            )
        )


def figures(on: Stage, kills: int, waits: Waits) -> tuple[Figure, ...]:
    """How long rooms waited."""
    back, calm = on.crowd.back_after, percentile(waits.calm, 0.99)
    return (
        Figure(
            "fault to the next move of a room of this primary, p99",
            percentile(back, 0.99),
            "s",
            at_most=BACK_SECONDS,
            note=f"{len(back)} rooms, {kills} times",
        ),
        Figure(
            "longest wait for a move in rooms of other primaries, p99",
            percentile(waits.others, 0.99),
            "s",
            at_most=OTHERS_SECONDS,
            note=f"{len(waits.others)} rooms; without a fault {calm:.3f} s",
        ),
    )


@asynccontextmanager
async def harmed(
    on: Stage, number: int, kind: str, waits: Waits
) -> AsyncIterator[Callable[[], Awaitable[bool]]]:
    """One primary is killed or paused while the block lasts, which may ask whether it was replaced.
    `waits` gets the longest wait of each room of another primary until then."""
    # Rooms of the primary before may wait for it still, and do not wait for this one.
    await on.crowd.recovered()
    playing = [*on.crowd.tables.values()]
    for table in playing:
        table.watch()
    await asyncio.sleep(CALM_SECONDS)
    waits.calm += [table.longest_wait for table in playing]
    group = on.rig.group
    primaries = await asyncio.to_thread(lambda: group.primaries)
    slots = {
        each.port: await asyncio.to_thread(_slots, primaries[0], each.port) for each in primaries
    }

    def rooms_of(port: int) -> set[str]:
        return {room for room in on.crowd.tables if any(_slot(room) in own for own in slots[port])}

    # One with rooms. By turns, the engines with the most of them come first.
    by_rooms = sorted(primaries, key=lambda each: len(rooms_of(each.port)), reverse=True)
    in_use = [each for each in by_rooms if rooms_of(each.port)]
    engine = in_use[number % len(in_use)]
    alive = next(each for each in primaries if each is not engine)
    there = rooms_of(engine.port)

    async def replaced() -> bool:
        return not await asyncio.to_thread(_slots, alive, engine.port)

    elsewhere = [table for code, table in on.crowd.tables.items() if code not in there]
    for table in elsewhere:
        table.watch()
    await on.hit(kind)
    KINDS[kind](engine)
    group.cut(engine.port)
    on.crowd.strike(rooms=there)
    try:
        async with asyncio.timeout(REPLACED_SECONDS):
            yield replaced
        waits.others += [table.longest_wait for table in elsewhere]
    finally:
        if engine.is_running:
            engine.resume()
    await group.whole()


def _slot(room: str) -> int:
    return slot_of(room_keys(room).log.encode())


def _slots(asked: Engine, port: int) -> list[range]:
    """The slots of the primary at a port, as another one sees it."""
    slots = asked.ask("CLUSTER", "SLOTS")
    return [range(first, last + 1) for first, last, primary, *_ in slots if primary[1] == port]


def _make(url: str) -> float:
    """Seconds until a new person has a new room."""
    began = monotonic()
    guest = ask(url, "POST", "/v1/guests", {"name": "Ada"})
    assert guest.status == 201, guest.body
    wanted = {"game": "five_towers", "seats": 2}
    token = bearer(str(guest.document["token"]))
    while True:
        room = ask(url, "POST", "/v1/rooms", wanted, token)
        if room.status == 201:
            return monotonic() - began
        assert room.code == "store_unavailable", room.body
