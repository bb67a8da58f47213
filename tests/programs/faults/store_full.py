"""The store has no memory left and refuses to write.

Rooms stand still, nothing is written in part, and all goes on when there is room again. Meanwhile
the servers say why they are not ready, the service clock goes on, old rooms end, and people come in
to watch.
"""

import asyncio
from typing import Final

import msgspec
from redis.asyncio import Redis

from tests.end_to_end.raw import ask, inside, new_guest, new_room
from tests.programs.bench.report import Figure
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, Stage, stage
from towerhall_server.eventlog.keys import room_keys, shard_of

TITLE: Final = "maxmemory of the store is reached under load"
USUAL: Final = "1 minute"
FULL_SECONDS: Final = 2.0
SHORT_FULL_SECONDS: Final = 1.0
AFTER_SECONDS: Final = 3.5
SHORT_AFTER_SECONDS: Final = 1.5
WRITABLE_SECONDS: Final = 3.0
CANDIDATES: Final = 12
"""Of so many rooms one is alone in its shard: a quarter of the shards hold a game at most."""
END_SECONDS: Final = 8.0
"""How long an old room may take to end: a beat, and what a busy machine adds to it."""
DAY_MS: Final = 86_400_000
HURRY: Final = """#!lua flags=allow-oom
redis.call('HINCRBY', KEYS[1], 'served', ARGV[1])
"""


class Seen(msgspec.Struct):
    """What went on while the store was full."""

    asked: int = 0
    said_full: int = 0
    came: int = 0
    watched: int = 0
    beats: int = 0
    ended: int = 0


async def run(order: Order) -> Outcome:
    times = order.of(1, 10)
    seen = Seen()
    async with stage("store_full", order) as on, on.rig.store.client() as redis:
        shown = on.progress(times)
        for number in range(1, times + 1):
            made = await asyncio.to_thread(_old_rooms, on)
            await on.hit("full")
            await redis.config_set("maxmemory", 1)
            # From here on no room can be made.
            old = next(code for code in made if shard_of(code) not in _shards_of_games(on))
            await asyncio.gather(
                asyncio.sleep(SHORT_FULL_SECONDS if order.short else FULL_SECONDS),
                asyncio.to_thread(_ask_all, on, seen),
                _watch(on, seen),
                _end(redis, old, seen),
            )
            await redis.config_set("maxmemory", 0)
            on.crowd.strike()
            await asyncio.sleep(SHORT_AFTER_SECONDS if order.short else AFTER_SECONDS)
            shown.show(number)
        shown.done()
        players, back = on.crowd.everybody, on.crowd.back_after
        dropped = sum(player.dropped for player in players)
        paused = sum(player.pauses > 0 for player in players)
        note = f"of {len(players)}, in {times} times"
        return await on.finish(
            (
                Figure("connections dropped", dropped, "", at_most=0, note=note),
                Figure("players told of a pause", paused, "", at_least=1, note=note),
                Figure("`store_full` from /readyz", seen.said_full, "", at_least=seen.asked),
                Figure("came in to watch", seen.watched, "", at_least=seen.came),
                Figure("beats of the service clock", seen.beats, "", at_least=times),
                Figure("old rooms that ended", seen.ended, "", at_least=times),
                Figure(
                    "space again to the room's next move, most",
                    max(back, default=float("inf")),
                    "s",
                    at_most=WRITABLE_SECONDS,
                    note=f"{len(back)} rooms",
                ),
            )
        )


def _old_rooms(on: Stage) -> list[str]:
    """Rooms in which nobody sits. One of them shares its clock with no game, whatever game begins
    before the store is full."""
    url = f"http://{on.rig.nodes[0].address}"
    return [new_room(url, new_guest(url))["code"] for _ in range(CANDIDATES)]


def _shards_of_games(on: Stage) -> set[int]:
    """Those of games that are over as well: their logs are judged at the end."""
    return {shard_of(code) for code in on.history.recorders}


def _ask_all(on: Stage, seen: Seen) -> None:
    for node in on.rig.nodes:
        answer = ask(f"http://{node.address}", "GET", "/readyz")
        seen.asked += 1
        seen.said_full += (answer.status, answer.code) == (503, "store_full")


async def _watch(on: Stage, seen: Seen) -> None:
    """Somebody comes to each room while its players cannot move, at another node each time."""
    for number, code in enumerate(list(on.crowd.tables)):
        seen.came += 1
        url = f"http://{on.rig.nodes[number % len(on.rig.nodes)].address}"
        token = await asyncio.to_thread(new_guest, url, "Eve")
        async with inside(url, code, token):
            seen.watched += 1


async def _end(redis: Redis, room: str, seen: Seen) -> None:
    """The time of an old room comes."""
    keys = room_keys(room)
    before = await redis.hget(keys.shard.clock, "last")
    await redis.eval(HURRY, 1, keys.shard.clock, DAY_MS)
    async with asyncio.timeout(END_SECONDS):
        while await redis.exists(keys.log, keys.secret):  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.05)
    seen.ended += 1
    seen.beats += await redis.hget(keys.shard.clock, "last") != before
