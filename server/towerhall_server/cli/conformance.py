"""`towerhall conformance`: whether a client, or a server, keeps to the protocol."""

import argparse

from towerhall_conformance import command
from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "conformance",
        help="check a client or a server against the protocol",
        description=command.DESCRIPTION,
        epilog=command.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        return command.run(arguments)
    except ValueError as error:
        raise UsageError(str(error)) from None
