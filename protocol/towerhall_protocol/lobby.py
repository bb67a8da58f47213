"""The messages of the lobby: a list of rooms that is kept up to date (P-140 to P-146).

The lobby has a socket of its own, with fewer messages than a room has: a client says which rooms it
wants to see, gets the list, and from then on merge patches of it. Shapes only, as in `messages`.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec

from towerhall_protocol.document import Document, Patch
from towerhall_protocol.messages import (
    ClientPing,
    ServerError,
    ServerGo,
    ServerPaused,
    ServerPong,
)

MOST_FREE = 64
"""No table has more seats to ask for."""
MOST_SHOWN = 500
"""Rooms on one page. The list stays well below the largest message that clients accept."""


class Filter(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The rooms that a client wants to see; a missing key matches all."""

    game: Annotated[str, msgspec.Meta(max_length=40)] = ""
    status: Literal["", "waiting", "sealed", "playing"] = ""
    free: Annotated[int, msgspec.Meta(ge=0, le=MOST_FREE)] = 0
    """Least number of free seats."""
    after: Annotated[str, msgspec.Meta(max_length=40)] = ""
    """Where the page begins: `next` of the page before."""
    limit: Annotated[int, msgspec.Meta(ge=0, le=MOST_SHOWN)] = 0
    """Most rooms of the page; 0 is the most that there may be."""


class LobbyGreeting(msgspec.Struct, frozen=True, omit_defaults=True):
    """The identity and the filter of the client."""

    token: str
    level: int
    filter: Filter = Filter()


class LobbyHello(msgspec.Struct, frozen=True, array_like=True, tag="hello"):
    """The first message of every connection."""

    greeting: LobbyGreeting


class LobbyFilter(msgspec.Struct, frozen=True, array_like=True, tag="filter"):
    """Show me these rooms from now on."""

    filter: Filter


LobbyClientMessage: TypeAlias = LobbyHello | LobbyFilter | ClientPing


class LobbyArrival(msgspec.Struct, frozen=True):
    """The identity of the client at the server, and the list."""

    you: str
    name: str
    level: int
    now: tuple[int, int]
    """Wall clock of the server in ms; the lobby has no service clock, so the other one is 0."""
    list: Document
    """`rooms` by code, how many `more` there are behind them, and where the `next` page begins."""


class LobbyWelcome(msgspec.Struct, frozen=True, array_like=True, tag="welcome"):
    arrival: LobbyArrival


class LobbyReset(msgspec.Struct, frozen=True, array_like=True, tag="reset"):
    """Forget the list and take this one: you asked for another filter, or were too slow."""

    list: Document


class LobbyPatch(msgspec.Struct, frozen=True, array_like=True, tag="patch"):
    """A change of the list."""

    patch: Patch


LobbyServerMessage: TypeAlias = (
    LobbyWelcome | LobbyReset | LobbyPatch | ServerPaused | ServerGo | ServerPong | ServerError
)
