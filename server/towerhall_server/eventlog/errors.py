"""The ways in which the store fails a caller."""


class StoreError(Exception):
    """No answer came: what was asked for may have happened or not."""


class StoreDownError(StoreError):
    """Nobody listens where the engine should be: it is not there for others either."""


class StoreRefusedError(StoreError):
    """The engine answered with an error: full, loading, read-only, or a fault in a script."""
