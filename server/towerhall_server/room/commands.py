"""The table of room commands: role, status, clause, parameters, handler and need of each.

A new command needs a struct in `parameters`, a handler in `seats`, `during` or `moderation`, and a
row here. Commands of the game are in no row: all of them have the right `GAME`. `decision` compares
rights with the roles of a person.
"""

from collections.abc import Mapping
from typing import Any, Final, Generic, Literal, TypeAlias

import msgspec

from towerhall_server.room import during, moderation, seats
from towerhall_server.room import parameters as of
from towerhall_server.room.seats import Handler
from towerhall_server.room.table import Status

Need: TypeAlias = Literal["absences", "rematch"]
"""Facts for a handler that no log holds: which seats are absent, or the room of a rematch."""


Role: TypeAlias = Literal["host", "seated", "watcher"]


class Right(msgspec.Struct, frozen=True):
    """Who may give a command, and when."""

    role: Role
    status: Status | None
    """The only status in which the command makes sense; `None`: any."""
    clause: str
    """The clause that describes the command."""


GAME: Final = Right("seated", "playing", "P-40")
"""The right to any command of the game itself."""


class RoomCommand(Right, Generic[of.P], frozen=True):
    """One row."""

    parameters: type[of.P]
    handler: Handler[of.P]
    need: Need | None = None

    @property
    def name(self) -> str:
        return of.name_of(self.parameters)


_ROWS: Final[tuple[RoomCommand[Any], ...]] = (
    RoomCommand("watcher", "waiting", "P-51", of.Sit, seats.sit),
    RoomCommand("seated", "waiting", "P-51", of.Stand, seats.stand),
    RoomCommand("seated", None, "P-51", of.Rename, seats.rename),
    RoomCommand("seated", "waiting", "P-52", of.Ready, seats.ready),
    RoomCommand("host", "waiting", "P-53", of.Start, seats.start),
    RoomCommand("seated", "sealed", "P-54", of.Open, seats.open_nonce),
    RoomCommand("host", "waiting", "P-55", of.AddBot, seats.add_bot),
    RoomCommand("host", "waiting", "P-55", of.RemoveBot, seats.remove_bot),
    RoomCommand("host", "waiting", "P-57", of.Kick, moderation.kick),
    RoomCommand("host", "waiting", "P-57", of.SetOptions, seats.set_options),
    RoomCommand("host", None, "P-57", of.Admit, moderation.admit),
    RoomCommand("host", "waiting", "P-57", of.Invite, moderation.invite),
    RoomCommand("host", None, "P-57", of.Mute, moderation.mute),
    RoomCommand("host", None, "P-57", of.Unmute, moderation.unmute),
    RoomCommand("seated", "playing", "P-58", of.Leave, during.leave),
    RoomCommand("seated", "playing", "P-58", of.TakeBack, during.take_back),
    RoomCommand("seated", "playing", "P-58", of.CallBot, during.call_bot, "absences"),
    RoomCommand("seated", "playing", "P-58", of.Resign, during.resign),
    RoomCommand("seated", "playing", "P-58", of.WantEnd, during.want_end),
    RoomCommand("seated", "over", "P-59", of.Rematch, during.rematch, "rematch"),
)

ROOM_COMMANDS: Final[Mapping[str, RoomCommand[Any]]] = {row.name: row for row in _ROWS}
NEEDS: Final[Mapping[str, Need]] = {row.name: row.need for row in _ROWS if row.need}
"""Needs by command. Commands that are not listed are decided by the log alone."""
