"""Whom a connection tells what comes in. The socket calls, a connection to a room answers."""

from typing import Protocol


class Listener(Protocol):
    """All calls come from the loop, so none may block."""

    def received(self, data: bytes | str) -> None:
        """A whole message, binary or text."""

    def writable(self) -> None:
        """The backlog was high and is low again."""

    def ended(self, reason: str) -> None:
        """This server ends the connection, for one of the reasons in `errors.CLOSES`. Comes once
        at most; `lost` comes some time after it."""

    def lost(self) -> None:
        """The connection is over, for whatever reason. Comes once, and last."""
