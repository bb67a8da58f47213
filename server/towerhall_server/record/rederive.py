"""Derives a commit again: the step that the rules make of the command that it names.

Nothing that a commit claims is believed here. The room before it and its command give one step, or
the reason why there is none.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from towerhall_protocol.codec import FROM_CLIENT, canonical, encode
from towerhall_server.game import AnyGame, Rejected, Seat, rules_of
from towerhall_server.record.timekeeping import ERRANDS
from towerhall_server.room import steps
from towerhall_server.room.closing import Closer, abandon_step, close_step, is_reason
from towerhall_server.room.codes import is_code
from towerhall_server.room.commits import Cause, Commit
from towerhall_server.room.decision import step_of
from towerhall_server.room.events import (
    BotAccountMarked,
    DealCancelled,
    HostPassed,
    PersonRenamed,
    PersonSat,
    RematchMade,
    RoomClosed,
    RoomCreated,
    TimedOut,
    derived,
)
from towerhall_server.room.search import clock_only
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.state import Done, Room, look_up
from towerhall_server.room.steps import Errand, Plan, Step

Actor = Literal["person", "bot", "timer", "room", "closer"]


class UndecidedError(Exception):
    """The rules give no step for this commit."""


class Again(msgspec.Struct, frozen=True):
    """A step that was derived again."""

    step: Step
    actor: Actor
    not_before_ms: int = 0
    """Service time before which the room could not have done this by itself."""


def decide_first(games: Mapping[str, AnyGame], secret: bytes, commit: Commit) -> Again:
    """Return the creation of the room, with the commitment of this secret."""
    if len(commit.room) != 1 or not isinstance(commit.room[0], RoomCreated):
        raise UndecidedError("a room begins with its creation")
    created = commit.room[0]
    rules = rules_of(games, created.game, created.version)
    if created.seats not in rules.seats:
        raise UndecidedError(f"{created.game} is not for {created.seats} players")
    if not {len(created.reserved), len(created.bots)} <= {0, created.seats}:
        raise UndecidedError("it uses seats that do not exist")
    if not set(created.bots) <= {"", *rules.levels}:
        raise UndecidedError("it seats bots that do not exist")
    options = msgspec.convert(created.options, rules.options_type)
    plan = derived(Plan, created, rules=rules, options=options)
    return Again(steps.found(plan, created.code, created.uid, secret), "room")


def decide_again(room: Room, commit: Commit) -> Again:
    """Return the step that the command of a commit leads to, from any actor."""
    if len(encode(commit.command)) > FROM_CLIENT.message_bytes:
        raise UndecidedError("its command is too large")
    cause = commit.cause
    if cause.n:
        return Again(_by_person(room, commit), "person")
    if cause.seat < 0:
        return _by_room(room, commit)
    if any(isinstance(event, TimedOut) for event in commit.room):
        deadline_ms = _deadline(room, "turn")
        return Again(_accepted(steps.timeout_step(room)), "timer", deadline_ms)
    deadline_ms = _deadline(room, "bot")
    seat = steps.bot_to_act(room)
    if seat is None:
        raise UndecidedError("no bot was to act")
    return Again(_by_game(room, seat, Cause(seat), commit), "bot", deadline_ms)


def _by_person(room: Room, commit: Commit) -> Step:
    cause, body = commit.cause, commit.command
    if cause.n < 0 or not cause.identity:
        raise UndecidedError("its command has no sender")
    match look_up(room, cause):
        case Done(seq):
            raise UndecidedError(f"command {cause.n} of its sender was done before, in {seq}")
        case Rejected() as refusal:
            raise UndecidedError(_refusal(refusal))
    seat = room.table.seated.get(cause.identity)
    cause = msgspec.structs.replace(cause, seat=-1 if seat is None else seat)
    if not isinstance(body.get("command"), str):
        raise UndecidedError("its command has no name")
    # People choose their names: there is no rule to check them against.
    names = [event.name for event in commit.room if isinstance(event, PersonSat | PersonRenamed)]
    # Nor against their tokens, which tell who is a bot account.
    is_marked = any(isinstance(event, BotAccountMarked) for event in commit.room)
    person = Person(cause.identity, names[0] if names else "", is_marked)
    # No log tells who was away, which room was created, or whether an earlier one was of use.
    made = [event.code for event in commit.room if isinstance(event, RematchMade)]
    if not all(map(is_code, made)):
        raise UndecidedError("no room has such a code")
    known = Known(
        absent=range(len(room.table.seats)),
        rematch=made[0] if made else "",
        spent=room.table.rematch,
        plays_on=not any(isinstance(event, RoomClosed) for event in commit.room),
    )
    return _accepted(step_of(room, person, cause, body, room.tag, known))


def _by_game(room: Room, seat: Seat, cause: Cause, commit: Commit) -> Step:
    rules, name = room.rules, commit.command.get("command")
    is_clocks = bool(rules.clock_commands) and name in rules.clock_commands
    # A failed bot was replaced by the game's default move, as after a timeout.
    if is_clocks and not _is_default(room, seat, commit):
        raise UndecidedError(_refusal(clock_only(rules, name)))
    events = room.rules.decide(room.game, seat, commit.command)
    if isinstance(events, Rejected):
        raise UndecidedError(_refusal(events))
    return steps.play(room, cause, commit.command, events)


def _is_default(room: Room, seat: Seat, commit: Commit) -> bool:
    """Whether a commit names the move that the game makes for a seat after a timeout."""
    default = room.rules.timeout(room.game, seat)
    return canonical(commit.command) == canonical(default)


def _by_room(room: Room, commit: Commit) -> Again:
    match commit.room[:1]:
        case (HostPassed(to),) if room.table.status == "waiting":
            heir = room.table.seats[to] if 0 <= to < len(room.table.seats) else None
            if heir is None or heir.identity in ("", room.table.host):
                raise UndecidedError("no person there could become host")
            return Again(steps.pass_host_step(room, to), "room")
        case (DealCancelled(),):
            deadline_ms = _deadline(room, "open")
            return Again(steps.cancel_step(room), "room", deadline_ms)
        case (RoomClosed(),) if room.table.status != "over":
            if commit.command:
                return Again(_closed(room, commit.command), "closer")
            return Again(abandon_step(room), "room", _deadline(room, "close"))
    raise UndecidedError("rooms have no such timed step")


class _Close(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="command", tag="close"
):
    by: Closer
    reason: str


def _closed(room: Room, command: Mapping[str, Any]) -> Step:
    """An operator, or the service, may close a room at any time, and must say so."""
    try:
        close = msgspec.convert(command, _Close)
    except msgspec.ValidationError as error:
        raise UndecidedError(f"a room cannot be closed like this: {error}") from None
    if close.by == "operator" and not room.table.operator:
        raise UndecidedError("the room belongs to no operator, so none could close it")
    if not is_reason(close.reason):
        raise UndecidedError(f"only a room itself gives the reason {close.reason}")
    return close_step(room, close.reason, close.by)


def _deadline(room: Room, errand: Errand) -> int:
    if steps.due(room).errand != errand:
        raise UndecidedError(f"{ERRANDS[errand]} was not due")
    return steps.deadline_ms(room)


def _accepted(step: Step | Rejected) -> Step:
    if isinstance(step, Rejected):
        raise UndecidedError(_refusal(step))
    return step


def _refusal(refusal: Rejected) -> str:
    return f"the rules refuse its command: {refusal.code} (rule {refusal.rule})"
