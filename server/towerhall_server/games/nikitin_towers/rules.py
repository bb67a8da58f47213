"""The effect of commands (NT 6, 7): from a command to the events up to the next real choice.

Nothing here changes state: a `_Transcript` collects events and folds each one, so every step sees
the table after the steps before. `placing` computes the effect of a placed block.
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.fairness import Act
from towerhall_server.game import BAD_COMMAND, Rejected, Seat
from towerhall_server.games.nikitin_towers.blocks import CATALOGUE
from towerhall_server.games.nikitin_towers.commands import (
    Choose,
    Command,
    GiveBack,
    Place,
    Roll,
    RunOut,
    read,
)
from towerhall_server.games.nikitin_towers.events import (
    NO_ROLL,
    BlockChosen,
    BlockReturned,
    DieRolled,
    Event,
    GameEnded,
    GameStarted,
    WhyOver,
)
from towerhall_server.games.nikitin_towers.placing import look_of, stands, what_happens, where
from towerhall_server.games.nikitin_towers.rejections import rejected
from towerhall_server.games.nikitin_towers.search import MOST_CHECKS, Unfinished, find_standing
from towerhall_server.games.nikitin_towers.state import (
    FOLD,
    KIND_INDEX,
    State,
    after_turn,
    chooser,
    kinds_of_size,
)
from towerhall_server.games.nikitin_towers.tower import Placed, Tower, height, ring_level

SIDES_OF_DIE = 6
MOST_QUIET = 30
"""NT 7: turns in a row without a new minimum of the pile, after which the game ends."""
MOST_TURNS = 120


class _Transcript(msgspec.Struct):
    """The events so far, and the state that they lead to."""

    state: State
    events: list[Event] = []

    def add(self, event: Event) -> None:
        self.events.append(event)
        self.state = FOLD[type(event)](self.state, event)


def setup(state: State) -> tuple[Event, ...]:
    """The opening roll, then everything up to the first choice."""
    seats = len(state.towers)
    rolls, start = _opening(state.seed, seats)
    transcript = _Transcript(state)
    transcript.add(GameStarted(seats, state.options, rolls, start))
    _run_on(transcript)
    return tuple(transcript.events)


def _opening(seed: bytes, seats: int) -> tuple[tuple[tuple[int, ...], ...], Seat]:
    """NT 6: the highest roll begins; tied seats, and only they, roll again."""
    rounds: list[tuple[int, ...]] = []
    rolling: list[int] = list(range(seats))
    act = 0
    while len(rolling) > 1:
        dice = [NO_ROLL] * seats
        for seat in rolling:
            dice[seat] = roll(seed, act)
            act += 1
        rounds.append(tuple(dice))
        rolling = [seat for seat in rolling if dice[seat] == max(dice)]
    return tuple(rounds), Seat(rolling[0])


def roll(seed: bytes, act: int) -> int:
    return 1 + Act(seed, act).below(SIDES_OF_DIE)


def decide(state: State, seat: Seat, command: object) -> tuple[Event, ...] | Rejected:
    """Return the events of the command, or its refusal."""
    outcome = advance(state, seat, command)
    return outcome if isinstance(outcome, Rejected) else outcome[0]


def advance(
    state: State, seat: Seat, command: object
) -> tuple[tuple[Event, ...], State] | Rejected:
    """The same with the state after it. The command may be any value."""
    wanted = read(state, seat, command)
    if isinstance(wanted, Rejected):
        return wanted
    transcript = _Transcript(state)
    refusal = _HANDLERS[type(wanted)](transcript, seat, wanted)
    if refusal is not None:
        return refusal
    _run_on(transcript)
    return tuple(transcript.events), transcript.state


def foresee(state: State, seat: Seat, command: object) -> Document | Rejected | None:
    """The answer to a dry run of `place`: where the block would rest, never whether it stands."""
    if not isinstance(command, dict) or command.get("command") != "place":
        return None
    wanted = read(state, seat, command)
    if isinstance(wanted, Rejected):
        return wanted
    placed = where(state, seat, cast(Place, wanted))
    if isinstance(placed, Rejected):
        return placed
    return look_of(state, seat, placed)


# --- the die and the neighbour's choice (NT 6) ---


def _roll(transcript: _Transcript, seat: Seat, command: Roll) -> Rejected | None:
    _add_roll(transcript)
    return None


def _add_roll(transcript: _Transcript) -> None:
    state = transcript.state
    die = roll(state.seed, state.act)
    size = die
    while size and not kinds_of_size(state.pile, size):
        size -= 1
    transcript.add(DieRolled(state.turn, state.turns + 1, die, size))


def _choose(transcript: _Transcript, seat: Seat, command: Choose) -> Rejected | None:
    refusal = _why_not_choose(transcript.state, command.block)
    if refusal is None:
        transcript.add(BlockChosen(seat, command.block, "choice"))
    return refusal


def _why_not_choose(state: State, kind: str) -> Rejected | None:
    size = state.size
    if kind not in CATALOGUE:
        kinds = ", ".join(kinds_of_size(state.pile, size))
        return rejected(BAD_COMMAND, detail=f"block must be one of {kinds}")
    if CATALOGUE[kind].size != size:
        return rejected("wrong_size", block=kind, size=size)
    if kind not in kinds_of_size(state.pile, size):
        return rejected("not_in_pile", block=kind)
    return None


def _run_out(transcript: _Transcript, seat: Seat, command: RunOut) -> Rejected | None:
    """NT 6: no time left to choose: a block is drawn by lot; to place: the block goes back."""
    state = transcript.state
    if state.phase == "place":
        transcript.add(BlockReturned(seat, state.block, "time"))
        return None
    blocks = [
        kind
        for kind in kinds_of_size(state.pile, state.size)
        for _ in range(state.pile[KIND_INDEX[kind]])
    ]
    lot = Act(state.seed, state.act).below(len(blocks))
    transcript.add(BlockChosen(seat, sorted(blocks)[lot], "lot"))
    return None


# --- placing (NT 3 to 6) ---


def _place(transcript: _Transcript, seat: Seat, command: Place) -> Rejected | None:
    placed = where(transcript.state, seat, command)
    if isinstance(placed, Rejected):
        return placed
    for event in what_happens(transcript.state, seat, placed):
        transcript.add(event)
    return None


def _give_back(transcript: _Transcript, seat: Seat, command: GiveBack) -> Rejected | None:
    """NT 6: the block goes back only if no placement of it stands."""
    state = transcript.state
    found = find_standing(state.towers[seat], state.block, state.options.slope, MOST_CHECKS)
    if isinstance(found, Unfinished):
        return rejected("place_may_exist")
    if found is not None:
        return rejected("place_exists")
    transcript.add(BlockReturned(seat, state.block, "nowhere"))
    return None


def slow(state: State, seat: Seat, command: object) -> bool:
    """Whether the command needs a search, or causes a collapse: both are slow."""
    if not isinstance(command, dict) or command.get("command") not in ("give_back", "place"):
        return False
    wanted = read(state, seat, command)
    if isinstance(wanted, Place):
        placed = where(state, seat, wanted)
        return isinstance(placed, Placed) and not stands(
            state.towers[seat], placed, state.options.slope
        )
    return isinstance(wanted, GiveBack)


def ahead(state: State) -> tuple[Seat, dict[str, object]] | None:
    """The search that the builder may ask for, from the moment when the block is chosen."""
    return (state.turn, {"command": "give_back"}) if state.phase == "place" else None


def timeout(state: State, seat: Seat) -> dict[str, object]:
    return {"command": "roll" if state.phase == "roll" else "run_out"}


# --- from turn to turn (NT 6, 7) ---


def _run_on(transcript: _Transcript) -> None:
    """Start turns and make forced choices until a seat has a real choice."""
    while transcript.state.phase == "roll":
        why = _why_over(transcript.state)
        if why is not None:
            transcript.add(_ended(transcript.state, why))
        elif transcript.state.options.auto_roll:
            _add_roll(transcript)
        else:
            return
    state = transcript.state
    if state.phase == "choose":
        kinds = kinds_of_size(state.pile, state.size)
        if len(kinds) == 1:
            transcript.add(BlockChosen(chooser(state), kinds[0], "forced"))


def _why_over(state: State) -> WhyOver | None:
    """NT 7: how the game ends after this turn, if it does."""
    if state.turns == 0:
        return None
    if state.in_pile == 0:
        return "pile"
    if after_turn(state)[1] >= MOST_QUIET:
        return "stall"
    return "turns" if state.turns >= MOST_TURNS else None


def _ended(state: State, why: WhyOver) -> GameEnded:
    return GameEnded(why, _each(height, state.towers), _each(ring_level, state.towers))


def _each(measure: Callable[[Tower], int], towers: Iterable[Tower]) -> tuple[int, ...]:
    return tuple(map(measure, towers))


_Handler = Callable[[_Transcript, Seat, Any], Rejected | None]
_HANDLERS: dict[type[Command], _Handler] = {
    Roll: _roll,
    Choose: _choose,
    Place: _place,
    GiveBack: _give_back,
    RunOut: _run_out,
}
