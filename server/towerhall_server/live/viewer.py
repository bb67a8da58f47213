"""A viewer as its room knows it: a person, a seat or none, and a connection."""

from typing import Final, Protocol

from towerhall_server.frames import Prepared
from towerhall_server.game import Seat
from towerhall_server.room.seats import Person

NO_WINDOW: Final = "~"
"""First character of the origin of a command without a connection. No client's origin has it."""


class Viewer(Protocol):
    """One connection. The gateway makes it; the room keeps its `seat` true."""

    person: Person
    origin: str
    level: int
    """The highest level of the protocol that its client speaks."""
    seat: Seat | None
    claim: int
    """The store's time at which the connection came, in us. The audience raises it above the older
    claims to its seat that it knows of."""

    @property
    def alive(self) -> bool:
        """Whether the connection is still there."""
        ...

    @property
    def lags(self) -> bool:
        """Whether messages are being dropped because the client reads too slowly."""
        ...

    def answered(self, n: int) -> None:
        """The room has dealt with that command: its answer was sent, or its frame. Must not raise.

        A frame from another node may have told the client before; this is called all the same.
        """
        ...

    def send(self, message: Prepared, *more: Prepared) -> None:
        """Send messages in one write. Must neither block nor raise; a closed connection drops
        them."""
        ...

    def close(self, reason: str) -> None:
        """End the connection for one of the reasons in `errors.CLOSES`."""
        ...
