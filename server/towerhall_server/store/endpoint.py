"""The address and greeting of an engine, read from a URL by redis-py's own code.

`redis://`, `rediss://` and `unix://` mean here the same as there, with user, password,
database, certificates and timeouts. Only this file knows redis-py's connections.
"""

from ssl import SSLContext
from typing import Final

import msgspec
from redis.asyncio.connection import Connection, SSLConnection, UnixDomainSocketConnection

from towerhall_server.store.check import ANSWER_SECONDS, CONNECT_SECONDS, connect
from towerhall_server.store.resp import packed

_SELECT: Final = b"*2\r\n$6\r\nSELECT\r\n"


class Endpoint(msgspec.Struct, frozen=True):
    """One engine. Its address is a path or a host."""

    path: str
    host: str
    port: int
    tls: SSLContext | None
    greeting: tuple[bytes, ...]
    """Commands sent before any other: authentication, and the choice of the database."""
    connect_seconds: float
    answer_seconds: float


def without_database(where: Endpoint) -> Endpoint:
    """Return the same endpoint before a database was chosen: some engines have none to choose."""
    greeting = tuple(each for each in where.greeting if not each.startswith(_SELECT))
    return msgspec.structs.replace(where, greeting=greeting)


def endpoint(url: str) -> Endpoint:
    """Read a URL. Raises `ValueError` or `TypeError` for an invalid one."""
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
