"""The store comes back as an older copy of itself, as after a failover.

A node that still has what is missing puts it back. Where none has, or the log went on otherwise,
every client is told; nobody is moved to another past in silence, and no log forks.
"""

import asyncio
from collections import Counter
from random import Random
from typing import Final

from tests.programs.bench.report import Figure
from tests.programs.faults.crowd import CrowdTable, Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.history import Sync
from tests.programs.faults.players import Player
from tests.programs.faults.report import Outcome
from tests.programs.faults.stage import Order, Stage, stage
from towerhall_protocol.messages import Cursor

TITLE: Final = "an older copy of the store is restored under load"
USUAL: Final = "3 minutes"
AFTER_SECONDS: Final = 3.0
SHORT_AFTER_SECONDS: Final = 0.5
SLEEP_SECONDS: Final = 2.0
FEW_SECONDS: Final = 0.15
"""Long enough for a few moves, and for players to send something to a node that sleeps."""
ABSENT_SECONDS: Final = 15.0
KINDS: Final = ("go_back", "go_back_and_kill_nodes", "go_back_past_a_sleeper")
"""With nodes that can put back what is missing; with none; with one that knows only the old past,
and wakes when there is a new one."""


async def run(order: Order) -> Outcome:
    restores = order.of(3, 20)
    chance = Random(order.seed)
    size = Size(rooms=order.of(6, 8), keep=True)
    habits = Habits(think_seconds=0.08, retry_most_seconds=1.0)
    async with stage("tail_lost", order, size=size, habits=habits) as on:
        shown = on.progress(restores)
        for number in range(1, restores + 1):
            kind = KINDS[number % len(KINDS)]
            seconds = 0.3 + (0.5 if order.short else 1.5) * chance.random()
            await _go_back(on, number, kind, seconds)
            await asyncio.sleep(SHORT_AFTER_SECONDS if order.short else AFTER_SECONDS)
            shown.show(number)
        shown.done()
        clients = [each for every in on.history.recorders.values() for each in every]
        told = [e.lost for c in clients for e in c.entries if isinstance(e, Sync) and e.lost]
        figures = (
            Figure(
                "reports of lost commits", len(told), "", at_least=1, note=f"{sum(told)} commits"
            ),
        )
        return await on.finish(figures)


async def _go_back(on: Stage, number: int, kind: str, seconds: float) -> None:
    store = on.rig.store
    players = Counter(player.at for player in on.crowd if player.up)
    at = max(range(len(on.rig.nodes)), key=players.__getitem__)
    sleeper = on.rig.nodes[at]
    others = [node for node in on.rig.nodes if node is not sleeper]
    copy, discarded = on.rig.folder / f"copy{number}", on.rig.folder / f"discarded{number}"
    dead = {"go_back": [], "go_back_and_kill_nodes": on.rig.nodes}.get(kind, others)
    store.copy_to(copy)
    await asyncio.sleep(FEW_SECONDS if dead is others else seconds)
    await on.hot(at)
    if dead is others:
        sleeper.pause()
        await asyncio.sleep(FEW_SECONDS)
    tick = on.fault(kind)
    stale = _waiting_at(on, at) if dead is others else {}
    try:
        await store.kill()
        await asyncio.gather(*(node.kill() for node in dead))
        store.copy_to(discarded)
        store.become(copy)
        on.losses.append(tick)
        on.discarded.append(discarded)
        absent = _send_out(on) if dead else []
        await store.start()
        await asyncio.gather(*(node.start() for node in dead))
        if dead is others:
            for player in tuple(on.crowd):
                if player in stale:
                    player.stay_away()
                elif player.at == at:
                    player.drop()
            await _until_level(stale)
    finally:
        if dead is others:
            sleeper.resume()
    for player in stale:
        player.come_back()
    await _let_in(absent)


def _waiting_at(on: Stage, at: int) -> dict[Player, tuple[CrowdTable, Cursor]]:
    """Who has sent a command to the node at that address that was not answered, and from where."""
    return {
        player: (table, player.replay.cursor)
        for table in on.crowd.tables.values()
        for player in table.players
        if player.at == at and player.in_flight and player.replay.cursor is not None
    }


async def _until_level(stale: dict[Player, tuple[CrowdTable, Cursor]]) -> None:
    """Until one of these rooms has come as far on its new past as it was on the old one, without
    whoever waits: then a seq says nothing, and only the chain tells the two apart."""
    deadline = asyncio.get_running_loop().time() + SLEEP_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        for table, old in stale.values():
            cursors = [each.replay.cursor for each in table.players]
            if any(new and new.seq == old.seq and new.mark != old.mark for new in cursors):
                return
        await asyncio.sleep(0.002)


def _send_out(on: Stage) -> list[tuple[CrowdTable, Player]]:
    """The watchers of every game that goes on."""
    absent = [
        (table, player)
        for table in on.crowd.tables.values()
        for player in table.players
        if player.wanted is None and not table.over
    ]
    for _, player in absent:
        player.stay_away()
    return absent


async def _let_in(absent: list[tuple[CrowdTable, Player]]) -> None:
    """Each when the others of its room are past the place where it left."""
    deadline = asyncio.get_running_loop().time() + ABSENT_SECONDS
    while absent and asyncio.get_running_loop().time() < deadline:
        for table, player in tuple(absent):
            others = [each for each in table.players if each is not player and each.up]
            if any(each.replay.seq > player.replay.seq for each in others):
                player.come_back()
                absent.remove((table, player))
        await asyncio.sleep(0.05)
    for _, player in absent:
        player.come_back()
