"""Mistakes in a command line."""


class UsageError(Exception):
    """The message says what is wrong and what would be right; no traceback is shown."""
