"""`towerhall operators`: the keys of operators, and how a key ends before it leaves the settings.

No key is ever an argument or printed: a key is named by its SHA-256 digest.
"""

import argparse
import os
import re
from typing import TYPE_CHECKING

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.on_store import actions_of, on_log

if TYPE_CHECKING:
    from towerhall_server.eventlog.log import EventLog

EXAMPLES = """\
examples:
  towerhall operators ls
  towerhall operators revoke acme
  towerhall operators revoke acme --tokens
  towerhall operators revoke acme --key-digest DIGEST

All servers refuse a revoked key within two seconds, and for ever. Then remove it from
TOWERHALL_OPERATOR_KEYS and give the operator a new key. Without --key-digest the command revokes
all keys of the operator in TOWERHALL_OPERATOR_KEYS, which must be set here as on the servers. A
digest is the SHA-256 of the key in hexadecimal. --tokens also revokes all tokens that the operator
has issued up to now, and closes the connections of its people.

The command reads the store itself: that of --redis-url (or TOWERHALL_REDIS_URL), or the store of a
server that runs on --data-folder (or TOWERHALL_DATA_FOLDER) on this machine.

Exit status: 0 if done, 2 if the store cannot be reached or no key is known.
"""
DIGEST = re.compile(r"[0-9a-f]{64}")


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "operators",
        help="list and revoke the keys of operators",
        description="For operators of the service: lists and revokes the keys of other lobbies.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = actions_of(parser, "operators", EXAMPLES)
    listing = action("ls", "list the keys in TOWERHALL_OPERATOR_KEYS by their digests")
    listing.set_defaults(act=_list)
    revoking = action("revoke", "end keys of an operator")
    revoking.add_argument("name", metavar="NAME", help="name of the operator")
    revoking.add_argument(
        "--key-digest", metavar="SHA256", help="digest of the key (default: all keys)"
    )
    revoking.add_argument(
        "--tokens", action="store_true", help="also revoke the tokens that the operator has issued"
    )
    revoking.set_defaults(act=_revoke)
    parser.set_defaults(run=on_log)


def _digests() -> list[tuple[str, str]]:
    """Return the names of operators and the digests of their keys, from the settings."""
    from towerhall_server.config.settings import SettingsError, read_operator_keys
    from towerhall_server.operators.operator import key_digest

    try:
        return [(name, key_digest(key)) for name, key in read_operator_keys(os.environ)]
    except SettingsError as error:
        raise UsageError(str(error)) from error


async def _list(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.access.revocations import RevocationStore, of_key

    store = RevocationStore(log)
    for name, digest in _digests():
        revoked = "  revoked" if await store.after(of_key(digest)) else ""
        print(f"{name:<16} {digest}{revoked}")


async def _revoke(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.access.audit import SERVICE, Audit
    from towerhall_server.access.revocations import RevocationStore, of_key, of_operator
    from towerhall_server.config.operator_options import NAME

    name, digest = arguments.name, arguments.key_digest
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not the name of an operator")
    if digest is not None and not DIGEST.fullmatch(digest):
        raise UsageError("--key-digest has 64 characters, as sha256sum prints them")
    ended = [digest] if digest else [found for owner, found in _digests() if owner == name]
    if not ended:
        raise UsageError(
            f"TOWERHALL_OPERATOR_KEYS has no key of {name} here: set it as the servers have it, or"
            " give --key-digest"
        )
    names = [of_key(each) for each in ended]
    if arguments.tokens:
        names.append(of_operator(name))
    await RevocationStore(log).revoke(*names)
    Audit(log).note(SERVICE, "keys_revoked", operator=name, digests=ended, tokens=arguments.tokens)
    for each in ended:
        print(f"key {each} of {name} is revoked")
    if arguments.tokens:
        print(f"all tokens that {name} has issued are revoked")
