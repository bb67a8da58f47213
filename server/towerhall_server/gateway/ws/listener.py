"""The interface between a socket and its connection: the socket calls, the connection reacts."""

from typing import Protocol


class Listener(Protocol):
    """All calls come from the event loop, so none may block."""

    def received(self, data: bytes | str) -> None:
        """A whole message, binary or text."""

    def writable(self) -> None:
        """The write buffer was above high water and is below low water again."""

    def ended(self, reason: str) -> None:
        """This server closes the connection, for one of the reasons in `errors.CLOSES`. Called at
        most once; `lost` follows."""

    def lost(self) -> None:
        """The connection is over, for any reason. Called once, as the last call."""
