"""The states of a connection, and the events that move it: a table for rooms, one for the lobby.

A message is an event by its type; `BudgetSpent` and `Closed` are the others. An event without an
entry in a state does not happen there: a message is refused, `Closed` changes nothing.

Rates, checks and bytes may not live here: `session` and `lobby_session` have them.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from towerhall_protocol.lobby import LobbyFilter, LobbyHello
from towerhall_protocol.messages import (
    ClientChat,
    ClientCommand,
    ClientEmote,
    ClientHello,
    ClientHistory,
    ClientPing,
    ClientSandbox,
    ClientSign,
)

State = Literal["greeting", "inside", "over"]
Table: TypeAlias = Mapping[State, Mapping[type[object], State]]


class BudgetSpent:
    """The client has sent more bad messages than its rate allows."""


class Closed:
    """The connection is closing, on either side."""


_ENDS: Final[Mapping[type[object], State]] = {BudgetSpent: "over", Closed: "over"}

ROOM: Final[Table] = {
    "greeting": {ClientHello: "inside", **_ENDS},
    "inside": {
        ClientCommand: "inside",
        ClientHistory: "inside",
        ClientChat: "inside",
        ClientEmote: "inside",
        ClientSign: "inside",
        ClientPing: "inside",
        ClientSandbox: "inside",
        **_ENDS,
    },
    "over": {},
}
"""The state after each event of a connection to a room."""

LOBBY: Final[Table] = {
    "greeting": {LobbyHello: "inside", **_ENDS},
    "inside": {LobbyFilter: "inside", ClientPing: "inside", **_ENDS},
    "over": {},
}
"""The state after each event of a connection to the lobby."""
