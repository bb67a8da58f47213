"""`towerhall` of some months later: Five Towers has new rules, and still holds the old ones.

`python -m tests.versions.newer_server serve ...` runs it.
"""

import sys
from dataclasses import replace

from towerhall_server.cli.main import main
from towerhall_server.games import five_towers

if __name__ == "__main__":
    V1 = five_towers.GAME
    five_towers.GAME = replace(V1, version=2, previous=V1)
    sys.exit(main())
