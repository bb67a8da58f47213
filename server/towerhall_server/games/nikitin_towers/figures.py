"""Numbers that sum up one finished game, as the tables of NT 8 show them."""

from collections.abc import Mapping

from towerhall_server.games.nikitin_towers.events import (
    BlockPlaced,
    BlockReturned,
    Event,
    TowerCollapsed,
)
from towerhall_server.games.nikitin_towers.state import State
from towerhall_server.games.nikitin_towers.tower import height, ring_level


def figures(state: State, events: tuple[Event, ...]) -> Mapping[str, int]:
    heights = sorted(map(height, state.towers))
    rings = sorted(map(ring_level, state.towers))
    collapses = [event for event in events if isinstance(event, TowerCollapsed)]
    return {
        "turns": state.turns,
        "turns_with_a_block": sum(isinstance(each, BlockPlaced | BlockReturned) for each in events),
        "blocks_returned": sum(isinstance(event, BlockReturned) for event in events),
        "collapses": len(collapses),
        "blocks_fallen": sum(len(turns) for event in collapses for turns in event.rounds),
        "highest_tower": heights[-1],
        "lowest_tower": heights[0],
        "highest_ring": rings[-1],
        "equal_highest": int(heights[-1] == heights[-2]),
        "ended_by_stall": int(state.end == "stall"),
    }
