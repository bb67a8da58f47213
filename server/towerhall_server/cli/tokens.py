"""`towerhall tokens`: revoke all tokens of a person."""

import argparse
from typing import TYPE_CHECKING

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.bans import person_id
from towerhall_server.cli.on_store import actions_of, on_log

if TYPE_CHECKING:
    from towerhall_server.eventlog.log import EventLog

EXAMPLES = """\
examples:
  towerhall tokens revoke b3JpZ2luMTE

ID is the public id of a person: 11 characters (write -- before an id that begins with a dash). The
command revokes all tokens of this person. Every server applies this within two seconds and closes
the connections that use them. An operator of another lobby can issue new tokens to its people. A
guest comes back as another person.

The command reads the store itself: that of --redis-url (or TOWERHALL_REDIS_URL), or the store of a
server that runs on --data-folder (or TOWERHALL_DATA_FOLDER) on this machine.

Exit status: 0 if done, 2 if the store cannot be reached.
"""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "tokens",
        help="revoke all tokens of a person",
        description="For operators of the service: revokes tokens.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = actions_of(parser, "tokens", EXAMPLES)
    revoking = action("revoke", "end all tokens of a person")
    revoking.add_argument("id", metavar="ID", help="public id of a person, 11 characters")
    revoking.set_defaults(act=_revoke)
    parser.set_defaults(run=on_log)


async def _revoke(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.access.audit import SERVICE, Audit
    from towerhall_server.access.revocations import RevocationStore, of_person

    identity = person_id(arguments.id)
    await RevocationStore(log).revoke(of_person(identity))
    Audit(log).note(SERVICE, "tokens_revoked", person=identity)
    print(f"all tokens of {identity} are revoked")
