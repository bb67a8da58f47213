"""The record of a finished game: its format, its narration, and its verification.

Pure: no clock, chance, input, output or asyncio. `live.records` makes and keeps records.
"""

__all__ = [
    "findings",
    "format",
    "narrate",
    "verify",
]
