"""Logs of rooms in the store, and all other facts that the store keeps by name.

Keys and scripts live here, and in no package above. No rule of a room or of a game may live here.
"""

__all__ = [
    "answers",
    "append",
    "buckets",
    "due",
    "entry",
    "keys",
    "lobby",
    "log",
    "moving",
    "notifications",
    "operators",
    "pushes",
    "scripts",
    "shared",
    "single_use",
    "unarchived",
]
