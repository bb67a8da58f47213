"""The effect of commands (FT 4 to 9): from a command to the events up to the next real choice.

Nothing here changes state: a `_Story` collects events and folds each one, so every step sees the
table after the steps before.
"""

from collections.abc import Callable
from typing import Annotated, Any, Final

import msgspec

from towerhall_protocol.fairness import Act
from towerhall_protocol.plain_faults import said
from towerhall_server.game import BAD_COMMAND, DETAIL_LENGTH, Rejected, Seat, rank
from towerhall_server.games.five_towers.building import can_demolish, can_place, most_cards, top_of
from towerhall_server.games.five_towers.cards import (
    KIND_INDEX,
    KIND_OF,
    VALUE_OF,
    Card,
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
from towerhall_server.games.five_towers.rejections import rejected
from towerhall_server.games.five_towers.scoring import Score, score
from towerhall_server.games.five_towers.state import (
    FOLD,
    START_ACT,
    Player,
    State,
    next_display,
)


class _Command(msgspec.Struct, frozen=True, tag_field="command", forbid_unknown_fields=True):
    pass


class Bid(_Command, frozen=True, tag="bid"):
    number: int


class Pass(_Command, frozen=True, tag="pass"):
    pass


class Build(_Command, frozen=True, tag="build"):
    cards: Annotated[tuple[Card, ...], msgspec.Meta(max_length=64)]
    demolish: str | None = None


COMMANDS: Final = (Bid, Pass, Build)


class _Story(msgspec.Struct):
    """The events so far, and the state that they lead to."""

    state: State
    events: list[Event] = []

    def tell(self, event: Event) -> None:
        self.events.append(event)
        self.state = FOLD[type(event)](self.state, event)  # `fold`, without a call


def setup(state: State) -> tuple[Event, ...]:
    """FT 3: shuffle, draw the start player, deal the first display."""
    story = _Story(state)
    seats = len(state.table.players)
    start = Seat(Act(state.seed, START_ACT).below(seats))
    story.tell(GameStarted(seats, state.options, len(state.pile), start))
    _deal(story)
    _run_on(story)
    return tuple(story.events)


def decide(state: State, seat: Seat, command: object) -> tuple[Event, ...] | Rejected:
    """Return the events of the command, or its refusal."""
    outcome = advance(state, seat, command)
    return outcome if isinstance(outcome, Rejected) else outcome[0]


def advance(
    state: State, seat: Seat, command: object
) -> tuple[tuple[Event, ...], State] | Rejected:
    """The same with the state after it. The command may be any value."""
    name = command.get("command") if isinstance(command, dict) else None
    known = _COMMANDS.get(name) if isinstance(name, str) else None
    if known is None:
        return rejected(BAD_COMMAND, detail=f"its name must be one of {', '.join(_COMMANDS)}")
    shape, phase, handle = known
    try:
        wanted = msgspec.convert(command, type=shape)
    except (msgspec.ValidationError, UnicodeError) as error:
        return rejected(BAD_COMMAND, detail=said(error)[:DETAIL_LENGTH])
    if state.phase != phase:
        return rejected("wrong_phase", phase=state.phase)
    if type(seat) is not int or seat != state.turn:  # `True` and `1.0` equal 1, but are no seats
        return rejected("not_your_turn", turn=state.turn)
    story = _Story(state)
    refusal = handle(story, seat, wanted)
    if refusal is not None:
        return refusal
    _run_on(story)
    return tuple(story.events), story.state


# --- the auction (FT 5, 7) ---


def bid_range(state: State, seat: Seat) -> tuple[int, int]:
    """The numbers that the seat whose turn it is may name; the second below the first if none."""
    if state.options.bids == "strict":
        most = feasible(state, seat)  # never more than are shown, and no bid was withdrawn
    else:
        most = min(len(state.display), state.limits[seat] - 1)
    return state.leading + 1, most


def feasible(state: State, seat: Seat) -> int:
    """M of FT 7: the most cards of the display that this seat could build now.

    All seats are asked for it in turn, and some of them more than once. The answers are cached on
    the table, which does not change before the next build.
    """
    table, display, options = state.table, state.display, state.options
    inside = table.__dict__
    known = inside.get("feasible")
    if known is None or known[0] is not display or known[1] is not options:
        most = [most_cards(player.towers, display, options) for player in table.players]
        known = inside["feasible"] = (display, options, most)
    found: int = known[2][seat]
    return found


def _bid(story: _Story, seat: Seat, command: Bid) -> Rejected | None:
    least, most = bid_range(story.state, seat)
    if not least <= command.number <= most:
        return _refused_bid(story.state, seat, command.number)
    story.tell(BidMade(seat, command.number))
    return None


def _refused_bid(state: State, seat: Seat, number: int) -> Rejected:
    """Why a number is not in the range."""
    highest, limit = state.leading, state.limits[seat]
    if not 0 <= number <= len(state.display):
        return rejected("bid_out_of_range", most=len(state.display))
    if number <= highest:
        return rejected("bid_too_low", highest=highest)
    if number >= limit:
        return rejected("bid_not_lowered", limit=limit)
    return rejected("bid_infeasible", most=feasible(state, seat))


def _pass(story: _Story, seat: Seat, command: Pass) -> Rejected | None:
    if not story.state.calls:
        return rejected("start_player_must_bid")
    story.tell(Passed(seat))
    return None


def _run_on(story: _Story) -> None:
    """Close auctions and make forced calls until a seat has a real choice."""
    while story.state.phase == "auction":
        state = story.state
        called, size = len(state.calls), len(state.display)
        if called == len(state.table.players) or state.leading == size:
            _close_auction(story)
        elif not (state.options.auto_pass and _call_if_forced(story)):
            return


def _call_if_forced(story: _Story) -> bool:
    """FT 7: make the call of a seat that has no other."""
    state = story.state
    least, most = bid_range(state, state.turn)
    if most < least:
        story.tell(Passed(state.turn, forced=True))
    elif not state.calls and most == 0:
        story.tell(BidMade(state.turn, 0, forced=True))
    else:
        return False
    return True


def _close_auction(story: _Story) -> None:
    state = story.state
    number = state.leading
    if number == 0:
        story.tell(AuctionEmpty())
        _clean_up(story)
        return
    before = state.calls.index(number)
    seat = Seat((state.start + before) % len(state.table.players))
    if state.options.bids == "table" and number > feasible(state, seat):
        # FT 7: the auction goes back to before that call.
        story.tell(BidWithdrawn(seat, number, before))
    else:
        story.tell(AuctionWon(seat, number))


# --- building (FT 6) ---


def _build(story: _Story, seat: Seat, command: Build) -> Rejected | None:
    state = story.state
    refusal = _check_selection(state, command)
    if refusal is not None:
        return refusal
    # The strings of the display instead of equal ones: towers would hold those of every command.
    cards = tuple([state.display[state.display.index(card)] for card in command.cards])
    player = state.table.players[seat]
    towers = list(player.towers)
    story.tell(CardsTaken(seat, cards))
    if command.demolish is not None:
        kind = KIND_INDEX.get(command.demolish)
        if kind is None or not can_demolish(towers[kind], state.options):
            return rejected("cannot_demolish")
        towers[kind] = towers[kind][:-1]
        story.tell(CardDemolished(seat, player.cards[kind][-1], len(player.demolished) + 1))
    for index, card in enumerate(cards):
        kind, value = KIND_OF[card], VALUE_OF[card]
        top = top_of(towers[kind])
        if not can_place(top, value, state.options.eight):
            return rejected("building_rule", index=index, top=top)
        towers[kind] += (value,)
        story.tell(CardBuilt(seat, card, len(towers[kind])))
    _clean_up(story)
    return None


def _check_selection(state: State, command: Build) -> Rejected | None:
    number, cards = state.leading, command.cards
    if len(cards) != number:
        return rejected("wrong_number_of_cards", number=number)
    if len(set(cards)) < number:
        twice = next(index for index, card in enumerate(cards) if card in cards[:index])
        return rejected("duplicate_card", index=twice)
    for card in cards:
        if card not in state.display:
            return rejected("card_not_in_display", index=cards.index(card))
    return None


# --- between rounds (FT 8, 9) ---


def _clean_up(story: _Story) -> None:
    """Discard the rest, then deal, start the deck's second lap, or end the game."""
    story.tell(DisplayCleared(story.state.display))
    if not story.state.pile and story.state.lap == 1:
        story.tell(PileReshuffled(len(story.state.table.discard.cards)))
    if story.state.pile:
        _deal(story)
    else:
        scores = tuple(map(final_score, story.state.table.players))
        story.tell(GameEnded(scores, rank(tuple(s.total for s in scores)).winners))


def _deal(story: _Story) -> None:
    state = story.state
    display = next_display(state)
    left = len(state.pile) - len(display)
    story.tell(RoundStarted(state.round + 1, state.start, display, left))


def final_score(player: Player) -> Score:
    return score(player.towers, len(player.demolished))


_Handler = Callable[[_Story, Seat, Any], Rejected | None]
_COMMANDS: dict[str, tuple[type[_Command], str, _Handler]] = {
    "bid": (Bid, "auction", _bid),
    "pass": (Pass, "auction", _pass),
    "build": (Build, "build", _build),
}
