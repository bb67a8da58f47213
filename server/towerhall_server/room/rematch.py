"""What a rematch is: the same people in a new room. Whether there may be one is for others."""

from collections.abc import Mapping

import msgspec

from towerhall_server.game import AnyGame, Rejected, read_options
from towerhall_server.room.core import Plan
from towerhall_server.room.state import Room


def rematch_plan(room: Room, host: str, games: Mapping[str, AnyGame]) -> Plan:
    """The same people once more, each one seat further on, by the newest rules that know the same
    options and as many seats."""
    table = room.table
    holders = (table.seats[-1], *table.seats[:-1])
    rules, options = _newest(room, games)
    return Plan(
        rules=rules,
        options=options,
        seats=len(table.seats),
        settings=table.settings,
        host=host,
        key_hash=table.key_hash,
        reserved=tuple(holder.identity if holder else "" for holder in holders),
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
