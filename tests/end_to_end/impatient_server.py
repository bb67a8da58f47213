"""A server like any other, but with less patience than the 20 s of P-74: run as a module."""

import sys

from towerhall_server.cli.main import main
from towerhall_server.gateway.ws import outbox

if __name__ == "__main__":
    outbox.LAG_SECONDS = 0.5
    sys.exit(main())
