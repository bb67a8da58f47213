"""Errors of a client as exceptions: each has a stable code and a hint for people."""

from asyncio import CancelledError
from collections.abc import Mapping


class TowerhallError(Exception):
    """Anything that the service refused or that kept this client from it."""

    def __init__(
        self, code: str, hint: str = "", params: Mapping[str, int | str] | None = None
    ) -> None:
        super().__init__(f"{code}: {hint}" if hint else code)
        self.code = code
        self.hint = hint
        self.params = params or {}

    @property
    def retry_ms(self) -> int | None:
        """The delay before a retry, if the service gave one."""
        wait = self.params.get("retry_ms")
        return wait if isinstance(wait, int) else None


class ServiceError(TowerhallError):
    """A request over HTTP, or for history, that was not granted."""

    def __init__(
        self,
        code: str,
        hint: str = "",
        status: int = 0,
        params: Mapping[str, int | str] | None = None,
    ) -> None:
        super().__init__(code, hint, params)
        self.status = status
        """Status of the HTTP answer; 0 without an answer."""


class RefusedError(TowerhallError):
    """A command that was not done, and will not be."""

    def __init__(
        self,
        code: str,
        hint: str = "",
        rule: str = "",
        params: Mapping[str, int | str] | None = None,
    ) -> None:
        super().__init__(code, hint, params)
        self.rule = rule
        """The section of the game's rules, or the clause of the protocol."""


class TableClosedError(TowerhallError):
    """The connection is over and may not be opened again by itself."""


def closed_by(error: BaseException) -> TableClosedError:
    """The error for callers that wait on a connection that ended this way."""
    if isinstance(error, TableClosedError):
        return error
    if isinstance(error, CancelledError):
        return TableClosedError("done", "this client has left")
    return TableClosedError("client_fault", repr(error))
