"""One primary of a cluster is killed under load, and its replica takes its place.

Rooms of other primaries go on meanwhile, and guests and rooms are made.
"""

import asyncio
from time import monotonic
from typing import Final

from tests.end_to_end.raw import ask, bearer
from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, Stage, stage
from tests.store.several import Engine, cluster_of

TITLE: Final = "a cluster replaces a primary that was killed or paused"
USUAL: Final = "1 minute"
KINDS: Final = {"kill_primary": Engine.kill, "pause_primary": Engine.pause}
REPLACED_SECONDS: Final = 20.0
AFTER_SECONDS: Final = 1.0
BACK_SECONDS: Final = 8.0
MADE_SECONDS: Final = 5.0
"""A call that is under way on a paused primary waits for its timeout; its client asks again."""


async def run(order: Order) -> Outcome:
    kills = order.of(1, 6)
    made: list[float] = []
    async with stage("cluster_primary_killed", order, several=cluster_of) as on:
        shown = on.progress(kills)
        for number in range(kills):
            await _harm(on, number, made)
            shown.show(number + 1)
        shown.done()
        return await on.finish(
            (
                Figure(
                    "fault to the room's next move, most",
                    max(on.crowd.back_after, default=float("inf")),
                    "s",
                    at_most=BACK_SECONDS,
                    note=f"{len(on.crowd.back_after)} rooms, {kills} times",
                ),
                Figure(
                    "a guest and a room were made meanwhile, most",
                    max(made, default=float("inf")),
                    "s",
                    at_most=MADE_SECONDS,
                    note=f"{len(made)} times",
                ),
            )
        )


async def _harm(on: Stage, number: int, made: list[float]) -> None:
    group = on.rig.group
    primaries = await asyncio.to_thread(lambda: group.primaries)
    harmed = primaries[number % len(primaries)]
    kind = tuple(KINDS)[number % len(KINDS)]
    await on.hit(kind)
    KINDS[kind](harmed)
    on.crowd.strike()
    try:
        async with asyncio.timeout(REPLACED_SECONDS):
            while not await asyncio.to_thread(_is_replaced, primaries, harmed):
                made.append(await asyncio.to_thread(_make, f"http://{on.rig.nodes[0].address}"))
        await asyncio.sleep(AFTER_SECONDS)
    finally:
        if kind == "pause_primary":
            harmed.resume()
    await group.whole()


def _is_replaced(primaries: list[Engine], harmed: Engine) -> bool:
    alive = next(each for each in primaries if each is not harmed)
    slots = alive.ask("CLUSTER", "SLOTS")
    return all(primary[1] != harmed.port for _, _, primary, *_ in slots)


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
