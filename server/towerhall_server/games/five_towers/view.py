"""A viewer's document, and the public part of events. Five Towers hides only the order of the pile
(FT 11), so all see the same.

A view is rebuilt after every commit, but its parts are cached on the pieces of state that they
show. An unchanged part is the same object as before, and the diff skips it.
"""

from collections.abc import Iterable
from functools import lru_cache

import msgspec
from msgspec.structs import astuple

from towerhall_server.game import Perspective, Result, Seat, event_name, kept, rank
from towerhall_server.games.five_towers.cards import KINDS, Values, values_by_kind
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
from towerhall_server.games.five_towers.scoring import Score, total
from towerhall_server.games.five_towers.state import NO_SEAT, Discard, Player, State, Table

_SEAT_KEYS = tuple(map(str, range(5)))
_KEYS_FROM = {
    seats: [_SEAT_KEYS[start:seats] + _SEAT_KEYS[:start] for start in range(seats)]
    for seats in range(2, 6)
}
"""The keys of that many seats in the order of play, by the first seat."""


def view(state: State, viewer: Perspective) -> dict[str, object]:
    """The whole table as a plain document. `calls` holds -1 for a pass."""
    table = state.table
    seats, discard = _table(table)
    order = _KEYS_FROM[len(table.players)][state.start]
    calls = {}
    for place, call in enumerate(state.calls):
        calls[order[place]] = call
    document: dict[str, object] = {
        "options": _options(state.options),
        "round": state.round,
        "lap": state.lap,
        "pile": len(state.pile),
        "phase": state.phase,
        "start": state.start,
        "display": state.display,
        "calls": calls,
        "seats": seats,
        "discard": discard,
    }
    if state.turn != NO_SEAT:
        document["turn"] = state.turn
    if state.options.bids == "table":
        limits = _limits(state.limits, len(state.display))
        if limits:
            document["limits"] = limits
    if state.scores:
        document["scores"] = _scores(state.scores)
    return document


def result(state: State) -> Result | None:
    """Scores and places, once the game is over."""
    if state.phase != "over":
        return None
    return rank(tuple(score.total for score in state.scores))


def standing(state: State) -> tuple[int, ...]:
    """The points so far (FT 15)."""
    players = state.table.players
    return tuple(total(player.towers, len(player.demolished)) for player in players)


@lru_cache(maxsize=64)
def _options(options: Options) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(options)
    return document


@kept
def _table(table: Table) -> tuple[dict[str, object], dict[str, object]]:
    """The parts that show the seats and the discard pile."""
    seats: dict[str, object] = {
        _SEAT_KEYS[seat]: _player(player) for seat, player in enumerate(table.players)
    }
    return seats, _discard(table.discard)


@kept
def _player(player: Player) -> dict[str, object]:
    return {
        "towers": _named(player.towers),
        "demolished": _named(values_by_kind(player.demolished)),
        "score": total(player.towers, len(player.demolished)),
    }


@kept
def _discard(discard: Discard) -> dict[str, object]:
    return _named(discard.values)


def _named(values: Iterable[Values]) -> dict[str, object]:
    """Kind to values, without the kinds that have none."""
    named: dict[str, object] = {}
    for kind, some in enumerate(values):
        if some:
            named[KINDS[kind]] = some
    return named


@lru_cache(maxsize=1 << 10)
def _limits(limits: tuple[int, ...], shown: int) -> dict[str, object]:
    """Only the seats that took a bid back."""
    return {_SEAT_KEYS[seat]: limit for seat, limit in enumerate(limits) if limit <= shown}


@lru_cache(maxsize=1 << 8)
def _scores(scores: tuple[Score, ...]) -> dict[str, object]:
    return {_SEAT_KEYS[seat]: msgspec.to_builtins(score) for seat, score in enumerate(scores)}


PUBLIC_FIELDS: dict[type[Event], tuple[str, ...]] = {
    GameStarted: ("seats", "options", "cards", "start"),
    RoundStarted: ("round", "start", "display", "pile"),
    BidMade: ("seat", "number", "forced"),
    Passed: ("seat", "forced"),
    AuctionWon: ("seat", "number"),
    AuctionEmpty: (),
    BidWithdrawn: ("seat", "number", "calls_kept"),
    CardsTaken: ("seat", "cards"),
    CardDemolished: ("seat", "card", "demolished"),
    CardBuilt: ("seat", "card", "height"),
    DisplayCleared: ("cards",),
    PileReshuffled: ("pile",),
    GameEnded: ("scores", "winners"),
}
"""The allow-list: viewers never get a field that is not named here."""

_NAMES = {kind: event_name(kind.__name__) for kind in PUBLIC_FIELDS}

_ALL_PUBLIC = {kind for kind, public in PUBLIC_FIELDS.items() if public == kind.__struct_fields__}
"""Events that are public as a whole, which is cheap: they are written in the order of their
fields."""

_PLAIN = {
    kind: (_NAMES[kind],)
    for kind in _ALL_PUBLIC
    if {field.type for field in msgspec.structs.fields(kind)} <= {int, bool, str, Seat}
}
"""Those without fields to convert: the most frequent events, and the cheapest."""


def facts(event: Event) -> tuple[object, ...]:
    """Return the public part of the event, as plain data."""
    kind = type(event)
    if kind in _PLAIN:
        return _PLAIN[kind] + astuple(event)
    if kind in _ALL_PUBLIC:
        return tuple(msgspec.to_builtins(event))
    public = (getattr(event, name) for name in PUBLIC_FIELDS[kind])
    return (_NAMES[kind], *msgspec.to_builtins(tuple(public)))
