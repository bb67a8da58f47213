"""Operators of other lobbies: their keys, and webhooks that are derived from the logs.

No raw store call may live here: `eventlog.operators` makes them.
"""

__all__ = [
    "deliveries",
    "notices",
    "operator",
    "sender",
]
