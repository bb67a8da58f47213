"""`python -m towerhall_server` is the same as `towerhall`."""

import sys

from towerhall_server.cli.main import main

sys.exit(main())
