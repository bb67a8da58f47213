"""What a room knows of those who look at it: a person, a seat or none, and a way to reach them."""

from typing import Final, Protocol

from towerhall_server.game import Seat
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.seats import Person

NO_WINDOW: Final = "~"
"""Begins the origin of a command that came through no connection. No client's origin does."""


class Viewer(Protocol):
    """One connection. The gateway makes them; a room keeps `seat` and `unanswered` true."""

    person: Person
    origin: str
    seat: Seat | None
    claim: int
    """Higher than that of every older connection to the room, on any node."""
    unanswered: set[int]
    """The numbers of commands that it has sent and the room has not answered."""

    @property
    def alive(self) -> bool:
        """Whether the connection is still there."""
        ...

    @property
    def lags(self) -> bool:
        """Whether what is sent now would be thrown away."""
        ...

    def send(self, message: Prepared, *more: Prepared) -> None:
        """Together if there are several. Never blocks and never fails: a connection that is over
        swallows them."""
        ...

    def close(self, reason: str) -> None:
        """End the connection for one of the reasons in `errors.CLOSES`."""
        ...
