"""`towerhall`: one command with subcommands. Each lives in a module of its own beside this one."""

import argparse
import os
import sys
from collections.abc import Sequence

from towerhall_server.cli import bots, games, play, playthrough, rooms, serve, simulate, verify
from towerhall_server.cli.errors import UsageError

EXAMPLES = """\
examples:
  towerhall serve
  towerhall play --bots easy,hard
  towerhall bots --rooms 20 --seats 4
  towerhall rooms ls
  towerhall games
  towerhall simulate five_towers --bots planner,greedy,greedy --games 200 --seed 1
  towerhall playthrough five_towers --bots hard,easy --seed 7

`towerhall COMMAND --help` explains a command and shows examples of its own.
"""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="towerhall",
        description="Tabletop games for online lobbies.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (serve, play, bots, verify, rooms, games, playthrough, simulate):
        module.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    try:
        return _run(arguments)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): nothing is left to say to anybody, and the
        # interpreter must not try to say the rest when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _run(arguments: Sequence[str] | None) -> int:
    try:
        parsed = build_parser().parse_args(arguments)
        try:
            status: int = parsed.run(parsed)
        except UsageError as error:
            print(f"towerhall {parsed.command}: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print(f"\ntowerhall {parsed.command}: stopped", file=sys.stderr)
            return 130
        return status
    finally:
        sys.stdout.flush()
