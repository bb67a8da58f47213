"""What an operator is told of, and what they may know of a room. Pure: nothing here sends.

Everything follows from the log: the same commits lead to the same deliveries with the same ids,
whichever server derives them and however often.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Final, Literal

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_server.operators.store import Person
from towerhall_server.room.state import Room
from towerhall_server.room.table import Holder, Table

Kind = Literal["turn", "end", "abandoned"]
ID_BYTES: Final = 16


def happened(before: Room | None, after: Room) -> Kind | None:
    """What a commit is to an operator, if it is anything."""
    if after.table.status == "over":
        if before is not None and before.table.status == "over":
            return None
        return "end" if after.table.result is not None else "abandoned"
    turn = people_to_act(after)
    if not turn or (before is not None and turn == people_to_act(before)):
        return None
    return "turn"


def people_to_act(room: Room) -> tuple[int, ...]:
    """Seats whose turn it is, and for which no bot plays."""
    seats = room.table.seats
    return tuple(seat for seat in room.to_act() if (held := seats[seat]) and not held.plays_as)


def delivery_id(uid: bytes, seq: int, mark: str, kind: Kind) -> str:
    """The same for every attempt. The mark makes it another one for a commit that took the place
    of one that the store has lost."""
    text = f"{seq} {mark} {kind}".encode()
    return base64url(blake2b(uid + text, digest_size=ID_BYTES).digest())


def identities(table: Table) -> set[str]:
    """Everybody who has a seat or may take one."""
    held = {holder.identity for holder in table.seats if holder is not None}
    return (held | set(table.reserved)) - {""}


def state_of(
    room: Room, seq: int, now: tuple[int, int], people: Mapping[str, Person]
) -> dict[str, object]:
    """A room as its operator sees it: nothing that a spectator would not see, but external ids."""
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
            _seat(holder, owner, people)
            for holder, owner in zip(table.seats, reserved, strict=True)
        ],
        "turn": people_to_act(room),
    }
    if table.settings.turn_seconds and room.playing:
        document["due"] = room.began_ms + 1000 * table.settings.turn_seconds
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


def _seat(holder: Holder | None, owner: str, people: Mapping[str, Person]) -> dict[str, object]:
    identity = holder.identity if holder is not None else owner
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


def _marks(holder: Holder) -> Iterable[str]:
    if holder.ready:
        yield "ready"
    if holder.resigned:
        yield "resigned"
