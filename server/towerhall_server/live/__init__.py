"""Rooms at work on this node: everything about a room that awaits.

`actor` is the one loop of a room, `inbox` the way into it, `writer` appends to its log, `follower`
reads the log, `audience` shows the room.
No decision about a room may live here: those are pure, in `room`.
"""

__all__ = [
    "absence",
    "actor",
    "archive",
    "bucket",
    "chat",
    "directory",
    "fan_out",
    "follower",
    "history",
    "items",
    "loading",
    "node",
    "record_store",
    "records",
    "replica",
    "replies",
    "search_process",
    "searches",
    "viewer",
    "writer",
]
