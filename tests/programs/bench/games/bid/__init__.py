"""The bid game: 91 leaf fields, of which a bid changes six. `peers/bid.mjs` has the same rules.

It is a fixture of the benchmarks and never ships: only `tests.programs.bench.bid_server` adds this
folder to the games that a server finds. It measures the server, so its rules cost next to nothing.
"""

from typing import Literal

import msgspec
from msgspec.structs import replace

from towerhall_protocol.document import Document
from towerhall_protocol.merge_patch import diff
from towerhall_protocol.offers import Offer, Range
from towerhall_server.game import (
    BAD_COMMAND,
    BAD_OPTIONS,
    Game,
    Perspective,
    Reason,
    Rejected,
    Result,
    Seat,
    kept,
    rank,
)

KINDS = ("wood", "stone", "gold", "glass")
SLOTS = 20
NUMBERS = 1000
DICE = 13
SLOT_KEYS = tuple(map(str, range(SLOTS)))
SEAT_KEYS = tuple(map(str, range(4)))


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bids: Literal[6, 20_000] = 6


class Slot(msgspec.Struct, frozen=True, dict=True):
    id: int
    kind: str
    value: int


class Player(msgspec.Struct, frozen=True, dict=True):
    coins: int = 100
    bid: int = 0
    score: int = 0
    towers: tuple[int, int, int, int] = (0, 0, 0, 0)


class State(msgspec.Struct, frozen=True, dict=True):
    bids: int
    """The game ends after this many."""
    display: tuple[Slot, ...]
    players: tuple[Player, ...]
    seq: int = 0
    turn: int = 0


class BidMade(
    msgspec.Struct, frozen=True, tag="bid_made", array_like=True, forbid_unknown_fields=True
):
    seat: Seat
    number: int


class Bid(msgspec.Struct, tag_field="command", tag="bid", forbid_unknown_fields=True):
    number: int


def start(options: Options, seats: int, seed: bytes) -> State:
    display = tuple(Slot(n, KINDS[n % len(KINDS)], n * 7 % DICE) for n in range(SLOTS))
    return State(options.bids, display, (Player(),) * seats)


def to_act(state: State) -> tuple[Seat, ...]:
    return (Seat(state.turn),) if state.seq < state.bids else ()


OFFERS = (Offer("bid", {"number": Range(0, NUMBERS - 1)}),)


def offers(state: State, seat: Seat) -> tuple[Offer, ...]:
    return OFFERS if seat in to_act(state) else ()


def decide(state: State, seat: Seat, command: object) -> tuple[BidMade, ...] | Rejected:
    try:
        number = msgspec.convert(command, type=Bid).number
    except (ValueError, RecursionError):
        return Rejected(BAD_COMMAND, "2")
    if seat not in to_act(state):
        return Rejected("not_your_turn", "3")
    if not 0 <= number < NUMBERS:
        return Rejected("bad_number", "4")
    return (BidMade(seat, number),)


def fold(state: State, event: BidMade) -> State:
    seat, number = event.seat, event.number
    player = state.players[seat]
    towers, players, display = list(player.towers), list(state.players), list(state.display)
    towers[number % 4] += 1
    players[seat] = Player(
        (player.coins + number) % NUMBERS,
        number,
        player.score,
        (*towers,),  # type: ignore[arg-type]
    )
    slot = number % SLOTS
    display[slot] = replace(display[slot], value=number % DICE)
    turn = (seat + 1) % len(players)
    return State(state.bids, tuple(display), tuple(players), state.seq + 1, turn)


def view(state: State, viewer: Perspective) -> dict[str, object]:
    return _view(state)


@kept
def _view(state: State) -> dict[str, object]:
    return {
        "seq": state.seq,
        "turn": state.turn,
        "round": 0,
        "display": dict(zip(SLOT_KEYS, map(_slot, state.display), strict=True)),
        "players": dict(zip(SEAT_KEYS, map(_player, state.players), strict=False)),
    }


@kept
def _slot(slot: Slot) -> dict[str, object]:
    return {"id": slot.id, "kind": slot.kind, "value": slot.value}


@kept
def _player(player: Player) -> dict[str, object]:
    return {
        "coins": player.coins,
        "bid": player.bid,
        "score": player.score,
        "towers": player.towers,
    }


def patch(before: State, after: State, events: tuple[BidMade, ...]) -> dict[str, object]:
    if len(events) != 1:
        return diff(_view(before), _view(after))
    (event,) = events
    old, new = before.players[event.seat], after.players[event.seat]
    player: dict[str, object] = {"towers": new.towers}
    if new.coins != old.coins:
        player["coins"] = new.coins
    if new.bid != old.bid:
        player["bid"] = new.bid
    told: dict[str, object] = {
        "seq": after.seq,
        "turn": after.turn,
        "players": {SEAT_KEYS[event.seat]: player},
    }
    number = event.number % SLOTS
    if after.display[number].value != before.display[number].value:
        told["display"] = {SLOT_KEYS[number]: {"value": after.display[number].value}}
    return told


def result(state: State) -> Result | None:
    return None if to_act(state) else rank(tuple(player.coins for player in state.players))


def choose(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    return {"command": "bid", "number": entropy[0]}


GAME: Game[State, BidMade] = Game(
    name="bid",
    version=1,
    seats=range(2, 5),
    options_type=Options,
    presets={"standard": Options(), "long": Options(bids=20_000)},
    state_type=State,
    event_type=BidMade,
    reasons={
        BAD_OPTIONS: Reason("1", "Not possible: {detail}."),
        BAD_COMMAND: Reason("2", "Not a command."),
        "not_your_turn": Reason("3", "It is not your turn."),
        "bad_number": Reason("4", "Not a number that can be bid."),
    },
    start=start,
    setup=lambda state: (),
    decide=decide,
    fold=fold,
    facts=lambda event: tuple(msgspec.to_builtins(event)),
    view=view,
    to_act=to_act,
    offers=offers,
    timeout=lambda state, seat: {"command": "bid", "number": 0},
    result=result,
    resample=lambda state, entropy: state,
    bots={"easy": choose},
    shared_view=True,
    patch=patch,
)
