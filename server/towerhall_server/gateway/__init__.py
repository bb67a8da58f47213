"""The border of a server: `http` answers requests, `ws` carries messages, both share the rest.

No decision about rooms, people or rates may live here: `access` and `live` make them.
"""

__all__ = [
    "hall",
    "http",
    "responses",
    "ws",
]
