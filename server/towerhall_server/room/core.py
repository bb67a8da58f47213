"""The pure step of a room: what a command leads to, what the room does by itself, and when.

Everything here is a function of its arguments. Chance comes in as `entropy`, time as service time;
neither store nor socket is known. A step is a commit and the room after it, not yet in the log:
whether it gets there is for `actor` and the store to find out.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from towerhall_protocol.fairness import commitment
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.room.commits import THE_ROOM, Cause, Commit
from towerhall_server.room.during import DURING, STAND_IN, TIMEOUTS_TO_GO, and_end, places
from towerhall_server.room.events import (
    BotStoodIn,
    DealCancelled,
    Dealt,
    GameOver,
    HostPassed,
    RoomClosed,
    RoomCreated,
    RoomEvent,
    SeatWoke,
    SecretRevealed,
    Settings,
    TimedOut,
)
from towerhall_server.room.gate import GAME, refuse
from towerhall_server.room.parameters import wrong_parameters
from towerhall_server.room.seats import BEFORE, NOTHING_KNOWN, Known, Person, starts_by_itself
from towerhall_server.room.state import Decided, Room, create, end, happen
from towerhall_server.room.table import Table

OPEN_MS: Final = 10_000
EMPTY_MS: Final = 10 * 60_000
IDLE_MS: Final = 24 * 3_600_000
ABANDONED_MS: Final = 30 * IDLE_MS
KEPT_MS: Final = IDLE_MS


class Step(msgspec.Struct, frozen=True, gc=False):
    """A commit, and the room after it."""

    commit: Commit
    after: Room


class Plan(msgspec.Struct, frozen=True):
    """What a new room shall be."""

    rules: AnyGame
    options: msgspec.Struct
    seats: int
    settings: Settings
    host: str
    key_hash: bytes = b""
    reserved: tuple[str, ...] = ()
    bots: tuple[str, ...] = ()
    quick: bool = False
    previous: str = ""
    operator: str = ""


def found(plan: Plan, code: str, uid: bytes, secret: bytes) -> Step:
    """The first step of a room. It commits the server to the secret before anyone can sit."""
    created = RoomCreated(
        uid=uid,
        code=code,
        game=plan.rules.name,
        version=plan.rules.version,
        options=msgspec.to_builtins(plan.options),
        seats=plan.seats,
        settings=plan.settings,
        commitment=commitment(uid, secret),
        host=plan.host,
        key_hash=plan.key_hash,
        reserved=plan.reserved,
        bots=plan.bots,
        quick=plan.quick,
        previous=plan.previous,
        operator=plan.operator,
    )
    return Step(Commit(THE_ROOM, (created,)), create(plan.rules, secret, created))


ROOM_COMMANDS: Final = {**BEFORE, **DURING}


def manage(
    room: Room,
    person: Person,
    cause: Cause,
    body: Mapping[str, Any],
    known: Known = NOTHING_KNOWN,
) -> Step | Rejected:
    """What a command to the room itself leads to (P-50)."""
    refusal = refuse(room.table, person.id, body["command"]) or wrong_parameters(body)
    if refusal is not None:
        return refusal
    events = ROOM_COMMANDS[body["command"]](room, person, body, known)
    if isinstance(events, Rejected):
        return events
    after = happen(room, events, ())
    begins = starts_by_itself(after.table)
    if begins:
        events = (*events, *begins)
        after = happen(after, begins, ())
    if after.table.status == "sealed" and not _owing(after.table):
        # All nonces are open, or there are none: the game begins within the same commit.
        events = (*events, Dealt(after.table.deal))
        dealt = happen(room, events, ())
        return play(room, cause, body, room.rules.setup(dealt.game), events)
    return Step(Commit(cause, events, command=dict(body)), after)


def step(
    room: Room,
    person: Person,
    cause: Cause,
    body: Mapping[str, Any],
    tag: str,
    known: Known = NOTHING_KNOWN,
    decided: Decided | None = None,
) -> Step | Rejected:
    """What a command of a person leads to. This may be slow: see `is_slow`. What the game has
    decided already, when the commit then came too late for its place, is taken as it is."""
    if body.get("command") in ROOM_COMMANDS:
        return manage(room, person, cause, body, known)
    refusal = refuse(room.table, person.id, GAME)
    if refusal is not None:
        return refusal
    if tag != room.tag:
        return Rejected("stale", "P-43")
    holder = room.table.seats[cause.seat]
    if holder is None or holder.stand_in:
        return Rejected("bot_plays", "P-58")
    first = (SeatWoke(cause.seat),) if holder.timeouts else ()
    if decided is not None and decided.holds_in(room):
        return play(room, cause, body, decided.events, first)
    outcome = room.rules.outcome(room.game, Seat(cause.seat), body)
    if isinstance(outcome, Rejected):
        return outcome
    events, game = outcome
    return play(room, cause, body, events, first, game)


def is_slow(room: Room, body: Mapping[str, Any], decided: Decided | None = None) -> bool:
    """Whether a command is better decided where nobody waits for it."""
    if decided is not None and decided.holds_in(room):
        return False
    return body.get("command") in room.rules.slow_commands


def play(
    room: Room,
    cause: Cause,
    body: Mapping[str, Any],
    events: tuple[Any, ...],
    first: tuple[RoomEvent, ...] = (),
    game: Any = None,
) -> Step:
    """The step that the game's events make, with the end of the game if they end it. Whoever knows
    the game after them already says so."""
    if game is None:
        after = happen(room, first, events)
    else:
        after = msgspec.structs.replace(happen(room, first, ()), game=game)
    result = room.rules.result(after.game)
    ends: tuple[RoomEvent, ...] = ()
    if result is not None:
        ranks = places(result, after.table)
        ends = (GameOver(result.scores, ranks), SecretRevealed(room.secret))
        after = end(after, ends)
    return Step(Commit(cause, first, events, ends, dict(body)), after)


Errand = Literal["bot", "turn", "open", "close", "remove"]


class Due(msgspec.Struct, frozen=True, gc=False):
    """What the room will do by itself if nothing happens for so long."""

    errand: Errand
    ms: int
    since: Literal["commit", "decision"]
    """From where the time counts: the last commit, or the one that led to this decision."""

    def at_ms(self, room: Room) -> int:
        """The service time of it."""
        return self.ms + (room.served_ms if self.since == "commit" else room.began_ms)


WITHOUT_CLOCK: Final = Due("close", ABANDONED_MS, "commit")
"""What is due in a game of people without a clock."""


def due(room: Room) -> Due:
    """Every room has something ahead of it: the last one is its end."""
    table = room.table
    if table.status == "playing":
        if bot_to_act(room) is not None:
            return Due("bot", table.settings.bot_delay_ms, "decision")
        if table.settings.turn_seconds:
            return Due("turn", 1000 * table.settings.turn_seconds, "decision")
        return WITHOUT_CLOCK
    if table.status == "sealed":
        return Due("open", OPEN_MS, "decision")
    if table.status == "waiting":
        if any(holder is not None and not holder.is_bot for holder in table.seats):
            return Due("close", IDLE_MS, "commit")
        if table.operator:
            # Another lobby sends people here in its own time, and is told if nobody came.
            return Due("close", IDLE_MS, "commit")
        # A cancelled deal was a use of the secret, which is then revealed before the end.
        return Due("close" if table.deal else "remove", EMPTY_MS, "commit")
    return Due("remove", KEPT_MS, "commit")


def deadline_ms(room: Room) -> int:
    """The service time of what is due."""
    return due(room).at_ms(room)


def bot_to_act(room: Room) -> Seat | None:
    for seat in room.to_act():
        holder = room.table.seats[seat]
        if holder is not None and holder.plays_as:
            return seat
    return None


def bot_step(room: Room, seat: Seat, entropy: bytes) -> Step | Rejected:
    """The move of a bot: it sees what its seat sees. This may be slow."""
    holder = room.table.seats[seat]
    if holder is None:
        raise ValueError(f"nobody has seat {seat}")
    rules = room.rules
    seen = rules.view(room.game, seat)
    body = rules.bots[holder.plays_as](seen, rules.offers(room.game, seat), entropy)
    events = rules.decide(room.game, seat, body)
    return events if isinstance(events, Rejected) else play(room, Cause(seat), body, events)


def timeout_step(room: Room) -> Step | Rejected:
    """Time is up: the game's own default is played for the seat."""
    seat = room.to_act()[0]
    holder = room.table.seats[seat]
    first: tuple[RoomEvent, ...] = (TimedOut(seat),)
    if holder is not None and holder.timeouts + 1 >= TIMEOUTS_TO_GO:
        first = and_end(room.table, (*first, BotStoodIn(seat, STAND_IN)), room.secret)
        after = happen(room, first, ())
        if not after.playing:
            # All others had wanted the end, and whom they waited for has gone.
            return Step(Commit(Cause(seat), first), after)
    return stand_in_step(room, seat, first)


def stand_in_step(room: Room, seat: Seat, first: tuple[RoomEvent, ...] = ()) -> Step | Rejected:
    """The game's own default, played for a seat that does not play."""
    body = room.rules.timeout(room.game, seat)
    events = room.rules.decide(room.game, seat, body)
    return events if isinstance(events, Rejected) else play(room, Cause(seat), body, events, first)


def cancel_step(room: Room) -> Step:
    """Somebody owes a nonce for too long: their seats are free, and the deal is off, visibly."""
    event = DealCancelled(room.table.deal, _owing(room.table))
    return Step(Commit(THE_ROOM, (event,)), happen(room, (event,), ()))


def pass_host_step(room: Room, seat: int) -> Step:
    """The host is away: somebody else can start the game."""
    event = HostPassed(seat)
    return Step(Commit(THE_ROOM, (event,)), happen(room, (event,), ()))


def close_step(room: Room, reason: str) -> Step:
    """The room ends without a result. The secret is revealed at every end."""
    events = (RoomClosed(reason), SecretRevealed(room.secret))
    return Step(Commit(THE_ROOM, events), happen(room, events, ()))


def _owing(table: Table) -> tuple[int, ...]:
    return tuple(
        seat for seat, holder in enumerate(table.seats) if holder is not None and holder.owes_nonce
    )
