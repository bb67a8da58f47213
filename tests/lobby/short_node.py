"""A server like any other, but one that waits for nobody: run as a module."""

import sys

from towerhall_server.cli.main import main
from towerhall_server.lobby import arrivals

if __name__ == "__main__":
    arrivals.COMING_MS = 2_000  # type: ignore[misc]
    arrivals.SWEEP_SECONDS = 0.2  # type: ignore[misc]
    sys.exit(main())
