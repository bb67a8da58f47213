"""All that concerns one person, in all rooms, over one socket that is kept up (P-153 to P-155).

async with hear_events(url, token) as events:
    async for rooms in events.changes():
        print(events.turns, events.invitations)
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from towerhall_client.live_list import LiveList, kept_up
from towerhall_client.retry import Retry
from towerhall_protocol.events import EventsGreeting, EventsHello
from towerhall_protocol.level import LEVEL, MSGPACK


@asynccontextmanager
async def hear_events(
    url: str, token: str, *, subprotocol: str = MSGPACK, retry: Retry | None = None
) -> AsyncIterator["Events"]:
    """The places of this person, from the first time that they are known on. `TableClosedError` if
    the server refuses."""
    hello = EventsHello(EventsGreeting(token, LEVEL))
    events = Events(url, "/v1/me/events", lambda: hello, subprotocol, retry or Retry())
    async with kept_up(events, "events"):
        yield events


class Events(LiveList):
    """The places of one person: in `rooms`, by code."""

    @property
    def turns(self) -> list[str]:
        """The codes of rooms in which it is this person's turn."""
        return [code for code, place in self.rooms.items() if place.get("your_turn")]

    @property
    def invitations(self) -> list[str]:
        """The codes of rooms to which this person is invited, and has not sat down."""
        return [code for code, place in self.rooms.items() if place.get("invited")]
