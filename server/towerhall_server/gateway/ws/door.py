"""Checks of a greeting, for rooms and for the lobby, that need no store.

In this order: the protocol level, the token as judged by `access`, the person's number of
connections.
"""

import msgspec

from towerhall_protocol.level import LEVEL, OLDEST_LEVEL
from towerhall_protocol.messages import ServerError
from towerhall_server.access.admission import Denied, Visitor
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.ws.session import error
from towerhall_server.room.seats import Person


class Refusal(msgspec.Struct, frozen=True):
    """The reason of the close, and the error sent before it."""

    reason: str
    message: ServerError


STORE_UNAVAILABLE = Refusal("store_unavailable", error("store_unavailable"))


def busy() -> Refusal:
    return Refusal("busy", error("busy", retry_ms=10_000))


def refusal_of(denied: Denied) -> Refusal:
    """Refuse a person by the code of the denial, which is also the reason of the close."""
    return Refusal(denied.code, error(denied.code, **denied.params))


def let_in(hall: Hall, level: int, token: str, visitor: Visitor) -> Person | Refusal:
    """The person of an admitted greeting. Every admitted person must be released again."""
    if level < OLDEST_LEVEL:
        levels = error("level_too_old", oldest=OLDEST_LEVEL, newest=LEVEL)
        return Refusal("level_too_old", levels)
    found = hall.access.read(token)
    if isinstance(found, Denied):
        return refusal_of(found)
    if not hall.sockets_of(found.person).enter(found.person.id):
        return busy()
    hall.access.enter(found, visitor)
    hall.accounts.store.note_seen(found)
    return found.person


def let_out(hall: Hall, person: Person, visitor: Visitor) -> None:
    hall.access.leave(visitor)
    hall.sockets_of(person).leave(person.id)
