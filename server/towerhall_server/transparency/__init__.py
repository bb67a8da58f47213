"""The public log: every room's commitment when it opens, and its record's seal when it ends.

`store` has the keys in the store and the scripts, `seen` a node's knowledge of the log,
`publishing` adds leaves and signs checkpoints, `reading` answers requests. No room and no rule of a
game is known here: rooms name their leaves as text.
"""

__all__ = [
    "reading",
    "service",
    "store",
]
