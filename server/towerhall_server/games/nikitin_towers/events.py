"""All events of Nikitin Towers: past facts, and the only way to change state.

Events are stored forever and are written as arrays: a name, then the fields in this order. A field
is never moved or removed; a changed event gets a new name. All fields are public: only the seed is
hidden in this game, and no event holds it.
"""

from typing import Literal, TypeAlias

import msgspec

from towerhall_server.game import Seat, event_name
from towerhall_server.games.nikitin_towers.options import Options

NO_ROLL = -1
"""Stands in an opening round for a seat that did not roll."""

How: TypeAlias = Literal["choice", "forced", "lot"]
"""`forced`: only one kind of that size was left. `lot`: the time to choose ran out."""
WhyBack: TypeAlias = Literal["nowhere", "time"]
WhyOver: TypeAlias = Literal["pile", "stall", "turns"]


class _Event(
    msgspec.Struct,
    frozen=True,
    array_like=True,
    forbid_unknown_fields=True,
    tag=event_name,
    gc=False,
):
    pass


class GameStarted(_Event, frozen=True):
    seats: int
    options: Options
    rolls: tuple[tuple[int, ...], ...]
    """One tuple for each round of the opening roll, with a die for each seat or `NO_ROLL`."""
    start: Seat


class DieRolled(_Event, frozen=True):
    seat: Seat
    turn: int
    die: int
    size: int
    """The size after stepping down. 0: no block is small enough, and the turn is over."""


class BlockChosen(_Event, frozen=True):
    seat: Seat
    """The neighbour who chose, not the seat that builds."""
    block: str
    how: How


class BlockPlaced(_Event, frozen=True):
    seat: Seat
    at: str
    """Shape, column and resting height in the notation of NT 12."""
    height: int
    ring: int
    """Height and ring level with the block, before anything falls."""


class TowerCollapsed(_Event, frozen=True):
    seat: Seat
    rounds: tuple[tuple[str, ...], ...]
    """The blocks that fell in each round: the turns in which these blocks were placed."""
    height: int
    ring: int
    """Height and ring level of what is left."""


class BlockReturned(_Event, frozen=True):
    seat: Seat
    block: str
    why: WhyBack


class GameEnded(_Event, frozen=True):
    why: WhyOver
    heights: tuple[int, ...]
    rings: tuple[int, ...]


Event: TypeAlias = (
    GameStarted | DieRolled | BlockChosen | BlockPlaced | TowerCollapsed | BlockReturned | GameEnded
)

PUBLIC: frozenset[type[Event]] = frozenset(
    (GameStarted, DieRolled, BlockChosen, BlockPlaced, TowerCollapsed, BlockReturned, GameEnded)
)
"""The allow-list: events whose fields are public. Viewers never get any other event."""


def facts(event: Event) -> tuple[object, ...]:
    """Return the public part of the event, as plain data."""
    if type(event) not in PUBLIC:
        raise TypeError(f"{type(event).__name__} is not public")
    return tuple(msgspec.to_builtins(event))
