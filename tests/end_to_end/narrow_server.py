"""A server like any other that may have 1,024 descriptors, as systems give by default: run as a
module."""

import resource
import sys

from towerhall_server.cli.main import main

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    sys.exit(main())
