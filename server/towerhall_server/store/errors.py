"""Failures of the store, as callers see them."""


class StoreError(Exception):
    """No answer came: the call may have happened or not."""


class StoreDownError(StoreError):
    """Connection refused: the store is down for all nodes."""


class StoreRefusedError(StoreError):
    """The engine answered with an error: full, loading, read-only, or a fault in a script."""


class StoreFullError(StoreRefusedError):
    """The engine is out of memory for writes. It still answers reads and removals."""


def refused(why: str) -> StoreRefusedError:
    """Map an error of the engine to an exception."""
    return (StoreFullError if why.startswith("OOM ") else StoreRefusedError)(why)
