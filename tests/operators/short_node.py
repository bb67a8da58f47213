"""A server like any other, but one that does not take its time: run as a module."""

import sys

from towerhall_server import app
from towerhall_server.cli.main import main
from towerhall_server.operators.deliveries import Pace

if __name__ == "__main__":
    app.PACE = Pace(first=0.1, most=0.5, lease=2.0, sweep=0.5, look=0.1)  # type: ignore[misc]
    sys.exit(main())
