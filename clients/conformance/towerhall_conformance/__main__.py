"""`python -m towerhall_conformance`, for those who have no server."""

import sys

from towerhall_conformance.command import main

if __name__ == "__main__":
    sys.exit(main())
