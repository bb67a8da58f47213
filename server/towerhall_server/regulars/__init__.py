"""People who come back: histories, statistics, ratings, friends, blocks, reports, erasure.

`ends` reads the end of a game from its room, `slips` and `ratings` are pure, `journal` and `people`
have the keys in the store, `consumer` turns ends into slips and slips into projections. No route
and no running room may live here, and no work is done before a game has ended.
"""

__all__ = [
    "consumer",
    "ends",
    "journal",
    "people",
    "profiles",
    "reports",
    "service",
]
