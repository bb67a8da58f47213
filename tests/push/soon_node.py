"""A server like any other, but one that tells who is away at once: run as a module."""

import sys

from towerhall_server import app
from towerhall_server.cli.main import main
from towerhall_server.push.telling import PushPace

if __name__ == "__main__":
    app.PUSH_PACE = PushPace(rest=0.2, look=0.1, ask=0.3)  # type: ignore[misc]
    sys.exit(main())
