"""The written contract of Nikitin Towers: the shape of its view, and sentences for facts and
commands.

No rule lives here. Braces in a sentence name fields of the fact, or parameters of the command.
"""

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from towerhall_server.game import Reference
from towerhall_server.games.nikitin_towers.commands import Command
from towerhall_server.games.nikitin_towers.events import WhyOver
from towerhall_server.games.nikitin_towers.options import Options


class TowerView(msgspec.Struct, frozen=True):
    blocks: Mapping[str, str]
    """Turn to placement with its z (NT 12)."""
    height: int
    ring: int


class View(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of the game."""

    options: Options
    phase: Literal["roll", "choose", "place", "over"]
    turns: int
    pile: Mapping[str, int]
    """Kind to blocks that are left."""
    quiet: int
    towers: Mapping[str, TowerView]
    turn: int | None = None
    to_act: int | None = None
    die: int = 0
    size: int = 0
    block: str = ""
    end: Literal["", WhyOver] = ""


REFERENCE = Reference(
    view=View,
    commands=get_args(Command),
    command_texts={
        "roll": "Roll the die.",
        "choose": "Choose the block {block} for the player whose turn it is.",
        "place": "Place the block as {shape} at column {x}, {y}, at height {z} if it is given.",
        "give_back": "Give the block back if there is no place for it.",
        "run_out": "The time is up. Only the clock gives this command.",
    },
    fact_texts={
        "game_started": "The game starts with {seats} seats. Seat {start} begins.",
        "die_rolled": "Seat {seat} rolls {die} in turn {turn}: a block of {size} cubes.",
        "block_chosen": "Seat {seat} chooses the block {block}.",
        "block_placed": "Seat {seat} places {at}. The tower is {height} high, ring level {ring}.",
        "tower_collapsed": "The tower of seat {seat} falls to {height} high, ring level {ring}.",
        "block_returned": "Seat {seat} gives the block {block} back.",
        "game_ended": "The game is over: {why}. Heights {heights}, ring levels {rings}.",
    },
)
