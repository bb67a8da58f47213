"""Who is let in by a greeting, to a room or to the lobby: the checks that need no store.

They come in this order: what the client speaks, whether the token holds, whether the person is
banned, whether they have too many connections.
"""

import msgspec

from towerhall_protocol.level import LEVEL, OLDEST_LEVEL
from towerhall_protocol.messages import ServerError
from towerhall_server.gateway.hall import Hall
from towerhall_server.gateway.session import error
from towerhall_server.gateway.tokens import Identity, TokenProblem
from towerhall_server.operators.bans import Visitor


class Refusal(msgspec.Struct, frozen=True):
    """The reason of the close, and what is said before it."""

    reason: str
    message: ServerError


BANNED = Refusal("banned", error("banned"))
STORE_UNAVAILABLE = Refusal("store_unavailable", error("store_unavailable"))


def busy() -> Refusal:
    return Refusal("busy", error("busy", retry_ms=10_000))


def let_in(hall: Hall, level: int, token: str, visitor: Visitor) -> Identity | Refusal:
    """Who somebody is. Whoever is let in has to be let out again."""
    if level < OLDEST_LEVEL:
        levels = error("level_too_old", oldest=OLDEST_LEVEL, newest=LEVEL)
        return Refusal("level_too_old", levels)
    identity = hall.tokens.read(token)
    if isinstance(identity, TokenProblem):
        return Refusal("unauthorized", error("unauthorized", detail=identity.detail))
    if identity.id in hall.bans:
        return BANNED
    if not hall.sockets_of_identity.enter(identity.id):
        return busy()
    hall.bans.enter(identity.id, visitor)
    return identity


def let_out(hall: Hall, identity: str, visitor: Visitor) -> None:
    hall.bans.leave(identity, visitor)
    hall.sockets_of_identity.leave(identity)
