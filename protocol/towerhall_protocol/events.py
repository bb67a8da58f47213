"""The messages about everything that concerns one person (P-153 to P-155).

The socket says what the lobby says, with another list: the rooms in which the person has a place.
A client only says who it is. Shapes only, as in `messages`.
"""

from typing import TypeAlias

import msgspec

from towerhall_protocol.answers import ListedRoom
from towerhall_protocol.messages import ClientPing


class EventsGreeting(msgspec.Struct, frozen=True):
    """The identity of the client."""

    token: str
    level: int


class EventsHello(msgspec.Struct, frozen=True, array_like=True, tag="hello"):
    """The first message of every connection."""

    greeting: EventsGreeting


class PlaceOfPerson(ListedRoom, frozen=True, omit_defaults=True):
    """A room in the list, as the place of the person in it (P-155)."""

    seat: int | None = None
    host: bool = False
    private: bool = False
    your_turn: bool = False
    place: int | None = None
    closed: str = ""
    invited: bool = False
    kicked: bool = False


EventsClientMessage: TypeAlias = EventsHello | ClientPing
