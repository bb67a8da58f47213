"""WebSockets: bytes in, messages out, and the life of a connection.

`session` and `lobby_session` are pure. No route may live here.
"""

__all__ = [
    "connection",
    "events_connection",
    "listener",
    "lobby_connection",
    "request_socket",
    "socket",
]
