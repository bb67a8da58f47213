"""A server like any other with little patience: it removes a room soon after its end, and people
count as absent soon after they left. Run as a module."""

import sys

from towerhall_server.cli.main import main
from towerhall_server.gateway.http import routes
from towerhall_server.live import absence
from towerhall_server.room import steps

if __name__ == "__main__":
    steps.KEPT_MS = 300  # type: ignore[misc]
    absence.ABSENT_SECONDS = routes.ABSENT_SECONDS = 2.0  # type: ignore[misc, attr-defined]
    sys.exit(main())
