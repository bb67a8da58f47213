"""The place of one person in a room, as lists and events tell it. Pure.

A person has a place by a seat, as the host, by an invitation, or because the host sent them away.
"""

from collections.abc import Mapping
from typing import Final

from towerhall_server.room.state import Room
from towerhall_server.room.table import Table
from towerhall_server.room.view import describe

Place = dict[str, object]
_PEOPLE: Final = f"{__name__}.people"


def place_of(room: Room, alias: str) -> Place | None:
    """Return the place of a person, by their alias; None if they have none.

    It changes with the table and with the person's own turns only. The moves of others and the
    clock are no part of it, so those cost nothing.
    """
    table = room.table
    seat, is_kicked = table.seated.get(alias), alias in table.kicked
    is_invited = seat is None and not is_kicked and alias in invited_to(table)
    if seat is None and alias != table.host and not is_kicked and not is_invited:
        return None
    place = describe(table)
    more: Mapping[str, tuple[bool, object]] = {
        "seat": (seat is not None, seat),
        "host": (alias == table.host, True),
        "private": (bool(table.key_hash), True),
        "your_turn": (seat is not None and seat in room.to_act(), True),
        "place": (table.result is not None and seat is not None, finished_at(table, seat)),
        "closed": (bool(table.closed), table.closed),
        "invited": (is_invited, True),
        "kicked": (is_kicked, True),
    }
    return place | {name: value for name, (is_so, value) in more.items() if is_so}


def has_changed(before: Room | None, after: Room, alias: str) -> bool:
    """Whether a commit changed the place of a person."""
    if before is None:
        return True
    if before.table is not after.table:
        return place_of(before, alias) != place_of(after, alias)
    seat = after.table.seated.get(alias)
    return seat is not None and (seat in before.to_act()) != (seat in after.to_act())


def host_of(room: Room) -> str:
    """Return the id of the host; empty if there is none."""
    return room.identity_of(room.table.host) if room.table.host else ""


def people_of(room: Room) -> Mapping[str, str]:
    """Return the ids of all who have a place in a room, by alias.

    Moves leave the table as it is, so they find the ids of the move before.
    """
    table = room.table
    found: dict[str, str] | None = table.__dict__.get(_PEOPLE)
    if found is None:
        held = {holder.identity for holder in table.seats if holder is not None}
        aliases = (held | {table.host, *table.kicked} | invited_to(table)) - {""}
        found = {alias: room.identity_of(alias) for alias in aliases}
        table.__dict__[_PEOPLE] = found
    return found


def invited_to(table: Table) -> frozenset[str]:
    """Return who may sit down here because the host, or a reserved seat, waits for them."""
    waits = table.status == "waiting"
    return frozenset((*table.invited, *table.reserved)) - {""} if waits else frozenset()


def finished_at(table: Table, seat: int | None) -> int | None:
    """The place of a seat in the result; None if there is none."""
    return None if seat is None or table.result is None else table.result.places[seat]
