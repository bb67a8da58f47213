"""The written contract of Five Towers: the shape of its view, and sentences for facts and commands.

No rule lives here. Braces in a sentence name fields of the fact, or parameters of the command.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from towerhall_server.game import Reference
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.rules import COMMANDS
from towerhall_server.games.five_towers.scoring import Score


class PlayerView(msgspec.Struct, frozen=True):
    towers: Mapping[str, tuple[int, ...]]
    """Kind to values from the bottom up."""
    demolished: Mapping[str, tuple[int, ...]]
    score: int


class View(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of the game (FT 14)."""

    options: Options
    round: int
    lap: int
    pile: int
    phase: Literal["auction", "build", "over"]
    start: int
    display: tuple[str, ...]
    calls: Mapping[str, int]
    """Seat to number, -1 for a pass."""
    seats: Mapping[str, PlayerView]
    discard: Mapping[str, tuple[int, ...]]
    turn: int | None = None
    limits: Mapping[str, int] = {}
    scores: Mapping[str, Score] = {}


REFERENCE = Reference(
    view=View,
    commands=COMMANDS,
    command_texts={
        "bid": "Name the number {number}.",
        "pass": "Name no number.",
        "build": "Take and build {cards} in this order; demolish the top of the tower {demolish}.",
    },
    fact_texts={
        "game_started": "The game starts with {seats} seats, {cards} cards. Seat {start} begins.",
        "round_started": "Round {round}: {display} are shown, {pile} cards are left. Seat {start}"
        " begins.",
        "bid_made": "Seat {seat} names {number}.",
        "passed": "Seat {seat} passes.",
        "auction_won": "Seat {seat} wins the auction with {number}.",
        "auction_empty": "No seat wins the auction.",
        "bid_withdrawn": "Seat {seat} takes {number} back.",
        "cards_taken": "Seat {seat} takes {cards}.",
        "card_demolished": "Seat {seat} demolishes {card}.",
        "card_built": "Seat {seat} builds {card}, now {height} high.",
        "display_cleared": "{cards} go to the discard pile.",
        "pile_reshuffled": "The discard pile is shuffled: {pile} cards.",
        "game_ended": "The game is over. Winners: {winners}.",
    },
)
