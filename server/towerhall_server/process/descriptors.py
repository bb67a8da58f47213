"""The number of connections that fit into one process: each needs a file descriptor, and the system
limits those. Connections are counted elsewhere."""

import resource
from contextlib import suppress
from typing import Final

WANTED: Final = 65_536
KEPT: Final = 96
"""Descriptors for everything but connections: the store, logs, health checks, other processes."""


def room_for_connections() -> int:
    """Raise the limit of descriptors as far as allowed. Returns the number of connections that
    fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # some systems allow less than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    given = wanted if soft == resource.RLIM_INFINITY else soft
    return max(given - KEPT, given // 2)
