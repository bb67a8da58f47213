"""A room as a value: commands in, events out, the state that they make, and what viewers see of it.

Pure: no clock, chance, input, output or asyncio. A running room is in `live`.
"""

__all__ = [
    "aliases",
    "closing",
    "codes",
    "commands",
    "commits",
    "debts",
    "decision",
    "events",
    "explaining",
    "gate",
    "pace",
    "parameters",
    "rematch",
    "sandbox",
    "search",
    "seats",
    "state",
    "steps",
    "table",
    "view",
]
