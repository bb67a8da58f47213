"""Everything that an operator can set: settings, their parsers, and other lobbies.

Nothing here may start anything.
"""

__all__ = [
    "operator_options",
    "settings",
    "texts",
]
