"""What becomes of a person's command: the one function that decides it, for fast path and actor.

Pure. The fast path takes steps only, and leaves every other decision to the actor.
"""

from typing import Final, TypeAlias

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.messages import ClientCommand
from towerhall_server.game import Rejected, Seat
from towerhall_server.room import pace, steps
from towerhall_server.room.asking import foresee, is_slow, may_ask
from towerhall_server.room.commands import NEEDS
from towerhall_server.room.commits import Cause
from towerhall_server.room.explaining import effect_of
from towerhall_server.room.seats import NOTHING_KNOWN, Known, Person
from towerhall_server.room.state import Decided, Done, Room, look_up
from towerhall_server.room.steps import Step


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
    foreseen = foresee(*wanted) if asked.dry else None
    if isinstance(foreseen, Rejected):
        return foreseen
    if foreseen is not None:
        return Possible(foreseen)
    if is_slow(room, seat, body, decided) and may_ask(*wanted):
        return Slow(seat)
    step = steps.step(*wanted, known or NOTHING_KNOWN, decided)
    if isinstance(step, Rejected):
        return step
    if asked.dry:
        return Possible(effect_of(room, seat, body))
    early_ms = steps.not_before_ms(room, step) - now_ms
    return pace.refusal(early_ms) if early_ms > 0 else step


def cause_of(room: Room, person: Person, origin: str, n: int) -> Cause:
    """A command as its commit will name it, with the seat that its sender has now."""
    seat = room.table.seat_of(person.id)
    return Cause(-1 if seat is None else seat, person.id, origin, n)
