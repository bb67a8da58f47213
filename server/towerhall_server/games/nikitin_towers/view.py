"""A viewer's document. Only the seed is hidden (NT 6), so all viewers see the same.

A view is rebuilt after every commit, but its parts are cached on the pieces of state that they
show. An unchanged part is the same object as before, and the diff skips it.
"""

from functools import lru_cache

import msgspec

from towerhall_server.game import Perspective, Result, kept, rank
from towerhall_server.games.nikitin_towers.notation import spell_resting
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.state import KINDS, Pile, State, to_act
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, height, ring_level


def view(state: State, viewer: Perspective) -> dict[str, object]:
    """The whole table as a plain document."""
    document: dict[str, object] = {
        "options": _options(state.options),
        "phase": state.phase,
        "turns": state.turns,
        "pile": _pile(state.pile),
        "quiet": state.quiet,
        "towers": _towers(state.towers),
    }
    if state.phase != "over":
        document["turn"] = state.turn
        document["to_act"] = to_act(state)[0]
    if state.phase in ("choose", "place"):
        document["die"] = state.die
        document["size"] = state.size
    if state.block:
        document["block"] = state.block
    if state.end:
        document["end"] = state.end
    return document


def result(state: State) -> Result | None:
    """NT 7: heights or ring levels, and places; equal ones share."""
    if state.phase != "over":
        return None
    return rank(standing(state))


def standing(state: State) -> tuple[int, ...]:
    """The heights or ring levels so far (NT 13)."""
    measure = height if state.options.win == "height" else ring_level
    return tuple(map(measure, state.towers))


@lru_cache(maxsize=16)
def _options(options: Options) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(options)
    return document


@lru_cache(maxsize=1 << 10)
def _pile(pile: Pile) -> dict[str, object]:
    """Only the kinds of which a block is left."""
    return {kind: count for kind, count in zip(KINDS, pile, strict=True) if count}


def _towers(towers: tuple[Tower, ...]) -> dict[str, object]:
    return {str(seat): _tower(tower) for seat, tower in enumerate(towers)}


@kept
def _tower(tower: Tower) -> dict[str, object]:
    return {
        "blocks": {str(placed.turn): _resting(placed) for placed in tower.blocks},
        "height": height(tower),
        "ring": ring_level(tower),
    }


@lru_cache(maxsize=1 << 12)
def _resting(placed: Placed) -> str:
    return spell_resting(placed)
