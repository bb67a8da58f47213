"""Deliveries: which commits an operator is told, and what they may know of a room. Pure.

Everything is derived from the log: the same commits give the same deliveries with the same ids, on
any server, any number of times.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Final, Literal

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_server.eventlog.operators import LobbyPerson
from towerhall_server.room.state import Room
from towerhall_server.room.table import SeatHolder

Kind = Literal["turn", "end", "abandoned"]
ID_BYTES: Final = 16


def notice_of(before: Room | None, after: Room) -> Kind | None:
    """Return the kind of delivery of a commit, or None."""
    if after.table.status == "over":
        if before is not None and before.table.status == "over":
            return None
        return "end" if after.table.result is not None else "abandoned"
    turn = people_to_act(after)
    if not turn or (before is not None and turn == people_to_act(before)):
        return None
    return "turn"


def people_to_act(room: Room) -> tuple[int, ...]:
    """Return the seats whose turn it is and that no bot plays."""
    seats = room.table.seats
    return tuple(seat for seat in room.to_act() if (held := seats[seat]) and not held.plays_as)


def delivery_id(uid: bytes, seq: int, mark: str, kind: Kind) -> str:
    """Return the id of a delivery: the same for every attempt. The chain's mark changes it if
    another commit took the place of one that the store lost."""
    text = f"{seq} {mark} {kind}".encode()
    return base64url(blake2b(uid + text, digest_size=ID_BYTES).digest())


def identities(room: Room) -> set[str]:
    """Return the ids of all people with a seat or a reserved one. Only their operator may know
    them: it must recognise its people in every room."""
    held = {holder.identity for holder in room.table.seats if holder is not None}
    return {room.identity_of(alias) for alias in (held | set(room.table.reserved)) - {""}}


def state_of(
    room: Room, seq: int, now: tuple[int, int], people: Mapping[str, LobbyPerson]
) -> dict[str, object]:
    """Return a room for its operator: what a spectator would see, and external ids."""
    table = room.table
    reserved = table.reserved or ("",) * len(table.seats)
    document: dict[str, object] = {
        "code": table.code,
        "uid": base64url(table.uid),
        "game": table.game,
        "version": table.version,
        "options": msgspec.to_builtins(table.options),
        "turn_seconds": table.settings.turn_seconds,
        "status": table.status,
        "seq": seq,
        "now": now,
        "seats": [
            _seat(holder, room.identity_of(holder.identity if holder else owner), people)
            for holder, owner in zip(table.seats, reserved, strict=True)
        ],
        "turn": people_to_act(room),
    }
    if table.settings.turn_seconds and room.playing:
        document["due"] = room.began_ms + table.settings.turn_ms
    if table.result is not None:
        document["result"] = msgspec.to_builtins(table.result)
    for key, value in (
        ("closed", table.closed),
        ("previous", table.previous),
        ("rematch", table.rematch),
    ):
        if value:
            document[key] = value
    return document


def _seat(
    holder: SeatHolder | None, identity: str, people: Mapping[str, LobbyPerson]
) -> dict[str, object]:
    person = people.get(identity)
    document: dict[str, object] = {"taken": holder is not None}
    if identity:
        document["id"] = identity
    if person is not None:
        document["external_id"] = person.external_id
    if holder is not None:
        document["name"] = holder.name
    elif person is not None:
        document["name"] = person.name
    if holder is not None:
        if holder.level:
            document["bot"] = holder.level
        document |= dict.fromkeys(_marks(holder), True)
        if holder.stand_in:
            document["stand_in"] = holder.stand_in
    return document


def _marks(holder: SeatHolder) -> Iterable[str]:
    if holder.ready:
        yield "ready"
    if holder.resigned:
        yield "resigned"
