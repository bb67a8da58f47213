"""`towerhall log`: check the public log of a service, and cosign it as a witness."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from towerhall_client.errors import ServiceError
from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.on_store import printable

if TYPE_CHECKING:
    from towerhall_client.public_log import LogFault, RemoteLog

EXAMPLES = """\
examples:
  towerhall log verify https://towers.example
  towerhall log verify https://towers.example --since towers.log --record towerhall-KXWMPA.json
  towerhall log witness https://towers.example --key witness.key --name witness.example/w1
  towerhall log witness https://towers.example --key witness.key --state towers.witness --post

A service enters every room into its public log when it opens the room, and the seal of the record
when the room ends. `verify` reads the whole log. `witness` looks whether the log still continues
what it was at the last look, and then signs that it has seen it; run it now and then.

Exit status: 0 if all is well, 1 if the log is not what it must be, 2 if it could not be looked at.
"""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "log",
        help="check or witness the public log of a service",
        description="Checks the public log of a service, which anyone can read.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    verify = _action(actions, "verify", "read the whole log and check it", _verify)
    verify.add_argument(
        "--since",
        metavar="FILE",
        help="state of the last look; created if missing, updated if all is well",
    )
    verify.add_argument("--record", metavar="FILE", help="a record that must be in the log")
    witness = _action(actions, "witness", "check that the log continues, and cosign it", _witness)
    witness.add_argument("--key", metavar="FILE", required=True, help="the witness's private key")
    witness.add_argument("--name", default="", help="make a new key, in this name")
    witness.add_argument("--state", metavar="FILE", help="state of the last look")
    witness.add_argument("--post", action="store_true", help="send the cosignature to the service")


def _action(
    actions: "Subparsers[argparse.ArgumentParser]",
    name: str,
    text: str,
    act: "Callable[[RemoteLog, argparse.Namespace], Awaitable[None]]",
) -> argparse.ArgumentParser:
    shown = [line for line in EXAMPLES.splitlines() if f"towerhall log {name}" in line]
    added: argparse.ArgumentParser = actions.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog="\n".join(["examples:", *shown]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    added.add_argument("url", metavar="URL", help="the service, as in a browser")
    added.set_defaults(run=_run, act=act)
    return added


def _run(arguments: argparse.Namespace) -> int:
    try:
        import cryptography  # noqa: F401 - only a full install can check signatures
    except ModuleNotFoundError:
        raise UsageError("signatures cannot be checked: install towerhall[server]") from None
    from towerhall_client.public_log import LogFault, RemoteLog

    try:
        remote = RemoteLog(arguments.url)
    except ValueError as error:
        raise UsageError(f"{error}; write it like https://towers.example") from None
    try:
        asyncio.run(arguments.act(remote, arguments))
    except ServiceError as error:
        raise UsageError(f"the log could not be read: {error}") from None
    except LogFault as fault:
        _tell(fault, arguments)
        return 1
    print("OK")
    return 0


def _tell(fault: "LogFault", arguments: argparse.Namespace) -> None:
    """Print the finding, and the proof of it for others."""
    print(f"NOT OK  {fault.code}: {printable(fault.detail)}")
    kept = getattr(arguments, "state", None) or getattr(arguments, "since", None)
    if fault.evidence and kept:
        path = Path(f"{kept}.evidence")
        path.write_text("\n".join(fault.evidence))
        print(f"the signed checkpoints that show it are kept in {path}")
    for note in fault.evidence:
        print("\n".join(printable(line) for line in note.splitlines()), file=sys.stderr)


async def _verify(remote: "RemoteLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.cli.log_looks import verify

    await verify(remote, _path(arguments.since), _path(arguments.record))


async def _witness(remote: "RemoteLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.cli.log_looks import witness

    key, state = Path(arguments.key), _path(arguments.state)
    await witness(remote, key, arguments.name, state, post=arguments.post)


def _path(name: str | None) -> Path | None:
    return None if name is None else Path(name)
