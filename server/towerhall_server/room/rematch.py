"""The plan of a rematch: the same people in a new room. `during.rematch` decides on it."""

from collections.abc import Mapping

import msgspec

from towerhall_server.game import AnyGame, Rejected, read_options
from towerhall_server.room.state import Room
from towerhall_server.room.steps import Plan


def rematch_plan(room: Room, host: str, games: Mapping[str, AnyGame]) -> Plan:
    """A room for the same people, each one seat further on, by the newest rules that know the same
    options and number of seats. `host` is an alias of this room; the plan names people by id."""
    table = room.table
    holders = (table.seats[-1], *table.seats[:-1])
    rules, options = _newest(room, games)
    return Plan(
        rules=rules,
        options=options,
        seats=len(table.seats),
        settings=table.settings,
        host=room.identity_of(host),
        key_hash=table.key_hash,
        reserved=tuple(room.identity_of(holder.identity) if holder else "" for holder in holders),
        bots=tuple(holder.level if holder else "" for holder in holders),
        previous=table.code,
        operator=table.operator,
    )


def _newest(room: Room, games: Mapping[str, AnyGame]) -> tuple[AnyGame, msgspec.Struct]:
    table = room.table
    newest = games.get(table.game, room.rules)
    options = read_options(newest, msgspec.to_builtins(table.options))
    if isinstance(options, Rejected) or len(table.seats) not in newest.seats:
        return room.rules, table.options
    return newest, options
