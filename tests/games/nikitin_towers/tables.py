"""Moments of a game laid by hand, and whole games played by bots, for tests of rules and offers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any, Literal

import msgspec

from tests.builders import Command, Step, opened, seed_bytes, walk
from tests.games.nikitin_towers.positions import tower_of
from towerhall_protocol.fairness import Act
from towerhall_protocol.offers import Offer
from towerhall_server.game import Rejected, Seat
from towerhall_server.games.nikitin_towers import GAME
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE
from towerhall_server.games.nikitin_towers.events import Event
from towerhall_server.games.nikitin_towers.options import Options
from towerhall_server.games.nikitin_towers.rejections import REASONS
from towerhall_server.games.nikitin_towers.state import BLOCKS, State
from towerhall_server.games.nikitin_towers.tower import Tower

MANUAL = Options(auto_roll=False)
TURNS = 50
"""The number of the turn in moments laid by hand: later than all turns of `tower_of`."""
Phase = Literal["roll", "choose", "place", "over"]
THIN_FOOT = tower_of("110", "111", "112", "113", "114 014 214 104 124")
"""A plus on a pole of four cubes: a wide roof that no square can join, wherever it is put."""
SHAKY_POLE = tower_of(*(f"02{z}" for z in range(9)))
"""Nine cubes on top of each other: they fall with any block on top."""


def moment(
    phase: Phase = "place",
    *,
    towers: Sequence[Tower] = (),
    block: str = "",
    size: int = 0,
    turn: int = 0,
    turns: int = TURNS,
    pile: Mapping[str, int] | None = None,
    least: int = BLOCKS,
    quiet: int = 0,
    options: Options | None = None,
    seats: int = 2,
    seed: int = 0,
    act: int = 0,
) -> State:
    """The first seats have these towers, the others have none.

    Blocks that are neither in a tower nor in the builder's hand are in the pile. If the pile is
    given, they are out of the game.
    """
    built = (*towers, *(Tower(),) * (seats - len(towers)))
    left = {kind: each.count for kind, each in CATALOGUE.items()}
    for used in (*(placed.kind for tower in built for placed in tower.blocks), block):
        if used:
            left[used] -= 1
    wanted = left if pile is None else pile
    return State(
        options or Options(),
        seed_bytes(seed),
        built,
        act=act,
        pile=tuple(wanted.get(kind, 0) for kind in CATALOGUE),
        phase=phase,
        turn=Seat(turn),
        turns=turns,
        die=6 if phase in ("choose", "place") else 0,
        size=CATALOGUE[block].size if block else size,
        block=block,
        least=least,
        quiet=quiet,
    )


def new_game(seats: int = 2, options: Options | None = None, seed: int = 0) -> State:
    """A game at its first choice."""
    state: State = opened(GAME, options or Options(), seats, seed)
    return state


def die(seed: bytes, act: int) -> int:
    """A die by the fairness recipe."""
    return 1 + Act(seed, act).below(6)


def seed_with(*dice: int, act: int = 0) -> int:
    """The first seed whose acts give these dice, from an act on."""
    return next(
        number
        for number in count()
        if all(die(seed_bytes(number), act + at) == wanted for at, wanted in enumerate(dice))
    )


def place(shape: str, x: int, y: int, **more: object) -> Command:
    return {"command": "place", "shape": shape, "x": x, "y": y, **more}


def choose(block: str) -> Command:
    return {"command": "choose", "block": block}


ROLL: Command = {"command": "roll"}
GIVE_BACK: Command = {"command": "give_back"}
RUN_OUT: Command = {"command": "run_out"}


def told(state: State, seat: int, command: object) -> tuple[Event, ...]:
    """The events that an accepted command leads to."""
    events = GAME.decide(state, Seat(seat), command)
    assert not isinstance(events, Rejected), events
    return events


def act(state: State, command: object) -> State:
    """The state after an accepted command of the seat that has to act."""
    return GAME.play(state, told(state, GAME.to_act(state)[0], command))


def refused(state: State, seat: int, command: object) -> Rejected:
    """Why a command is refused; it must leave the state as it was."""
    before = msgspec.msgpack.encode(state)
    answer = GAME.decide(state, Seat(seat), command)
    assert isinstance(answer, Rejected), f"accepted: {answer}"
    assert msgspec.msgpack.encode(state) == before
    check_reason(answer)
    return answer


def check_reason(answer: Rejected) -> None:
    """The refusal cites its rule, and its hint needs exactly its parameters."""
    reason = REASONS[answer.code]
    assert answer.rule == reason.rule
    assert reason.hint.format(**answer.params)
    assert all(f"{{{name}}}" in reason.hint for name in answer.params)


def shown(state: State) -> Any:
    """What everybody sees."""
    return GAME.view(state, None)


def facts(events: Sequence[Event]) -> list[tuple[object, ...]]:
    return [GAME.facts(event) for event in events]


def is_offered(offers: Sequence[Offer], command: Mapping[str, object]) -> bool:
    """Whether an offer has exactly this command, without listing them all."""
    for offer in offers:
        chosen = {key: value for key, value in command.items() if key not in offer.ranges}
        choices = [{}] if offer.choices is None else [each.parameters for each in offer.choices]
        numbers = [(command.get(name), of) for name, of in offer.ranges.items()]
        if (
            any(chosen == {"command": offer.command, **given} for given in choices)
            and all(type(number) is int for number, _ in numbers)
            and all(of.least <= number <= of.most for number, of in numbers)  # type: ignore[operator]
        ):
            return True
    return False


@cache
def bot_game(
    bots: tuple[str, ...], preset: str = "standard", seed: int = 0, *, auto_roll: bool = True
) -> tuple[Step, ...]:
    """A whole game between bots; remembered."""
    options = msgspec.structs.replace(GAME.presets[preset], auto_roll=auto_roll)
    return tuple(walk(GAME, opened(GAME, options, len(bots), seed), bots, seed))


def whole_story(steps: Sequence[Step]) -> tuple[State, tuple[Event, ...]]:
    """The table before anything happened, and every event of the game."""
    first = steps[0].before
    origin = GAME.start(first.options, len(first.towers), first.seed)
    return origin, (*GAME.setup(origin), *(event for step in steps for event in step.events))


@cache
def restless_game(seats: int, seed: int, options: Options) -> tuple[Step, ...]:
    """A whole game by lot in which the clock acts now and then; remembered."""
    return tuple(_restless(seats, seed, options))


def _restless(seats: int, seed: int, options: Options) -> Iterator[Step]:
    state: State = opened(GAME, options, seats, seed)
    for number in count():
        acting = GAME.to_act(state)
        if not acting:
            return
        seat, entropy = acting[0], seed_bytes(seed) + number.to_bytes(4, "big")
        if Act(entropy, 1).below(3) == 0:
            command = GAME.timeout(state, seat)
        else:
            command = GAME.bots["random"](shown(state), GAME.offers(state, seat), entropy)
        events = told(state, seat, command)
        after = GAME.play(state, events)
        yield Step(state, seat, command, events, after)
        state = after
