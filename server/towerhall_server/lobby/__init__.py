"""The lobby: which rooms exist, and how people meet in them.

No raw store call may live here: `eventlog.lobby` makes them.
"""

__all__ = [
    "board",
    "caller",
    "events",
    "games",
    "live",
    "my_rooms",
    "people",
    "places",
    "quickplay",
]
