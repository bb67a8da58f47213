"""Observability of a running server: counts, log lines, and a private port.

Nothing here may name a person, a token or a hidden card.
"""

__all__ = [
    "families",
    "http_counts",
    "lag",
    "logs",
    "meters",
    "port",
    "private",
]
