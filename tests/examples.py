"""How many examples a property is tried with."""

import os

LONG = "TOWERHALL_TEST_LONG"


def examples(few: int, many: int) -> int:
    """Few, as each run of all tests has new ones; many where that variable is set."""
    return many if os.environ.get(LONG) else few
