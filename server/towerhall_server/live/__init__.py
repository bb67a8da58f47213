"""Rooms at work on this node: everything about a room that awaits.

`actor` is the one loop of a room, `follower` keeps it in step with its log, `audience` shows it.
No decision about a room may live here: those are pure, in `room`.
"""

__all__ = [
    "absence",
    "actor",
    "archive",
    "bucket",
    "chain_told",
    "chat",
    "clock",
    "directory",
    "follower",
    "history",
    "inbox",
    "loading",
    "node",
    "record_store",
    "records",
    "replica",
    "replies",
    "search_process",
    "searches",
    "viewer",
]
