"""`towerhall`: one command with subcommands. Each lives in a module of its own beside this one."""

import argparse
import os
import sys
from collections.abc import Sequence

from towerhall_server.cli import (
    audit,
    backup,
    bans,
    bots,
    conformance,
    games,
    load,
    log,
    operators,
    play,
    playthrough,
    projections,
    reports,
    rooms,
    serve,
    simulate,
    tokens,
    verify,
)
from towerhall_server.cli.errors import UsageError
from towerhall_server.discovery import BadFolderError

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

MODULES = (
    serve,
    play,
    bots,
    load,
    verify,
    conformance,
    log,
    rooms,
    bans,
    reports,
    projections,
    tokens,
    operators,
    audit,
    backup,
    games,
    playthrough,
    simulate,
)


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="towerhall",
        description="Tabletop games for online lobbies.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in MODULES:
        module.add_parser(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    # Numeric libraries read this when they are loaded. More threads only slow small matrices down.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return _run(arguments)
    except BrokenPipeError:
        # The reader of our output is gone (`| head`), so an error message would not be read. The
        # interpreter must not flush the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _run(arguments: Sequence[str] | None) -> int:
    try:
        parsed = build_parser().parse_args(arguments)
        try:
            status: int = parsed.run(parsed)
        except (UsageError, BadFolderError) as error:
            print(f"towerhall {parsed.command}: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print(f"\ntowerhall {parsed.command}: stopped", file=sys.stderr)
            return 130
        return status
    finally:
        sys.stdout.flush()
