"""What a person may have got wrong on the command line."""


class UsageError(Exception):
    """The message says what is wrong and what would be right; no traceback is shown."""
