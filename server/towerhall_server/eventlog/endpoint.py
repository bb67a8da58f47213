"""Where an engine is and how it wants to be greeted, read from a URL by redis-py's own code.

So `redis://`, `rediss://` and `unix://` mean here what they mean there, with user, password,
database, certificates and timeouts. All knowledge of redis-py's connections ends in this file.
"""

from ssl import SSLContext

import msgspec
from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection

from towerhall_server.eventlog.commands import packed
from towerhall_server.eventlog.store import ANSWER_SECONDS, CONNECT_SECONDS, connect


class Endpoint(msgspec.Struct, frozen=True):
    """One engine. Its address is a path or a host."""

    path: str
    host: str
    port: int
    tls: SSLContext | None
    greeting: tuple[bytes, ...]
    """Commands to be answered before any other: who we are, and which database."""
    connect_seconds: float
    answer_seconds: float


def endpoint(url: str) -> Endpoint:
    """Raises `ValueError` or `TypeError` for what is no such URL."""
    # Made for its settings alone: it is never connected.
    settings = connect(url).connection_pool.make_connection()  # type: ignore[no-untyped-call]
    path, host, port, tls = "", "", 0, None
    match settings:
        case UnixDomainSocketConnection():
            path = settings.path
        case Connection():
            host, port = settings.host, settings.port
            tls = settings.ssl_context.get() if isinstance(settings, SSLConnection) else None
        case _:
            raise TypeError(f"{type(settings).__name__} is not known here")
    greeting = []
    if settings.username or settings.password:
        user = (settings.username,) if settings.username else ()
        greeting.append(packed("AUTH", *user, settings.password or ""))
    if settings.client_name:
        greeting.append(packed("CLIENT", "SETNAME", settings.client_name))
    if int(settings.db):
        greeting.append(packed("SELECT", int(settings.db)))
    return Endpoint(
        path=path,
        host=host,
        port=port,
        tls=tls,
        greeting=tuple(greeting),
        connect_seconds=settings.socket_connect_timeout or CONNECT_SECONDS,
        answer_seconds=settings.socket_timeout or ANSWER_SECONDS,
    )
