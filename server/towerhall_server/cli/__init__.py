"""The command line: the one place that may import both server and client.

No rule and no raw store call may live here.
"""

__all__ = [
    "main",
]
