"""Small builders for tests: play games from code, and lay Five Towers tables by hand.

The first part serves every game; everything below `Five Towers` knows that game.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import msgspec

from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.games.five_towers.cards import KINDS, Card, deck
from towerhall_server.games.five_towers.events import (
    AuctionWon,
    BidMade,
    CardBuilt,
    CardDemolished,
    DisplayCleared,
    Event,
    Passed,
    RoundStarted,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.rejections import REASONS
from towerhall_server.games.five_towers.state import PASS, State, start

Command = dict[str, object]
COMMITS_MAX = 10_000
"""No game of bots needs nearly as many."""


class Step(NamedTuple):
    """One commit of a game: what was decided where, and what came of it."""

    before: Any
    seat: Seat
    command: Command
    events: tuple[Any, ...]
    after: Any


def seed_bytes(seed: int) -> bytes:
    """A game's seed, from a number."""
    return seed.to_bytes(32, "big")


def opened(game: AnyGame, options: msgspec.Struct, seats: int, seed: int = 0) -> Any:
    """A game at its first choice."""
    state = game.start(options, seats, seed_bytes(seed))
    return game.play(state, game.setup(state))


def walk(game: AnyGame, state: Any, bots: Sequence[str], seed: int = 0) -> Iterator[Step]:
    """Let bots play, one for each seat, and give every commit up to the end."""
    for number in range(COMMITS_MAX):
        acting = game.to_act(state)
        if not acting:
            return
        seat = acting[0]
        entropy = seed_bytes(seed) + number.to_bytes(4, "big")
        choose = game.bots[bots[seat]]
        command = choose(game.view(state, seat), game.offers(state, seat), entropy)
        events = game.decide(state, seat, command)
        assert not isinstance(events, Rejected), f"{bots[seat]} gave {command}: {events}"
        step = Step(state, seat, command, events, game.play(state, events))
        yield step
        state = step.after
    raise AssertionError(f"the game has not ended after {COMMITS_MAX} commits")


# --- Five Towers ---

FINISHED: dict[str, tuple[int, ...]] = dict.fromkeys(KINDS, (0,))
"""Towers on which nothing can be built: a lone spire of every kind."""


def bid(number: int) -> Command:
    return {"command": "bid", "number": number}


def pass_() -> Command:
    return {"command": "pass"}


def build(*cards: Card, demolish: str | None = None) -> Command:
    """The cards in building order; each may be several ids in one string."""
    ids = [card for text in cards for card in text.split()]
    return {"command": "build", "cards": ids, "demolish": demolish}


def new_game(seats: int = 4, options: Options | None = None, seed: int = 0) -> State:
    """A game of Five Towers at its first choice."""
    state: State = opened(FIVE_TOWERS, options or Options(), seats, seed)
    return state


def table(
    *,
    display: str,
    towers: Mapping[int, Mapping[str, Sequence[int]]] | None = None,
    demolished: Mapping[int, str] | None = None,
    seats: int = 4,
    start_seat: int = 0,
    calls: Sequence[int] = (),
    phase: Literal["auction", "build"] = "auction",
    options: Options | None = None,
    pile: str | None = None,
    discard: str | None = None,
    lap: int = 1,
    round_number: int = 1,
) -> State:
    """A moment of a round: `calls` are numbers or `PASS` from the start player on.

    Towers are values from the bottom up; ids are found for them. The cards that lie nowhere else
    are the pile, in the deck's order; if the pile is given (from the first card to be dealt), they
    are the discard pile; if both are given, they are out of the game.
    """
    wanted = _ids(display)
    thrown, stacked = _ids(discard or ""), _ids(pile or "")
    ruins = {seat: _ids(text) for seat, text in (demolished or {}).items()}
    supply = list(deck(seats))
    for card in (*wanted, *thrown, *stacked, *(card for ruin in ruins.values() for card in ruin)):
        supply.remove(card)
    state = start(options or Options(), seats, seed_bytes(0))
    events: list[Event] = []
    for seat in range(seats):
        for number, card in enumerate(ruins.get(seat, ()), start=1):
            events += [CardBuilt(Seat(seat), card, 1), CardDemolished(Seat(seat), card, number)]
        for kind, values in (towers or {}).get(seat, {}).items():
            for height, value in enumerate(values, start=1):
                events.append(CardBuilt(Seat(seat), _take(supply, kind, value), height))
    left = tuple(supply) if pile is None else stacked
    events.append(DisplayCleared(tuple(supply) if discard is None and pile is not None else thrown))
    events.append(RoundStarted(round_number, Seat(start_seat), wanted, len(left)))
    for turn, number in enumerate(calls):
        seat = Seat((start_seat + turn) % seats)
        events.append(Passed(seat) if number == PASS else BidMade(seat, number))
    state = msgspec.structs.replace(state, act=2, lap=lap, pile=(*wanted, *left))
    if phase == "build":
        highest = max(calls)
        winner = Seat((start_seat + calls.index(highest)) % seats)
        events.append(AuctionWon(winner, highest))
    return FIVE_TOWERS.play(state, events)


def building(
    display: str,
    towers: Mapping[str, Sequence[int]] | None = None,
    *,
    number: int | None = None,
    options: Options | None = None,
    demolished: str = "",
    seats: int = 4,
) -> State:
    """Seat 0 is to build: as many cards as said, by default the whole display."""
    wanted = len(display.split()) if number is None else number
    return table(
        display=display,
        towers={0: towers or {}},
        demolished={0: demolished},
        seats=seats,
        calls=(wanted, *(PASS,) * (seats - 1)),
        phase="build",
        options=options,
    )


def _ids(text: str) -> tuple[Card, ...]:
    return tuple(text.split())


def _take(supply: list[Card], kind: str, value: int) -> Card:
    card = f"{kind}:{value}"
    found = card if card in supply else card + "+"
    supply.remove(found)
    return found


def told(state: State, seat: int, command: object) -> tuple[Event, ...]:
    """The events that an accepted command leads to."""
    events = FIVE_TOWERS.decide(state, Seat(seat), command)
    assert not isinstance(events, Rejected), events
    return events


def act(state: State, seat: int, command: object) -> State:
    """The state after an accepted command."""
    return FIVE_TOWERS.play(state, told(state, seat, command))


def call(state: State, *numbers: int) -> State:
    """Calls by whoever has the turn: numbers or `PASS`."""
    for number in numbers:
        state = act(state, state.turn, pass_() if number == PASS else bid(number))
    return state


def refused(state: State, seat: int, command: object) -> Rejected:
    """Why a command is refused; it must leave the state as it was."""
    before = msgspec.msgpack.encode(state)
    answer = FIVE_TOWERS.decide(state, Seat(seat), command)
    assert isinstance(answer, Rejected), f"accepted: {answer}"
    assert answer.rule == REASONS[answer.code].rule
    assert msgspec.msgpack.encode(state) == before
    return answer


def shown(state: State) -> Any:
    """What everybody sees."""
    return FIVE_TOWERS.view(state, None)


def standing(state: State, seat: int = 0) -> dict[str, tuple[int, ...]]:
    """The towers of a seat, by kind."""
    towers = shown(state)["seats"][str(seat)]["towers"]
    return {kind: tuple(values) for kind, values in towers.items()}


def ruined(state: State, seat: int = 0) -> list[Card]:
    """The demolished cards of a seat, in order and without copy marks."""
    return _listed(shown(state)["seats"][str(seat)]["demolished"])


def discarded(state: State) -> list[Card]:
    """The discard pile, in order and without copy marks."""
    return _listed(shown(state)["discard"])


def plain(cards: Iterable[Card]) -> list[Card]:
    """Cards in order and without copy marks."""
    return sorted(card.rstrip("+") for card in cards)


def _listed(by_kind: Mapping[str, Sequence[int]]) -> list[Card]:
    return sorted(f"{kind}:{value}" for kind, values in by_kind.items() for value in values)


def play_out(state: State, bots: Sequence[str], seed: int = 0) -> State:
    """The end of the game when these bots play on."""
    for step in walk(FIVE_TOWERS, state, bots, seed):
        state = step.after
    return state


@cache
def bot_game(
    bot: str = "random", seats: int = 4, seed: int = 0, options: Options | None = None
) -> tuple[Step, ...]:
    """A whole game in which every seat is played by the same bot; remembered."""
    state = new_game(seats, options, seed)
    return tuple(walk(FIVE_TOWERS, state, (bot,) * seats, seed))


def random_game(seats: int = 4, seed: int = 0, options: Options | None = None) -> list[State]:
    """Every state of a randomly played game at which there was a choice, and its end."""
    steps = bot_game("random", seats, seed, options)
    return [steps[0].before, *(step.after for step in steps)]
