"""Who is let in by a greeting, to a room or to the lobby: the checks that need no store.

They come in this order: what the client speaks, whether the token holds, whether the person is
banned, whether they have too many connections.
"""

import msgspec

from towerhall_protocol.level import LEVEL, OLDEST_LEVEL
from towerhall_protocol.messages import ServerError
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.session import error
from towerhall_server.gateway.tokens import TokenProblem
from towerhall_server.operators.bans import Visitor
from towerhall_server.room.seats import Person


class Refusal(msgspec.Struct, frozen=True):
    """The reason of the close, and what is said before it."""

    reason: str
    message: ServerError


BANNED = Refusal("banned", error("banned"))
STORE_UNAVAILABLE = Refusal("store_unavailable", error("store_unavailable"))


def busy() -> Refusal:
    return Refusal("busy", error("busy", retry_ms=10_000))


def let_in(hall: Hall, level: int, token: str, visitor: Visitor) -> Person | Refusal:
    """Who somebody is. Whoever is let in has to be let out again."""
    if level < OLDEST_LEVEL:
        levels = error("level_too_old", oldest=OLDEST_LEVEL, newest=LEVEL)
        return Refusal("level_too_old", levels)
    person = hall.tokens.read(token)
    if isinstance(person, TokenProblem):
        return Refusal("unauthorized", error("unauthorized", detail=person.detail))
    if person.id in hall.bans:
        return BANNED
    if not hall.sockets_of_identity.enter(person.id):
        return busy()
    hall.bans.enter(person.id, visitor)
    return person


def let_out(hall: Hall, identity: str, visitor: Visitor) -> None:
    hall.bans.leave(identity, visitor)
    hall.sockets_of_identity.leave(identity)
