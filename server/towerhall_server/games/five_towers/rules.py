"""The effect of commands (FT 4 to 9), and the commands that a seat may give.

A command leads to events up to the next real choice. Nothing here changes state: a `_Transcript`
collects events and folds each one, so every step sees the table after the steps before.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec

from towerhall_protocol.fairness import Act
from towerhall_protocol.offers import Choice, Offer, Range
from towerhall_protocol.plain_faults import said
from towerhall_server.game import BAD_COMMAND, DETAIL_LENGTH, Rejected, Seat, rank
from towerhall_server.games.five_towers import building
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
_PASS: Final = Offer("pass")


class _Transcript(msgspec.Struct):
    """The events so far, and the state that they lead to."""

    state: State
    events: list[Event] = []

    def add(self, event: Event) -> None:
        self.events.append(event)
        self.state = FOLD[type(event)](self.state, event)  # `fold`, without a call


def setup(state: State) -> tuple[Event, ...]:
    """FT 3: shuffle, draw the start player, deal the first display."""
    transcript = _Transcript(state)
    seats = len(state.table.players)
    start = Seat(Act(state.seed, START_ACT).below(seats))
    transcript.add(GameStarted(seats, state.options, len(state.pile), start))
    _deal(transcript)
    _run_on(transcript)
    return tuple(transcript.events)


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
    transcript = _Transcript(state)
    refusal = handle(transcript, seat, wanted)
    if refusal is not None:
        return refusal
    _run_on(transcript)
    return tuple(transcript.events), transcript.state


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


def _bid(transcript: _Transcript, seat: Seat, command: Bid) -> Rejected | None:
    least, most = bid_range(transcript.state, seat)
    if not least <= command.number <= most:
        return _refused_bid(transcript.state, seat, command.number)
    transcript.add(BidMade(seat, command.number))
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


def _pass(transcript: _Transcript, seat: Seat, command: Pass) -> Rejected | None:
    if not transcript.state.calls:
        return rejected("start_player_must_bid")
    transcript.add(Passed(seat))
    return None


def _run_on(transcript: _Transcript) -> None:
    """Close auctions and make forced calls until a seat has a real choice."""
    while transcript.state.phase == "auction":
        state = transcript.state
        called, size = len(state.calls), len(state.display)
        if called == len(state.table.players) or state.leading == size:
            _close_auction(transcript)
        elif not (state.options.auto_pass and _call_if_forced(transcript)):
            return


def _call_if_forced(transcript: _Transcript) -> bool:
    """FT 7: make the call of a seat that has no other."""
    state = transcript.state
    least, most = bid_range(state, state.turn)
    if most < least:
        transcript.add(Passed(state.turn, forced=True))
    elif not state.calls and most == 0:
        transcript.add(BidMade(state.turn, 0, forced=True))
    else:
        return False
    return True


def _close_auction(transcript: _Transcript) -> None:
    state = transcript.state
    number = state.leading
    if number == 0:
        transcript.add(AuctionEmpty())
        _clean_up(transcript)
        return
    before = state.calls.index(number)
    seat = Seat((state.start + before) % len(state.table.players))
    if state.options.bids == "table" and number > feasible(state, seat):
        # FT 7: the auction goes back to before that call.
        transcript.add(BidWithdrawn(seat, number, before))
    else:
        transcript.add(AuctionWon(seat, number))


# --- building (FT 6) ---


def _build(transcript: _Transcript, seat: Seat, command: Build) -> Rejected | None:
    state = transcript.state
    refusal = _check_selection(state, command)
    if refusal is not None:
        return refusal
    # The strings of the display instead of equal ones: towers would hold those of every command.
    cards = tuple([state.display[state.display.index(card)] for card in command.cards])
    player = state.table.players[seat]
    towers = list(player.towers)
    transcript.add(CardsTaken(seat, cards))
    if command.demolish is not None:
        kind = KIND_INDEX.get(command.demolish)
        if kind is None or not can_demolish(towers[kind], state.options):
            return rejected("cannot_demolish")
        towers[kind] = towers[kind][:-1]
        transcript.add(CardDemolished(seat, player.cards[kind][-1], len(player.demolished) + 1))
    for index, card in enumerate(cards):
        kind, value = KIND_OF[card], VALUE_OF[card]
        top = top_of(towers[kind])
        if not can_place(top, value, state.options.eight):
            return rejected("building_rule", index=index, top=top)
        towers[kind] += (value,)
        transcript.add(CardBuilt(seat, card, len(towers[kind])))
    _clean_up(transcript)
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


def _clean_up(transcript: _Transcript) -> None:
    """Discard the rest, then deal, start the deck's second lap, or end the game."""
    transcript.add(DisplayCleared(transcript.state.display))
    if not transcript.state.pile and transcript.state.lap == 1:
        transcript.add(PileReshuffled(len(transcript.state.table.discard.cards)))
    if transcript.state.pile:
        _deal(transcript)
    else:
        scores = tuple(map(final_score, transcript.state.table.players))
        transcript.add(GameEnded(scores, rank(tuple(s.total for s in scores)).winners))


def _deal(transcript: _Transcript) -> None:
    state = transcript.state
    display = next_display(state)
    left = len(state.pile) - len(display)
    transcript.add(RoundStarted(state.round + 1, state.start, display, left))


def final_score(player: Player) -> Score:
    return score(player.towers, len(player.demolished))


_Handler = Callable[[_Transcript, Seat, Any], Rejected | None]
_COMMANDS: dict[str, tuple[type[_Command], str, _Handler]] = {
    "bid": (Bid, "auction", _bid),
    "pass": (Pass, "auction", _pass),
    "build": (Build, "build", _build),
}


def to_act(state: State) -> tuple[Seat, ...]:
    return () if state.phase == "over" else (state.turn,)


def offers(state: State, seat: Seat) -> tuple[Offer, ...]:
    """Calls as a range; builds one by one, each with the seat's score after it."""
    if state.phase == "over" or seat != state.turn:
        return ()
    if state.phase == "build":
        choices = [
            Choice(build.parameters(state.display), {"score": build.score})
            for build in _builds(state)
        ]
        return (Offer("build", choices=tuple(choices)),)
    least, most = bid_range(state, seat)
    return _calls(least, most, bool(state.calls))


@lru_cache(maxsize=128)
def _calls(least: int, most: int, may_pass: bool) -> tuple[Offer, ...]:
    bids = () if most < least else (Offer("bid", ranges={"number": Range(least, most)}),)
    return (*bids, _PASS) if may_pass else bids


def timeout(state: State, seat: Seat) -> dict[str, object]:
    """Decline in the auction; build for the most points, with a demolition only if needed."""
    if state.phase == "auction":
        return {"command": "pass"} if state.calls else {"command": "bid", "number": 0}
    best = max(_builds(state), key=lambda build: (build.demolish is None, build.score))
    return {"command": "build", **best.parameters(state.display)}


def _builds(state: State) -> list[building.Build]:
    player = state.table.players[state.turn]
    return building.builds(
        player.towers,
        len(player.demolished),
        state.display,
        state.leading,
        state.options,
    )
