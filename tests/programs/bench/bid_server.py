"""A server like any other that also finds the games of this folder. Run as a module.

Only benchmarks start it: the bid game is what all servers of the part `peers` play.
"""

import sys
from pathlib import Path

from towerhall_server import games
from towerhall_server.cli.main import main

FOLDER = Path(__file__).with_name("games")


def find_more() -> None:
    """Let discovery find the games of the benchmarks, in this process."""
    games.__path__ = [*games.__path__, str(FOLDER)]


if __name__ == "__main__":
    find_more()
    sys.exit(main())
