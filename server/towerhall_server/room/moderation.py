"""Handlers of the host's commands about people: kick, admit, invite, mute, unmute (P-57).

Pure, as in `seats`. `audience` closes the connections of a kicked person, and `gate.silence` stops
the chat of a muted one. Both lists are events of the log, so every server and every restart knows
them. They hold ids: another seat or another name does not help.
"""

from collections.abc import Mapping
from typing import Final

from towerhall_server.game import Rejected
from towerhall_server.room.events import PersonAdmitted, PersonInvited, PersonMuted, SeatKicked
from towerhall_server.room.parameters import Admit, Invite, Kick, Mute, Unmute, name_of
from towerhall_server.room.seats import Events, Known, Person, named_seat
from towerhall_server.room.state import Room
from towerhall_server.room.table import SeatHolder, Table

MOST_NAMED: Final = 100
"""People in each of the two lists: the view of everybody holds both."""
CLAUSE: Final = "P-57"


def kick(room: Room, person: Person, wanted: Kick, known: Known) -> Events:
    seat = named_seat(room.table, wanted.seat, CLAUSE)
    if isinstance(seat, Rejected):
        return seat
    holder = _other(room.table, person, seat)
    if isinstance(holder, Rejected):
        return holder
    return _full(room.table.kicked) or (SeatKicked(seat),)


def admit(room: Room, person: Person, wanted: Admit, known: Known) -> Events:
    identity = _named(room.table, person, wanted)
    if isinstance(identity, Rejected):
        return identity
    if identity not in room.table.kicked:
        return Rejected("not_kicked", CLAUSE)
    return (PersonAdmitted(identity),)


def invite(room: Room, person: Person, wanted: Invite, known: Known) -> Events:
    table = room.table
    identity = _named(table, person, wanted)
    if isinstance(identity, Rejected):
        return identity
    if identity in table.kicked:
        return Rejected("kicked", CLAUSE)
    if identity in table.invited or identity in table.seated:
        return Rejected("already_invited", CLAUSE)
    return _full(table.invited) or (PersonInvited(identity),)


def mute(room: Room, person: Person, wanted: Mute, known: Known) -> Events:
    table = room.table
    identity = _named(table, person, wanted)
    if isinstance(identity, Rejected):
        return identity
    if identity in table.muted:
        return Rejected("already_muted", CLAUSE)
    return _full(table.muted) or (PersonMuted(identity, True),)


def unmute(room: Room, person: Person, wanted: Unmute, known: Known) -> Events:
    table = room.table
    identity = _named(table, person, wanted)
    if isinstance(identity, Rejected):
        return identity
    if identity not in table.muted:
        return Rejected("not_muted", CLAUSE)
    return (PersonMuted(identity, False),)


def _named(table: Table, person: Person, wanted: Admit | Invite | Mute | Unmute) -> str | Rejected:
    """The id of the other person whom a command names, by seat or by id."""
    if not table.aliased:
        # Its people are named by ids that the others may not be told.
        return Rejected("unknown_command", CLAUSE, {"name": name_of(type(wanted))})
    seat = None if isinstance(wanted, Admit | Invite) else wanted.seat
    if seat is not None and wanted.id is None:
        there = named_seat(table, seat, CLAUSE)
        holder = there if isinstance(there, Rejected) else _other(table, person, there)
        return holder if isinstance(holder, Rejected) else holder.identity
    if seat is not None or wanted.id is None:
        detail = {"detail": "name one person, by seat or by id"}
        return Rejected("bad_command", CLAUSE, detail)
    return Rejected("own_seat", CLAUSE) if wanted.id == person.id else wanted.id


def _other(table: Table, person: Person, seat: int) -> SeatHolder | Rejected:
    """Who has that seat, if it is another person."""
    holder = table.seats[seat]
    if holder is None or holder.is_bot:
        return Rejected("seat_empty", CLAUSE)
    return Rejected("own_seat", CLAUSE) if holder.identity == person.id else holder


def _full(named: Mapping[str, str] | tuple[str, ...]) -> Rejected | None:
    return Rejected("list_full", CLAUSE, {"most": MOST_NAMED}) if len(named) >= MOST_NAMED else None
