"""The state of a game, and how each event changes it.

Everything is immutable; `fold` returns a new state that shares what did not change. The hidden
part is `seed`, `act` and the order of `pile`; everything else is public (FT 11).
"""

from bisect import insort
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from towerhall_protocol.fairness import Act
from towerhall_server.game import Seat
from towerhall_server.games.five_towers.cards import (
    DISPLAY_SIZE,
    KIND_OF,
    KINDS,
    VALUE_OF,
    Card,
    Values,
    deck,
)
from towerhall_server.games.five_towers.events import (
    AuctionEmpty,
    AuctionWon,
    BidMade,
    BidWithdrawn,
    CardBuilt,
    CardDemolished,
    CardsTaken,
    DisplayCleared,
    Event,
    GameEnded,
    GameStarted,
    Passed,
    PileReshuffled,
    RoundStarted,
)
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.scoring import Score

PASS = -1
"""A call that names no number."""
NO_SEAT = Seat(-1)
DEAL_ACT, START_ACT = 0, 1
"""The first two random acts (FT 3): the shuffle and the draw of the start player."""
_SEATS = tuple(map(Seat, range(5)))
"""The seat to the left, as a table: computing it is a call, and bids are frequent."""


NOTHING_BY_KIND: tuple[tuple[()], ...] = ((),) * len(KINDS)


class Player(msgspec.Struct, frozen=True, dict=True):
    """The cards before one seat."""

    towers: tuple[Values, ...] = NOTHING_BY_KIND
    """Values from the bottom up, one tower for each kind: the rules need nothing else."""
    cards: tuple[tuple[Card, ...], ...] = NOTHING_BY_KIND
    """The same towers by id: which copy of a card lies where."""
    demolished: tuple[Card, ...] = ()


class Discard(msgspec.Struct, frozen=True, dict=True):
    """The discard pile, by id and by kind; its order never matters."""

    cards: tuple[Card, ...] = ()
    values: tuple[Values, ...] = NOTHING_BY_KIND


class Table(msgspec.Struct, frozen=True, dict=True):
    """The parts that no call of an auction changes: one struct, so that its view is kept in one
    piece."""

    players: tuple[Player, ...]
    discard: Discard = Discard()


class State(msgspec.Struct, frozen=True, gc=False):
    """One moment of a game."""

    options: Options
    seed: bytes
    act: int
    pile: tuple[Card, ...]
    table: Table
    lap: int = 1
    """The lap through the deck: 1 or 2."""
    round: int = 0
    start: Seat = NO_SEAT
    phase: Literal["auction", "build", "over"] = "auction"
    turn: Seat = NO_SEAT
    display: tuple[Card, ...] = ()
    calls: tuple[int, ...] = ()
    """The calls of the auction, numbers or `PASS`: by `start` first, then by each seat to its
    left."""
    leading: int = PASS
    """The highest of them, which is the last number named (FT 5)."""
    limits: tuple[int, ...] = ()
    """FT 7: what each seat's bids must stay below in this round."""
    scores: tuple[Score, ...] = ()
    """Final scores, once the game is over."""


def start(options: Options, seats: int, seed: bytes) -> State:
    """The table before the first event; the deck is still in order."""
    return State(options, seed, DEAL_ACT, deck(seats), Table((Player(),) * seats))


def _game_started(state: State, event: GameStarted) -> State:
    pile = Act(state.seed, DEAL_ACT).shuffle(state.pile)
    return replace(state, pile=tuple(pile), act=START_ACT + 1, start=event.start)


def _round_started(state: State, event: RoundStarted) -> State:
    shown = len(event.display)
    return replace(
        state,
        phase="auction",
        round=event.round,
        start=event.start,
        turn=event.start,
        display=event.display,
        pile=state.pile[shown:],
        calls=(),
        leading=PASS,
        limits=(shown + 1,) * len(state.table.players),
    )


def _bid_made(state: State, event: BidMade) -> State:
    turn = _SEATS[(event.seat + 1) % len(state.table.players)]
    return replace(state, calls=(*state.calls, event.number), leading=event.number, turn=turn)


def _passed(state: State, event: Passed) -> State:
    turn = _SEATS[(event.seat + 1) % len(state.table.players)]
    return replace(state, calls=(*state.calls, PASS), turn=turn)


def _auction_won(state: State, event: AuctionWon) -> State:
    return replace(state, phase="build", turn=event.seat)


def _auction_empty(state: State, event: AuctionEmpty) -> State:
    return replace(state, turn=NO_SEAT)


def _bid_withdrawn(state: State, event: BidWithdrawn) -> State:
    calls = state.calls[: event.calls_kept]
    leading = max(calls, default=PASS)
    limits = list(state.limits)
    limits[event.seat] = event.number
    return replace(state, calls=calls, leading=leading, limits=tuple(limits), turn=event.seat)


def _cards_taken(state: State, event: CardsTaken) -> State:
    left = tuple([card for card in state.display if card not in event.cards])
    start = _SEATS[(event.seat + 1) % len(state.table.players)]
    return replace(state, display=left, calls=(), leading=PASS, turn=NO_SEAT, start=start)


def _card_demolished(state: State, event: CardDemolished) -> State:
    player = state.table.players[event.seat]
    kind = KIND_OF[event.card]
    towers, cards = list(player.towers), list(player.cards)
    towers[kind], cards[kind] = towers[kind][:-1], cards[kind][:-1]
    changed = Player(tuple(towers), tuple(cards), (*player.demolished, event.card))
    return _with_player(state, event.seat, changed)


def _card_built(state: State, event: CardBuilt) -> State:
    player = state.table.players[event.seat]
    kind = KIND_OF[event.card]
    towers, cards = list(player.towers), list(player.cards)
    towers[kind] += (VALUE_OF[event.card],)
    cards[kind] += (event.card,)
    changed = Player(tuple(towers), tuple(cards), player.demolished)
    return _with_player(state, event.seat, changed)


def _display_cleared(state: State, event: DisplayCleared) -> State:
    table = state.table
    if event.cards:
        values = list(table.discard.values)
        for card in event.cards:
            kind = KIND_OF[card]
            sorted_in = list(values[kind])
            insort(sorted_in, VALUE_OF[card])
            values[kind] = tuple(sorted_in)
        discard = Discard(table.discard.cards + event.cards, tuple(values))
        table = Table(table.players, discard)
    return replace(state, display=(), calls=(), leading=PASS, table=table)


def _pile_reshuffled(state: State, event: PileReshuffled) -> State:
    pile = Act(state.seed, state.act).shuffle(state.table.discard.cards)
    table = Table(state.table.players)
    return replace(state, pile=tuple(pile), table=table, act=state.act + 1, lap=2)


def _game_ended(state: State, event: GameEnded) -> State:
    return replace(state, phase="over", turn=NO_SEAT, scores=event.scores)


def _with_player(state: State, seat: Seat, changed: Player) -> State:
    players = list(state.table.players)
    players[seat] = changed
    return replace(state, table=Table(tuple(players), state.table.discard))


FOLD: dict[type[Event], Callable[[State, Any], State]] = {
    GameStarted: _game_started,
    RoundStarted: _round_started,
    BidMade: _bid_made,
    Passed: _passed,
    AuctionWon: _auction_won,
    AuctionEmpty: _auction_empty,
    BidWithdrawn: _bid_withdrawn,
    CardsTaken: _cards_taken,
    CardDemolished: _card_demolished,
    CardBuilt: _card_built,
    DisplayCleared: _display_cleared,
    PileReshuffled: _pile_reshuffled,
    GameEnded: _game_ended,
}


def fold(state: State, event: Event) -> State:
    """The state after the event."""
    return FOLD[type(event)](state, event)


def resample(state: State, entropy: bytes) -> State:
    """Another order of the pile and another seed: no player could tell the difference (FT 11)."""
    pile = Act(entropy, 0).shuffle(state.pile)
    draw = Act(entropy, 1)
    seed = bytes(draw.below(256) for _ in state.seed)
    return replace(state, pile=tuple(pile), seed=seed)


def next_display(state: State) -> tuple[Card, ...]:
    """The cards that the next deal will turn up: the one look into the hidden pile."""
    return state.pile[:DISPLAY_SIZE]


def shows_result(state: State) -> bool:
    """Whether an auction was won, or the winner has built and new cards lie on the table."""
    return state.phase == "build" or not state.calls
