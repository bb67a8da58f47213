"""Deciding a commit once more: what the rules make of the command that it names.

Nothing that a commit claims to have happened is believed here. From the room before it and the
command that it holds follows one step, or the reason why there is none.
"""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from towerhall_protocol.codec import FROM_CLIENT, encode
from towerhall_server.game import LEVELS, AnyGame, Rejected, Seat, rules_of
from towerhall_server.room import core
from towerhall_server.room.codes import is_code
from towerhall_server.room.commits import Cause, Commit
from towerhall_server.room.core import Errand, Plan, Step
from towerhall_server.room.events import (
    DealCancelled,
    HostPassed,
    PersonSat,
    RematchMade,
    RoomClosed,
    RoomCreated,
    TimedOut,
)
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.state import Done, Room, look_up

ABANDONED: Final = "abandoned"
Actor = Literal["person", "bot", "timer", "room"]


class UndecidedError(Exception):
    """The rules do not lead from here to anything by what the commit says."""


class Again(msgspec.Struct, frozen=True):
    """A step decided once more."""

    step: Step
    actor: Actor
    not_before_ms: int = 0
    """Service time before which the room could not have done this by itself."""


def decide_first(games: Mapping[str, AnyGame], secret: bytes, commit: Commit) -> Again:
    """The creation of the room, with the commitment that this secret calls for."""
    if len(commit.room) != 1 or not isinstance(commit.room[0], RoomCreated):
        raise UndecidedError("a room begins with its creation")
    created = commit.room[0]
    rules = rules_of(games, created.game, created.version)
    if created.seats not in rules.seats:
        raise UndecidedError(f"{created.game} is not for {created.seats} players")
    if not {len(created.reserved), len(created.bots)} <= {0, created.seats}:
        raise UndecidedError("seats are taken or kept that are not there")
    if not set(created.bots) <= {"", *LEVELS}:
        raise UndecidedError("bots sit there that do not exist")
    options = msgspec.convert(created.options, rules.options_type)
    plan = Plan(
        rules=rules,
        options=options,
        seats=created.seats,
        settings=created.settings,
        host=created.host,
        key_hash=created.key_hash,
        reserved=created.reserved,
        bots=created.bots,
        quick=created.quick,
        previous=created.previous,
        operator=created.operator,
    )
    return Again(core.found(plan, created.code, created.uid, secret), "room")


def decide_again(room: Room, commit: Commit) -> Again:
    """What follows in this room from the command of a commit, whoever gave it."""
    if len(encode(commit.command)) > FROM_CLIENT.message_bytes:
        raise UndecidedError("its command is larger than any can be")
    cause = commit.cause
    if cause.n:
        return Again(_by_person(room, commit), "person")
    if cause.seat < 0:
        return _by_room(room, commit)
    if any(isinstance(event, TimedOut) for event in commit.room):
        deadline_ms = _deadline(room, "turn")
        return Again(_accepted(core.timeout_step(room)), "timer", deadline_ms)
    deadline_ms = _deadline(room, "bot")
    seat = core.bot_to_act(room)
    if seat is None:
        raise UndecidedError("no bot was to act")
    return Again(_by_game(room, seat, Cause(seat), commit), "bot", deadline_ms)


def _by_person(room: Room, commit: Commit) -> Step:
    cause, body = commit.cause, commit.command
    if cause.n < 0 or not cause.identity:
        raise UndecidedError("its command has no sender")
    match look_up(room, cause):
        case Done(seq):
            raise UndecidedError(f"command {cause.n} of its sender is done already, in {seq}")
        case Rejected() as refusal:
            raise UndecidedError(_refusal(refusal))
    seat = room.table.seat_of(cause.identity)
    cause = msgspec.structs.replace(cause, seat=-1 if seat is None else seat)
    if not isinstance(body.get("command"), str):
        raise UndecidedError("its command has no name")
    # What people call themselves is theirs to say: there is nothing to decide it from.
    names = [event.name for event in commit.room if isinstance(event, PersonSat)]
    person = Person(cause.identity, names[0] if names else "")
    # Who was away, which room was made, and whether an earlier one was of use, no log tells.
    made = [event.code for event in commit.room if isinstance(event, RematchMade)]
    if not all(map(is_code, made)):
        raise UndecidedError("no room has such a code")
    known = Known(
        absent=range(len(room.table.seats)),
        rematch=made[0] if made else "",
        spent=room.table.rematch,
    )
    return _accepted(core.step(room, person, cause, body, room.tag, known))


def _by_game(room: Room, seat: Seat, cause: Cause, commit: Commit) -> Step:
    events = room.rules.decide(room.game, seat, commit.command)
    if isinstance(events, Rejected):
        raise UndecidedError(_refusal(events))
    return core.play(room, cause, commit.command, events)


def _by_room(room: Room, commit: Commit) -> Again:
    match commit.room[:1]:
        case (HostPassed(to),) if room.table.status == "waiting":
            heir = room.table.seats[to] if 0 <= to < len(room.table.seats) else None
            if heir is None or heir.identity in ("", room.table.host):
                raise UndecidedError("nobody there could become host")
            return Again(core.pass_host_step(room, to), "room")
        case (DealCancelled(),):
            deadline_ms = _deadline(room, "open")
            return Again(core.cancel_step(room), "room", deadline_ms)
        case (RoomClosed(reason),) if room.table.status != "over":
            # Whoever runs the service may close a room at any time, but not call it abandoned.
            deadline_ms = _deadline(room, "close") if reason == ABANDONED else 0
            return Again(core.close_step(room, reason), "room", deadline_ms)
    raise UndecidedError("a room does nothing like this by itself")


def _deadline(room: Room, errand: Errand) -> int:
    if core.due(room).errand != errand:
        raise UndecidedError(f"{_ERRANDS[errand]} was not due")
    return core.deadline_ms(room)


_ERRANDS: Final[Mapping[Errand, str]] = {
    "bot": "a move of a bot",
    "turn": "the end of somebody's time",
    "open": "the end of the time for nonces",
    "close": "the end of the room",
}


def _accepted(step: Step | Rejected) -> Step:
    if isinstance(step, Rejected):
        raise UndecidedError(_refusal(step))
    return step


def _refusal(refusal: Rejected) -> str:
    return f"the rules refuse its command: {refusal.code} (rule {refusal.rule})"
