"""Dice duel: the smallest game that keeps every law. Its rules are in `dice_duel.md`."""

from typing import Literal

import msgspec
from msgspec.structs import replace

from towerhall_protocol.document import Document
from towerhall_protocol.fairness import Act
from towerhall_protocol.offers import Offer, Range
from towerhall_server.game import Game, Perspective, Reason, Rejected, Seat, rank


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rounds: Literal[3, 5] = 3


class State(msgspec.Struct, frozen=True):
    options: Options
    seed: bytes
    scores: tuple[int, ...]
    turns: int = 0


class Rolled(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="rolled"
):
    seat: Seat
    number: int
    die: int
    points: int


class Name(msgspec.Struct, tag_field="command", tag="name", forbid_unknown_fields=True):
    number: int


def to_act(state: State) -> tuple[Seat, ...]:  # DD 3, DD 5
    round_number, seat = divmod(state.turns, len(state.scores))
    return (Seat(seat),) if round_number < state.options.rounds else ()


def offers(state: State, seat: Seat) -> tuple[Offer, ...]:
    return (Offer("name", {"number": Range(1, 6)}),) if seat in to_act(state) else ()


def decide(state: State, seat: Seat, command: object) -> tuple[Rolled, ...] | Rejected:
    try:
        number = msgspec.convert(command, type=Name).number
    except (ValueError, RecursionError) as error:
        return Rejected("bad_command", "2", {"detail": type(error).__name__})
    if seat not in to_act(state):
        return Rejected("not_your_turn", "3")
    if not 1 <= number <= 6:
        return Rejected("bad_number", "4", {"least": 1, "most": 6})
    die = 1 + Act(state.seed, state.turns).below(6)
    return (Rolled(seat, number, die, number if die >= number else 0),)  # DD 4


def fold(state: State, event: Rolled) -> State:
    scores = list(state.scores)
    scores[event.seat] += event.points
    return replace(state, scores=tuple(scores), turns=state.turns + 1)


def view(state: State, viewer: Perspective) -> dict[str, object]:
    return {"turns": state.turns, "scores": {str(s): score for s, score in enumerate(state.scores)}}


def choose(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    return {"command": "name", "number": 1 + Act(entropy, 0).below(6)}


GAME: Game[State, Rolled] = Game(
    name="dice_duel",
    version=1,
    seats=range(2, 5),
    options_type=Options,
    presets={"standard": Options()},
    state_type=State,
    event_type=Rolled,
    reasons={
        "bad_options": Reason("1", "Not possible: {detail}."),
        "bad_command": Reason("2", "Not a command: {detail}."),
        "not_your_turn": Reason("3", "It is not your turn."),
        "bad_number": Reason("4", "Name a number from {least} to {most}."),
    },
    start=lambda options, seats, seed: State(options, seed, (0,) * seats),
    setup=lambda state: (),
    decide=decide,
    fold=fold,
    facts=lambda event: tuple(msgspec.to_builtins(event)),
    view=view,
    to_act=to_act,
    offers=offers,
    timeout=lambda state, seat: {"command": "name", "number": 3},
    result=lambda state: None if to_act(state) else rank(state.scores),  # DD 5
    resample=lambda state, entropy: replace(state, seed=entropy),
    bots={"easy": choose},
)
