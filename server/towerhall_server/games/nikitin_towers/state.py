"""The state of a game, and how each event changes it.

Everything is immutable; `fold` returns a new state that shares what did not change. The hidden
part is `seed`; `act` only counts the random acts so far. Nothing is decided here.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from towerhall_protocol.fairness import Act
from towerhall_server.game import Seat
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE, KINDS_OF_SIZE
from towerhall_server.games.nikitin_towers.events import (
    NO_ROLL,
    BlockChosen,
    BlockPlaced,
    BlockReturned,
    DieRolled,
    Event,
    GameEnded,
    GameStarted,
    TowerCollapsed,
    WhyOver,
)
from towerhall_server.games.nikitin_towers.notation import read_placement
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.tower import Placed, Tower

NO_SEAT = Seat(-1)
KINDS = tuple(CATALOGUE)
KIND_INDEX = {kind: index for index, kind in enumerate(KINDS)}
FULL_PILE = tuple(kind.count for kind in CATALOGUE.values())
BLOCKS = sum(FULL_PILE)
"""NT 1: 45 blocks."""

Pile = tuple[int, ...]
"""How many blocks of each kind are left, in the order of the catalogue."""


class State(msgspec.Struct, frozen=True, gc=False):
    """One moment of a game."""

    options: Options
    seed: bytes
    towers: tuple[Tower, ...]
    act: int = 0
    """The number of the next random act."""
    pile: Pile = FULL_PILE
    phase: Literal["roll", "choose", "place", "over"] = "roll"
    turn: Seat = NO_SEAT
    """The seat that builds in this turn; before the roll, the seat that builds next."""
    turns: int = 0
    """The number of this turn: how often a die was rolled for a turn."""
    die: int = 0
    size: int = 0
    block: str = ""
    """The block that was chosen for the builder: neither in the pile nor in a tower."""
    least: int = BLOCKS
    """NT 7: the fewest blocks that the pile held after a turn."""
    quiet: int = 0
    """NT 7: turns in a row without a new minimum of the pile."""
    end: WhyOver | Literal[""] = ""

    @property
    def in_pile(self) -> int:
        return sum(self.pile)


def to_act(state: State) -> tuple[Seat, ...]:
    """NT 6: the left neighbour chooses; the builder makes all other decisions."""
    if state.phase == "over":
        return ()
    return (chooser(state) if state.phase == "choose" else state.turn,)


def chooser(state: State) -> Seat:
    """The left neighbour of the seat that builds: the next one in order."""
    return Seat((state.turn + 1) % len(state.towers))


@lru_cache(maxsize=256)
def kinds_of_size(pile: Pile, size: int) -> tuple[str, ...]:
    """The kinds of that size that are left in the pile."""
    return tuple(kind for kind in KINDS_OF_SIZE.get(size, ()) if pile[KIND_INDEX[kind]])


def start(options: Options, seats: int, seed: bytes) -> State:
    """The table before the first event."""
    return State(options, seed, (Tower(),) * seats)


def _game_started(state: State, event: GameStarted) -> State:
    rolled = sum(die != NO_ROLL for dice in event.rolls for die in dice)
    return replace(state, turn=event.start, act=rolled)


def _die_rolled(state: State, event: DieRolled) -> State:
    least, quiet = after_turn(state)
    rolled = replace(
        state,
        act=state.act + 1,
        turns=event.turn,
        die=event.die,
        size=event.size,
        least=least,
        quiet=quiet,
        phase="choose",
    )
    return rolled if event.size else _turn_over(rolled)


def after_turn(state: State) -> tuple[int, int]:
    """NT 7: the pile's minimum and the turns without a new one, once the turn is over."""
    if state.turns == 0:
        return state.least, 0
    blocks = state.in_pile
    return (blocks, 0) if blocks < state.least else (state.least, state.quiet + 1)


def _block_chosen(state: State, event: BlockChosen) -> State:
    # A lot is a random act; a choice is not.
    act = state.act + 1 if event.how == "lot" else state.act
    pile = _changed(state.pile, event.block, -1)
    return replace(state, act=act, pile=pile, block=event.block, phase="place")


def _block_placed(state: State, event: BlockPlaced) -> State:
    placement = read_placement(event.at)
    if placement is None or placement.z is None:
        raise ValueError(f"{event.at!r} is not where a block rests")
    placed = Placed(
        state.turns,
        placement.kind,
        placement.orientation,
        placement.x,
        placement.y,
        placement.z,
    )
    tower = state.towers[event.seat].plus(placed)
    return _turn_over(_with_tower(state, event.seat, tower))


def _tower_collapsed(state: State, event: TowerCollapsed) -> State:
    tower, pile = state.towers[event.seat], state.pile
    turns = {int(turn) for turns in event.rounds for turn in turns}
    fallen = frozenset(i for i, placed in enumerate(tower.blocks) if placed.turn in turns)
    for index in fallen:
        pile = _changed(pile, tower.blocks[index].kind, +1)
    return replace(_with_tower(state, event.seat, tower.without(fallen)), pile=pile)


def _block_returned(state: State, event: BlockReturned) -> State:
    return _turn_over(replace(state, pile=_changed(state.pile, event.block, +1)))


def _game_ended(state: State, event: GameEnded) -> State:
    least, quiet = after_turn(state)
    return replace(state, phase="over", turn=NO_SEAT, end=event.why, least=least, quiet=quiet)


def _turn_over(state: State) -> State:
    following = Seat((state.turn + 1) % len(state.towers))
    return replace(state, phase="roll", turn=following, block="")


def _with_tower(state: State, seat: Seat, tower: Tower) -> State:
    towers = (*state.towers[:seat], tower, *state.towers[seat + 1 :])
    return replace(state, towers=towers)


def _changed(pile: Pile, kind: str, by: int) -> Pile:
    index = KIND_INDEX[kind]
    return (*pile[:index], pile[index] + by, *pile[index + 1 :])


FOLD: dict[type[Event], Callable[[State, Any], State]] = {
    GameStarted: _game_started,
    DieRolled: _die_rolled,
    BlockChosen: _block_chosen,
    BlockPlaced: _block_placed,
    TowerCollapsed: _tower_collapsed,
    BlockReturned: _block_returned,
    GameEnded: _game_ended,
}


def fold(state: State, event: Event) -> State:
    """The state after the event."""
    return FOLD[type(event)](state, event)


def resample(state: State, entropy: bytes) -> State:
    """Another seed: all future dice differ, and no viewer can tell."""
    draw = Act(entropy, 0)
    return replace(state, seed=bytes(draw.below(256) for _ in state.seed))


def shows_result(state: State) -> bool:
    """Whether a turn has ended: a block was laid or given back, or a tower has fallen.

    Where the game rolls for each player, the next die is part of the same commit. If it leaves only
    one block to choose, that too: then there is no pause, and a bot searches for a moment anyway.
    """
    return state.phase == ("choose" if state.options.auto_roll else "roll")
