"""How thoroughly tests look: quickly, or with all the time that it takes."""

import os

LONG = "TOWERHALL_TEST_LONG"


def is_long() -> bool:
    """Whether somebody wants to know more exactly, and has the time."""
    return bool(os.environ.get(LONG))


def examples(few: int, many: int) -> int:
    """Few, as each run of all tests has new ones; many where that variable is set."""
    return many if is_long() else few
