"""FT 11: only the order of the pile is hidden, and public facts tell everything else."""

from typing import Any

import pytest

from tests.builders import bot_game, new_game, random_game, seed_bytes, shown
from towerhall_protocol.codec import FROM_SERVER, decode, encode
from towerhall_protocol.merge_patch import same
from towerhall_server.game import Seat
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.cards import KINDS, deck
from towerhall_server.games.five_towers.events import Event
from towerhall_server.games.five_towers.options import Options
from towerhall_server.games.five_towers.state import State

TABLE = Options(bids="table")
GAMES = pytest.mark.parametrize(
    ("seats", "seed", "options"),
    [(2, 1, Options()), (3, 2, TABLE), (4, 3, Options(eight="cap")), (5, 4, TABLE)],
)


def history(seats: int, seed: int, options: Options) -> list[tuple[tuple[Event, ...], State]]:
    """Every commit of a random game and the state after it, from the setup on."""
    steps = bot_game("random", seats, seed, options)
    setup = GAME.setup(GAME.start(options, seats, seed_bytes(seed)))
    return [(setup, steps[0].before), *((step.events, step.after) for step in steps)]


@GAMES
def test_ft11_nobody_can_tell_the_order_of_the_pile(
    seats: int, seed: int, options: Options
) -> None:
    changed = 0
    for number, (_, state) in enumerate(history(seats, seed, options)):
        other = GAME.resample(state, seed_bytes(number))
        changed += other.pile != state.pile
        assert other.seed != state.seed
        assert sorted(other.pile) == sorted(state.pile)
        assert GAME.view(other, None) == GAME.view(state, None)
        for seat in map(Seat, range(seats)):
            assert GAME.view(other, seat) == GAME.view(state, seat)
            assert GAME.offers(other, seat) == GAME.offers(state, seat)
        assert GAME.to_act(other) == GAME.to_act(state)
    assert changed > 10


def test_ft11_players_and_spectators_see_the_same() -> None:
    for state in random_game(4, seed=3):
        spectator = GAME.view(state, None)
        assert all(GAME.view(state, Seat(seat)) == spectator for seat in range(4))


@GAMES
def test_ft11_neither_view_nor_facts_hold_the_seed(seats: int, seed: int, options: Options) -> None:
    secret = bytes(range(65, 97))
    state = GAME.start(options, seats, secret)
    events = GAME.setup(state)
    state = GAME.play(state, events)
    sent = encode([[list(GAME.facts(event)) for event in events], shown(state)])
    assert all(secret[at : at + 4] not in sent for at in range(29))


@GAMES
def test_ft11_a_card_is_named_only_after_it_was_dealt(
    seats: int, seed: int, options: Options
) -> None:
    seen: set[str] = set()
    for events, _ in history(seats, seed, options):
        for event in events:
            name, *fields = GAME.facts(event)
            named = cards_in(fields)
            if name == "round_started":
                seen |= named
            assert named <= seen


def cards_in(value: object) -> set[str]:
    """Every card id anywhere in plain data."""
    if isinstance(value, list | tuple):
        return {card for item in value for card in cards_in(item)}
    if isinstance(value, dict):
        return {card for item in value.values() for card in cards_in(item)}
    return {value} if isinstance(value, str) and value in deck(5) else set()


class Onlooker:
    """A client that knows nothing but the facts, and no rules."""

    def __init__(self) -> None:
        self.seats: list[dict[str, Any]] = []
        self.start = -1
        self.calls: dict[str, int] = {}
        self.limits: dict[str, int] = {}
        self.lap, self.round, self.pile, self.turn, self.phase = 1, 0, 0, -1, "auction"
        self.discard: list[str] = []
        self.display: list[str] = []
        self.undealt: set[str] = set()
        self.totals: list[int] = []

    def hear(self, name: str, *fields: Any) -> None:
        getattr(self, "hear_" + name)(*fields)

    def hear_game_started(self, seats: int, options: Any, cards: int, start: int) -> None:
        self.seats = [{"towers": {}, "demolished": []} for _ in range(seats)]
        self.undealt = set(deck(seats))
        assert len(self.undealt) == cards

    def hear_round_started(self, number: int, start: int, display: list[str], pile: int) -> None:
        self.round, self.start, self.turn, self.phase = number, start, start, "auction"
        self.display, self.pile = list(display), pile
        self.undealt -= set(display)
        self.calls, self.limits = {}, {}

    def hear_bid_made(self, seat: int, number: int, forced: bool) -> None:
        self.calls[str(seat)] = number
        self.turn = (seat + 1) % len(self.seats)

    def hear_passed(self, seat: int, forced: bool) -> None:
        self.hear_bid_made(seat, -1, forced)

    def hear_auction_won(self, seat: int, number: int) -> None:
        self.phase, self.turn = "build", seat

    def hear_auction_empty(self) -> None:
        pass

    def hear_bid_withdrawn(self, seat: int, number: int, calls_kept: int) -> None:
        self.calls = dict(list(self.calls.items())[:calls_kept])
        self.limits[str(seat)] = number
        self.turn = seat

    def hear_cards_taken(self, seat: int, cards: list[str]) -> None:
        self.display = [card for card in self.display if card not in cards]
        self.start = (seat + 1) % len(self.seats)

    def hear_card_demolished(self, seat: int, card: str, demolished: int) -> None:
        kind, value = split(card)
        assert self.seats[seat]["towers"][kind].pop() == value
        self.seats[seat]["demolished"].append(card)
        assert len(self.seats[seat]["demolished"]) == demolished

    def hear_card_built(self, seat: int, card: str, height: int) -> None:
        kind, value = split(card)
        tower = self.seats[seat]["towers"].setdefault(kind, [])
        tower.append(value)
        assert len(tower) == height

    def hear_display_cleared(self, cards: list[str]) -> None:
        assert sorted(cards) == sorted(self.display)
        self.discard += cards
        self.display, self.calls = [], {}

    def hear_pile_reshuffled(self, pile: int) -> None:
        assert self.undealt == set()
        assert len(self.discard) == pile
        self.undealt, self.discard, self.lap, self.pile = set(self.discard), [], 2, pile

    def hear_game_ended(self, scores: list[Any], winners: list[int]) -> None:
        self.phase, self.limits = "over", {}
        self.totals = [score["total"] for score in scores]
        assert winners == [s for s, total in enumerate(self.totals) if total == max(self.totals)]

    def document(self) -> dict[str, object]:
        """What the view shows, without options and scores."""
        seats = {
            str(seat): {
                "towers": {kind: tower for kind, tower in own["towers"].items() if tower},
                "demolished": by_kind(own["demolished"]),
            }
            for seat, own in enumerate(self.seats)
        }
        document: dict[str, object] = {
            "round": self.round, "lap": self.lap, "pile": self.pile, "phase": self.phase,
            "start": self.start, "display": self.display, "calls": self.calls, "seats": seats,
            "discard": by_kind(self.discard),
        }  # fmt: skip
        if self.phase != "over":
            document["turn"] = self.turn
        if self.limits:
            document["limits"] = self.limits
        return document


def split(card: str) -> tuple[str, int]:
    kind, value = card.rstrip("+").split(":")
    return kind, int(value)


def by_kind(cards: list[str]) -> dict[str, list[int]]:
    values = {kind: sorted(v for k, v in map(split, cards) if k == kind) for kind in KINDS}
    return {kind: found for kind, found in values.items() if found}


@GAMES
def test_ft11_the_facts_alone_tell_the_whole_table(seats: int, seed: int, options: Options) -> None:
    onlooker = Onlooker()
    for events, state in history(seats, seed, options):
        for event in events:
            heard = decode(encode(GAME.facts(event)), FROM_SERVER)
            assert isinstance(heard, list)
            onlooker.hear(*heard)
        seen = dict(shown(state))
        del seen["options"]
        seen.pop("scores", None)
        seen["seats"] = {
            seat: {part: value for part, value in own.items() if part != "score"}
            for seat, own in seen["seats"].items()
        }
        assert same(onlooker.document(), seen)
        assert onlooker.undealt == set(state.pile)
    assert onlooker.totals == [score.total for score in state.scores]


def test_ft11_resampling_never_moves_a_card_that_was_seen() -> None:
    state = new_game(4)
    other = GAME.resample(state, b"any")
    assert (other.display, other.table.players) == (state.display, state.table.players)
