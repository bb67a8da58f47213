"""Errors as messages, with their hint and clause. `errors` has the codes."""

from towerhall_protocol.errors import clause_of, hint
from towerhall_protocol.messages import ServerError


def error_of(code: str, **params: int | str) -> ServerError:
    """An error with that code, as a message."""
    return ServerError(code, params, hint(code, params), clause_of(code))
