"""Tile duel, a toy: a small game with everything that could trip a law and no real game has alone.

A die gives a size, or the next smaller one that the pile still has; without any the turn is empty.
The left neighbour chooses a tile of that size. The player stands it on an own column, where it
falls if the column is higher than the tile, or gives it back if it would fall on every column.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec.structs import replace

from towerhall_protocol.document import Document
from towerhall_protocol.fairness import Act
from towerhall_protocol.offers import Choice, Offer, Range
from towerhall_server.game import (
    BAD_COMMAND,
    BAD_OPTIONS,
    COPY_MARK,
    Game,
    Perspective,
    Reason,
    Rejected,
    Result,
    Seat,
    rank,
)

RULES = "# Tile duel\n\n## 1. Options\n\n## 2. Commands\n\n### 3. Tiles\n"
TILES = ("a:1", "a:1+", "a:2", "a:3", "b:1", "b:2", "b:2+", "b:3")
COLUMNS, MOST_TILT, MOST_TURNS, SIDES_OF_DIE = 2, 9, 24, 4


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    goal: Literal["highest", "lowest"] = "highest"
    """Which of its columns a seat counts in the end."""
    short: bool = False


class State(msgspec.Struct, frozen=True):
    options: Options
    seed: bytes
    columns: tuple[tuple[int, ...], ...]
    act: int = 0
    pile: tuple[str, ...] = TILES
    phase: Literal["choose", "place", "over"] = "choose"
    turn: Seat = Seat(0)
    turns: int = 0
    size: int = 0
    tile: str = ""


class Event(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag=str.lower
):
    pass


class Rolled(Event, frozen=True):
    seat: Seat
    size: int


class Chosen(Event, frozen=True):
    seat: Seat
    tile: str
    forced: bool = False


class Placed(Event, frozen=True):
    seat: Seat
    column: int
    height: int


class GivenBack(Event, frozen=True):
    seat: Seat


class Ended(Event, frozen=True):
    pass


class Choose(msgspec.Struct, tag_field="command", tag="choose", forbid_unknown_fields=True):
    tile: str


class Place(msgspec.Struct, tag_field="command", tag="place", forbid_unknown_fields=True):
    side: Literal["flat", "upright"]
    column: int
    tilt: int


class GiveBack(msgspec.Struct, tag_field="command", tag="give_back", forbid_unknown_fields=True):
    pass


REASONS = {
    BAD_OPTIONS: Reason("1", "Not possible: {detail}."),
    BAD_COMMAND: Reason("2", "Not a command: {detail}."),
    "not_yours": Reason("2", "It is the turn of {seat}."),
    "no_such_tile": Reason("3", "Choose a tile of size {size}."),
    "out_of_range": Reason("3", "Columns end at {columns}, tilts at {tilt}."),
    "place_exists": Reason("3", "Some column would bear it."),
}


def rejected(code: str, **params: int | str) -> Rejected:
    return Rejected(code, REASONS[code].rule, params)


def start(options: Options, seats: int, seed: bytes) -> State:
    return State(options, seed, ((0,) * COLUMNS,) * seats)


def setup(state: State) -> tuple[Event, ...]:
    return tuple(_run_on(state))


def to_act(state: State) -> tuple[Seat, ...]:
    if state.phase == "choose":
        return (_left_of(state, state.turn),)
    return (state.turn,) if state.phase == "place" else ()


def _left_of(state: State, seat: int) -> Seat:
    return Seat((seat + 1) % len(state.columns))


def decide(state: State, seat: Seat, command: object) -> tuple[Event, ...] | Rejected:
    try:
        wanted = msgspec.convert(command, type=Choose | Place | GiveBack)
    except (ValueError, RecursionError) as error:
        return rejected(BAD_COMMAND, detail=type(error).__name__)
    if seat not in to_act(state) or isinstance(wanted, Choose) != (state.phase == "choose"):
        return rejected("not_yours", seat=state.turn)
    event = _event(state, seat, wanted)
    return event if isinstance(event, Rejected) else (event, *_run_on(fold(state, event)))


def _event(state: State, seat: Seat, wanted: Choose | Place | GiveBack) -> Event | Rejected:
    mine = state.columns[seat]
    if isinstance(wanted, Choose):
        if wanted.tile not in _choosable(state, state.size):
            return rejected("no_such_tile", size=state.size)
        return Chosen(seat, wanted.tile)
    if isinstance(wanted, GiveBack):
        return GivenBack(seat) if min(mine) > state.size else rejected("place_exists")
    if not (0 <= wanted.column < COLUMNS and 0 <= wanted.tilt <= MOST_TILT):
        return rejected("out_of_range", columns=COLUMNS - 1, tilt=MOST_TILT)
    if mine[wanted.column] > state.size:
        return Placed(seat, wanted.column, 0)
    gain = wanted.tilt + (state.size if wanted.side == "upright" else 1)
    return Placed(seat, wanted.column, mine[wanted.column] + gain)


def _run_on(state: State) -> Iterator[Event]:
    """Empty turns and choices without a choice, up to somebody's real one."""
    while not state.tile:
        if not state.pile or state.turns == MOST_TURNS // (2 if state.options.short else 1):
            yield Ended()
            return
        size = 1 + Act(state.seed, state.act).below(SIDES_OF_DIE)
        while size and not _choosable(state, size):
            size -= 1
        events: list[Event] = [Rolled(_left_of(state, state.turn), size)]
        found = _choosable(state, size)
        if len({tile.removesuffix(COPY_MARK) for tile in found}) == 1:
            chooser = _left_of(state, _left_of(state, state.turn))
            events.append(Chosen(chooser, found[0], forced=True))
        for event in events:
            state = fold(state, event)
            yield event
        if size:
            return


def _choosable(state: State, size: int) -> tuple[str, ...]:
    return tuple(tile for tile in state.pile if int(tile[2]) == size)


def fold(state: State, event: Event) -> State:
    match event:
        case Rolled(seat=seat, size=size):
            turns, act = state.turns + 1, state.act + 1
            return replace(state, turn=seat, size=size, turns=turns, act=act, phase="choose")
        case Chosen(tile=tile):
            pile = tuple(other for other in state.pile if other != tile)
            return replace(state, pile=pile, tile=tile, phase="place")
        case Placed(seat=seat, column=column, height=height):
            mine = list(state.columns[seat])
            mine[column] = height
            columns = (*state.columns[:seat], tuple(mine), *state.columns[seat + 1 :])
            pile = state.pile if height else tuple(sorted((*state.pile, state.tile)))
            return replace(state, columns=columns, pile=pile, tile="")
        case GivenBack():
            return replace(state, pile=tuple(sorted((*state.pile, state.tile))), tile="")
    return replace(state, phase="over")


def facts(event: Event) -> tuple[object, ...]:
    name, *fields = msgspec.to_builtins(event)
    return (name, *fields)


def view(state: State, viewer: Perspective) -> dict[str, object]:
    return {
        "goal": state.options.goal,
        "pile": state.pile,
        "columns": {str(seat): columns for seat, columns in enumerate(state.columns)},
        "phase": state.phase,
        "turn": state.turn,
        "turns": state.turns,
        **({"tile": state.tile} if state.tile else {"size": state.size}),
    }


def offers(state: State, seat: Seat) -> tuple[Offer, ...]:
    if seat not in to_act(state):
        return ()
    if state.phase == "choose":
        found = {tile.removesuffix(COPY_MARK): tile for tile in _choosable(state, state.size)[::-1]}
        return (Offer("choose", choices=tuple(Choice({"tile": tile}) for tile in found.values())),)
    sides = (Choice({"side": "flat"}, {"gain": 1}), Choice({"side": "upright"}))
    places = {"column": Range(0, COLUMNS - 1), "tilt": Range(0, MOST_TILT)}
    return (Offer("place", places, sides), Offer("give_back", unsure=True))


def timeout(state: State, seat: Seat) -> dict[str, object]:
    """A tile by lot; the first column."""
    if state.phase == "choose":
        found = _choosable(state, state.size)
        lot = Act(state.seed, 1000 + state.act).below(len(found))
        return {"command": "choose", "tile": found[lot]}
    return {"command": "place", "side": "flat", "column": 0, "tilt": 0}


def is_slow(state: State, seat: Seat, command: object) -> bool:
    return isinstance(command, dict) and command.get("command") == "give_back"


def result(state: State) -> Result | None:
    counted = max if state.options.goal == "highest" else min
    return rank(tuple(map(counted, state.columns))) if state.phase == "over" else None


def resample(state: State, entropy: bytes) -> State:
    draw = Act(entropy, 0)
    return replace(state, seed=bytes(draw.below(256) for _ in state.seed))


def choose(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    commands = list(offers[0].commands())
    return commands[Act(entropy, 0).below(len(commands))]


GAME: Game[State, Event] = Game(
    name="tile_duel",
    version=1,
    seats=range(2, 4),
    options_type=Options,
    presets={"standard": Options(), "quick": Options("lowest", short=True)},
    state_type=State,
    event_type=Rolled | Chosen | Placed | GivenBack | Ended,
    reasons=REASONS,
    start=start,
    setup=setup,
    decide=decide,
    fold=fold,
    facts=facts,
    view=view,
    to_act=to_act,
    offers=offers,
    timeout=timeout,
    result=result,
    resample=resample,
    bots={"easy": choose, "medium": choose, "hard": choose},
    timeout_by_lot=True,
    slow=is_slow,
)
