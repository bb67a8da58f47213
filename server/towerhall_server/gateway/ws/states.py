"""The states of a connection, and what moves it: one table for each kind of socket.

A message is an event by its type; `BudgetSpent` and `Closed` are the others. An event without an
entry in a state does not happen there: a message is refused, `Closed` changes nothing.

Rates, checks and bytes may not live here: `session` and its neighbours have them.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from towerhall_protocol.events import EventsHello
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
Transitions: TypeAlias = Mapping[State, Mapping[type[object], State]]


class BudgetSpent:
    """The client has sent more bad messages than its rate allows."""


class Closed:
    """The connection is closing, on either side."""


_ENDS: Final[Mapping[type[object], State]] = {BudgetSpent: "over", Closed: "over"}

ROOM: Final[Transitions] = {
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

LOBBY: Final[Transitions] = {
    "greeting": {LobbyHello: "inside", **_ENDS},
    "inside": {LobbyFilter: "inside", ClientPing: "inside", **_ENDS},
    "over": {},
}
"""The state after each event of a connection to the lobby."""

EVENTS: Final[Transitions] = {
    "greeting": {EventsHello: "inside", **_ENDS},
    "inside": {ClientPing: "inside", **_ENDS},
    "over": {},
}
"""The state after each event of a connection to what concerns a person."""
