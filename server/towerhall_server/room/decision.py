"""Decides a person's command by rights, rules and pace, for fast path and actor.

A role follows from the log and the identity, never from a message. Rooms judge by their newest
state, when a command is applied.

Pure. The fast path takes steps only, and leaves every other decision to the actor.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import ClientCommand
from towerhall_server.game import Rejected, Seat, never
from towerhall_server.room import pace
from towerhall_server.room.commands import GAME, NEEDS, ROOM_COMMANDS, Right, Role
from towerhall_server.room.commits import Cause, Commit
from towerhall_server.room.events import Dealt, SeatWoke
from towerhall_server.room.explaining import effect_of
from towerhall_server.room.parameters import read_parameters
from towerhall_server.room.search import clock_only
from towerhall_server.room.seats import NOTHING_KNOWN, Known, Person, starts_by_itself
from towerhall_server.room.state import Decided, Done, Room, decides, happen, look_up
from towerhall_server.room.steps import Step, owing, play
from towerhall_server.room.table import SeatHolder, Table

ROLES: Final[Mapping[tuple[bool, bool], frozenset[Role]]] = {
    (False, False): frozenset({"watcher"}),
    (True, False): frozenset({"seated"}),
    (False, True): frozenset({"watcher", "host"}),
    (True, True): frozenset({"seated", "host"}),
}
"""By whether a person has a seat, and whether the person is the host."""


class InLog(msgspec.Struct, frozen=True):
    """The log has answered the command already: it is done, or it never will be."""

    found: Done | Rejected


class KnownNeeded(msgspec.Struct, frozen=True):
    """The command needs facts that no log holds: see `commands.NEEDS`."""


class Slow(msgspec.Struct, frozen=True):
    """A search process has to decide the command first."""

    seat: Seat


class Possible(msgspec.Struct, frozen=True):
    """A dry run: the command would be done, with this effect."""

    effect: Document


Decision: TypeAlias = Step | Rejected | InLog | KnownNeeded | Slow | Possible
KNOWN_NEEDED: Final = KnownNeeded()


def decide(
    room: Room,
    person: Person,
    origin: str,
    asked: ClientCommand,
    now_ms: int,
    *,
    known: Known | None = None,
    decided: Decided | None = None,
) -> Decision:
    """The decision on a command at that service time. `decided` is the outcome of its search."""
    cause = cause_of(room, person, origin, asked.n)
    found = look_up(room, cause, asked)
    if found is not None:
        return InLog(found)
    body, seat = asked.body, Seat(cause.seat)
    if known is None and body.get("command") in NEEDS:
        return KNOWN_NEEDED
    wanted = (room, person, cause, body, asked.tag)
    foreseen = _foresee(*wanted) if asked.dry else None
    if isinstance(foreseen, Rejected):
        return foreseen
    if foreseen is not None:
        return Possible(foreseen)
    if _is_slow(room, seat, body, decided) and _may_ask(*wanted):
        return Slow(seat)
    step = step_of(*wanted, known or NOTHING_KNOWN, decided)
    if isinstance(step, Rejected):
        return step
    if asked.dry:
        return Possible(effect_of(room, seat, body))
    early_ms = not_before_ms(room, step) - now_ms
    return pace.refusal(early_ms) if early_ms > 0 else step


def cause_of(room: Room, person: Person, origin: str, n: int) -> Cause:
    """A command as its commit will name it, with the seat that its sender has now."""
    seat = room.table.seated.get(person.id)
    return Cause(-1 if seat is None else seat, person.id, origin, n)


def step_of(
    room: Room,
    person: Person,
    cause: Cause,
    body: Mapping[str, Any],
    tag: str,
    known: Known = NOTHING_KNOWN,
    decided: Decided | None = None,
) -> Step | Rejected:
    """The step of a person's command. This may be slow: see `Slow`. `decided` is used if the
    game has not changed since."""
    if body.get("command") in ROOM_COMMANDS:
        return manage(room, person, cause, body, known)
    holder = _player(room, person, cause, body, tag)
    if isinstance(holder, Rejected):
        return holder
    first = (SeatWoke(cause.seat),) if holder.timeouts else ()
    if decided is not None and decided.holds_in(room):
        if isinstance(decided.events, Rejected):
            return decided.events
        return play(room, cause, body, decided.events, first)
    outcome = room.rules.outcome(room.game, Seat(cause.seat), body)
    if isinstance(outcome, Rejected):
        return outcome
    events, game = outcome
    return play(room, cause, body, events, first, game)


def manage(
    room: Room,
    person: Person,
    cause: Cause,
    body: Mapping[str, Any],
    known: Known = NOTHING_KNOWN,
) -> Step | Rejected:
    """The step of a room command (P-50)."""
    command = ROOM_COMMANDS[body["command"]]
    refusal = refuse(room.table, person.id, command)
    if refusal is not None:
        return refusal
    wanted = read_parameters(command.parameters, body, command.clause)
    if isinstance(wanted, Rejected):
        return wanted
    events = command.handler(room, person, wanted, known)
    if isinstance(events, Rejected):
        return events
    after = happen(room, events, ())
    begins = starts_by_itself(after.table)
    if begins:
        events = (*events, *begins)
        after = happen(after, begins, ())
    if after.table.status == "sealed" and not owing(after.table):
        # All nonces are open, or there are none: the game begins within the same commit.
        events = (*events, Dealt(after.table.deal))
        dealt = happen(room, events, ())
        return play(room, cause, body, room.rules.setup(dealt.game), events)
    return Step(Commit(cause, events, command=dict(body)), after)


def _player(
    room: Room, person: Person, cause: Cause, body: Mapping[str, Any], tag: str
) -> SeatHolder | Rejected:
    """The holder of the seat whose command the game decides, or the refusal of a command that
    never gets to the game."""
    refusal = refuse(room.table, person.id, GAME)
    if refusal is not None:
        return refusal
    if tag != room.tag:
        return Rejected("stale", "P-43")
    holder = room.table.seats[cause.seat]
    if holder is None or holder.stand_in:
        return Rejected("bot_plays", "P-58")
    name = body.get("command")
    return clock_only(room.rules, name) if name in room.rules.clock_commands else holder


def roles(table: Table, identity: str) -> frozenset[Role]:
    return ROLES[table.seated.get(identity) is not None, identity == table.host]


def refuse(table: Table, identity: str, right: Right) -> Rejected | None:
    """Why this identity does not have this right here, or not now; `None` if it has."""
    if right.role in roles(table, identity):
        is_time = right.status in (None, table.status)
        return None if is_time else Rejected(f"not_{right.status}", right.clause)
    if right.role == "host":
        return Rejected("not_host", "P-56")
    held = table.seated.get(identity)
    if held is None:
        return Rejected("not_seated", "P-56")
    return Rejected("already_seated", "P-56", {"seat": held})


def _foresee(
    room: Room, person: Person, cause: Cause, body: Mapping[str, Any], tag: str
) -> Document | Rejected | None:
    """The game's prediction for a dry run; `None` if it has none, and has to decide the command."""
    if body.get("command") in ROOM_COMMANDS:
        return None
    holder = _player(room, person, cause, body, tag)
    if isinstance(holder, Rejected):
        return holder
    return room.rules.foresee(room.game, Seat(cause.seat), body)


def _is_slow(
    room: Room, seat: Seat, body: Mapping[str, Any], decided: Decided | None = None
) -> bool:
    """Whether another process decides a command: it is slow, its outcome is unknown, and the seat
    is to act. The rules refuse other seats at once."""
    slow = room.rules.slow
    if slow is never or not room.playing or seat < 0 or not slow(room.game, seat, body):
        return False
    if decided is not None and decided.holds_in(room):
        return False
    return body.get("command") not in ROOM_COMMANDS and seat in room.to_act()


def _may_ask(room: Room, person: Person, cause: Cause, body: Mapping[str, Any], tag: str) -> bool:
    """Whether a command gets to the game. A search for any other one would be wasted."""
    return not isinstance(_player(room, person, cause, body, tag), Rejected)


def not_before_ms(room: Room, step: Step) -> int:
    """The service time before which a person's step must not be done; 0 or less if none."""
    cause = step.commit.cause
    if not cause.n or room.table.settings.sandbox or decides(room, step.after):
        return 0
    return pace.not_before_ms(room.full_at, cause.identity)
