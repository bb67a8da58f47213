"""Steps, and those that a room takes by itself: its founding, bots, deadlines.

A step is a commit and the room after it. It is not in the log yet: `live` appends it. The step of
a person's command is in `decision`. Chance comes from the secret, time as service time.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from towerhall_protocol.fairness import bot_entropy, commitment
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.room.aliases import alias_of, secret_and_salt
from towerhall_server.room.commits import THE_ROOM, Cause, Commit
from towerhall_server.room.during import TIMEOUTS_TO_GO, and_end, places
from towerhall_server.room.events import (
    BotStoodIn,
    DealCancelled,
    GameOver,
    HostPassed,
    RoomCreated,
    RoomEvent,
    SecretRevealed,
    Settings,
    TimedOut,
    derived,
)
from towerhall_server.room.search import Job, JobAnswer, do_job
from towerhall_server.room.state import Room, create, end, happen, seed_of
from towerhall_server.room.table import Table

OPEN_MS: Final = 10_000
"""Milliseconds for all nonces, after which the deal is cancelled."""
EMPTY_MS: Final = 10 * 60_000
"""Idle milliseconds after which a waiting room without people ends."""
DAY_MS: Final = 24 * 3_600_000
IDLE_MS: Final = DAY_MS
"""Idle milliseconds after which a waiting room with people is closed."""
ABANDONED_MS: Final = 30 * DAY_MS
"""Idle milliseconds after which a game without a clock is closed."""
KEPT_MS: Final = DAY_MS
"""Milliseconds after its end at which a room is removed."""


class Step(msgspec.Struct, frozen=True, gc=False):
    """A commit, and the room after it."""

    commit: Commit
    after: Room


class Plan(msgspec.Struct, frozen=True):
    """The plan of a new room."""

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
    entropy: bytes = b""
    """The secret of a sandbox room, if its maker has chosen it; else one is drawn."""
    aliased: bool = False
    """Whether `host` and `reserved` are aliases of the room to be."""


def with_aliases(plan: Plan, salt: bytes) -> Plan:
    """A plan that names people by id, with their aliases in the room of that salt."""
    reserved = tuple(alias_of(salt, identity) for identity in plan.reserved)
    host = alias_of(salt, plan.host)
    return msgspec.structs.replace(plan, host=host, reserved=reserved, aliased=True)


def found(plan: Plan, code: str, uid: bytes, kept: bytes) -> Step:
    """The first step of a room. It commits the server to the secret before anyone can sit."""
    secret, _ = secret_and_salt(kept)
    created = derived(
        RoomCreated,
        plan,
        uid=uid,
        code=code,
        game=plan.rules.name,
        version=plan.rules.version,
        options=msgspec.to_builtins(plan.options),
        commitment=commitment(uid, secret),
    )
    return Step(Commit(THE_ROOM, (created,)), create(plan.rules, kept, created))


def play(
    room: Room,
    cause: Cause,
    body: Mapping[str, Any],
    events: tuple[Any, ...],
    first: tuple[RoomEvent, ...] = (),
    game: Any = None,
) -> Step:
    """The step of these events of the game, with the end of the game if they end it. `game` is the
    state after them, if known."""
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
    """The next deadline: what the room does by itself if no commit comes before."""

    errand: Errand
    ms: int
    since: Literal["commit", "decision", "day"]
    """The start of the time: the last commit, the one that led to this decision, or the end of the
    day of the last commit."""

    def at_ms(self, room: Room) -> int:
        """Its service time."""
        if self.since == "day":
            return (room.served_ms // DAY_MS + 1) * DAY_MS + self.ms
        return self.ms + (room.served_ms if self.since == "commit" else room.began_ms)


WITHOUT_CLOCK: Final = Due("close", ABANDONED_MS, "day")
"""The deadline of a game without a clock. It moves once a day: moves need not write it."""


def due(room: Room) -> Due:
    """The next deadline. Every room has one; the last is its removal."""
    table = room.table
    if table.status == "playing":
        if bot_to_act(room) is not None:
            settings = table.settings
            beat_ms = settings.beat_ms if room.rules.shows_result(room.game) else 0
            return Due("bot", settings.hurried(settings.bot_delay_ms + beat_ms), "decision")
        if table.settings.turn_seconds:
            return Due("turn", table.settings.turn_ms, "decision")
        return WITHOUT_CLOCK
    if table.status == "sealed":
        return Due("open", table.settings.hurried(OPEN_MS), "decision")
    if table.status == "waiting":
        if any(holder is not None and not holder.is_bot for holder in table.seats):
            return Due("close", IDLE_MS, "commit")
        if table.operator:
            # Another lobby sends people here later, and gets a webhook if they do not come.
            return Due("close", IDLE_MS, "commit")
        # A cancelled deal was a use of the secret, which is then revealed before the end.
        return Due("close" if table.deal else "remove", EMPTY_MS, "commit")
    return Due("remove", KEPT_MS, "commit")


def deadline_ms(room: Room) -> int:
    """The service time of the next deadline."""
    return due(room).at_ms(room)


def bot_to_act(room: Room) -> Seat | None:
    """The seat whose turn it is and that a bot plays, if any. Always asks the rules, so that rules
    which fail refuse a command before it is in the log."""
    bots = room.table.bots
    for seat in room.to_act():
        if seat in bots:
            return seat
    return None


def bot_step(room: Room, seat: Seat) -> Step | Rejected:
    """The move of a bot: it sees what its seat sees. This may be slow."""
    return chosen_step(room, seat, do_job(bot_job(room, seat)))


def bot_job(room: Room, seat: Seat) -> Job:
    """The question to the bot that plays for a seat. Its entropy follows from the deal's seed, so
    that anyone can ask again once the secret is revealed."""
    holder = room.table.seats[seat]
    if holder is None:
        raise ValueError(f"no holder in seat {seat}")
    entropy = bot_entropy(seed_of(room, room.table.deal), room.began_seq)
    return Job(rules=room.rules, state=room.game, seat=seat, level=holder.plays_as, entropy=entropy)


def chosen_step(room: Room, seat: Seat, chosen: JobAnswer) -> Step | Rejected:
    """The move that a bot has chosen in this state of the game."""
    if isinstance(chosen.events, Rejected):
        return chosen.events
    return play(room, Cause(seat), chosen.command, chosen.events)


def timeout_step(room: Room) -> Step | Rejected:
    """Time is up: the game's own default is played for the seat."""
    seat = room.to_act()[0]
    holder = room.table.seats[seat]
    first: tuple[RoomEvent, ...] = (TimedOut(seat),)
    if holder is not None and holder.timeouts + 1 >= TIMEOUTS_TO_GO:
        first = and_end(room.table, (*first, BotStoodIn(seat, room.rules.stand_in)), room.secret)
        after = happen(room, first, ())
        if not after.playing:
            # All others wanted the end, and the one who did not has left.
            return Step(Commit(Cause(seat), first), after)
    return stand_in_step(room, seat, first)


def stand_in_step(room: Room, seat: Seat, first: tuple[RoomEvent, ...] = ()) -> Step | Rejected:
    """The game's own default, played for a seat that does not play."""
    body = room.rules.timeout(room.game, seat)
    events = room.rules.decide(room.game, seat, body)
    return events if isinstance(events, Rejected) else play(room, Cause(seat), body, events, first)


def cancel_step(room: Room) -> Step:
    """Nonces are missing at the deadline: free these seats and cancel the deal, visibly."""
    event = DealCancelled(room.table.deal, owing(room.table))
    return Step(Commit(THE_ROOM, (event,)), happen(room, (event,), ()))


def pass_host_step(room: Room, seat: int) -> Step:
    """The host is absent: another person becomes host and can start the game."""
    event = HostPassed(seat)
    return Step(Commit(THE_ROOM, (event,)), happen(room, (event,), ()))


def owing(table: Table) -> tuple[int, ...]:
    """The seats whose nonces are not open yet."""
    return tuple(
        seat for seat, holder in enumerate(table.seats) if holder is not None and holder.owes_nonce
    )
