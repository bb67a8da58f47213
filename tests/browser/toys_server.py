"""`towerhall` with two games more, which the page has no folder for: it must do without pictures.

`python -m tests.browser.toys_server serve ...` runs it.
"""

import sys
from dataclasses import replace
from typing import Final

from tests.games import dice_duel, tile_duel
from towerhall_server import app
from towerhall_server.cli.main import main
from towerhall_server.game import AnyGame, discover

TOYS: Final[dict[str, AnyGame]] = {
    "dice_duel": dice_duel.GAME,
    # Slow commands are decided in other processes, which know nothing of toys.
    "tile_duel": replace(tile_duel.GAME, slow=lambda state, seat, command: False),
}


def with_toys() -> dict[str, AnyGame]:
    """All games of the service, and the toys."""
    return discover() | TOYS


if __name__ == "__main__":
    vars(app)["discover"] = with_toys
    sys.exit(main())
