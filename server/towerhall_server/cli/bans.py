"""`towerhall bans`: list, add and lift bans."""

import argparse
import json
import re
from time import time
from typing import TYPE_CHECKING, Any

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.on_store import (
    NotDoneError,
    actions_of,
    on_log,
    printable,
    time_text,
)

if TYPE_CHECKING:
    from towerhall_server.eventlog.log import EventLog

EXAMPLES = """\
examples:
  towerhall bans ls
  towerhall bans ls --json
  towerhall bans add b3JpZ2luMTE --reason threats
  towerhall bans lift b3JpZ2luMTE
  towerhall bans lift b3JpZ2luMTE --operator acme

ID is the public id of a person: 11 characters (write -- before an id that begins with a dash). A
ban that this command adds applies to the whole service. An operator of another lobby can ban its
own people from the whole service, and other people from its own rooms only. All servers apply a
change within two seconds, and close the connections of banned people.

The command reads the store itself: that of --redis-url (or TOWERHALL_REDIS_URL), or the store of a
server that runs on --data-folder (or TOWERHALL_DATA_FOLDER) on this machine.

Exit status: 0 if done, 1 if there is no such ban, 2 if the store cannot be reached.
"""
ID = re.compile(r"[A-Za-z0-9_-]{11}")
MOST_REASON = 200


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "bans",
        help="list, add and lift bans from the service",
        description="For operators of the service: lists, adds and lifts bans.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = actions_of(parser, "bans", EXAMPLES)

    listing = action("ls", "list all bans, those of operators too")
    listing.add_argument("--json", action="store_true", help="one JSON document per line")
    listing.set_defaults(act=_list)

    adding = action("add", "ban a person from the whole service")
    adding.add_argument("--reason", default="", metavar="TEXT", help="kept with the ban")
    adding.set_defaults(act=_add)

    lifting = action("lift", "lift a ban")
    lifting.add_argument(
        "--operator", default="", metavar="NAME", help="lift the ban by this operator"
    )
    lifting.set_defaults(act=_lift)
    for about_one in (adding, lifting):
        about_one.add_argument("id", metavar="ID", help="public id of a person, 11 characters")
    parser.set_defaults(run=on_log)


async def _list(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.eventlog.operators import OperatorStore

    bans = sorted(await OperatorStore(log).bans(), key=lambda ban: (ban.time, ban.id))
    for ban in bans:
        shown: dict[str, Any] = {
            "id": ban.id,
            "scope": f"rooms of {ban.operator}" if ban.rooms_only else "service",
            "by": ban.operator or "service",
            "time": ban.time,
            "reason": ban.reason,
        }
        if arguments.json:
            print(json.dumps(shown))
        else:
            when = time_text(shown.pop("time"))
            line = "{id}  {scope:<20} by {by:<12} {reason}".format(**shown)
            print(f"{when}  {printable(line)}".rstrip())


async def _add(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.access.audit import SERVICE, Audit
    from towerhall_server.eventlog.operators import Ban, OperatorStore

    identity, reason = person_id(arguments.id), arguments.reason
    if len(reason) > MOST_REASON:
        raise UsageError(f"--reason has at most {MOST_REASON} characters")
    await OperatorStore(log).ban(Ban(identity, "", round(time() * 1000), reason))
    Audit(log).note(SERVICE, "banned", person=identity, scope="service", reason=reason)
    print(f"{identity} is banned from the service")


async def _lift(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.access.audit import SERVICE, Audit
    from towerhall_server.eventlog.operators import OperatorStore

    identity, operator = person_id(arguments.id), arguments.operator
    by = operator or "the service"
    if not await OperatorStore(log).unban(operator, identity):
        raise NotDoneError(f"there is no ban of {identity} by {by}")
    Audit(log).note(SERVICE, "ban_lifted", person=identity, by=by)
    print(f"the ban of {identity} by {by} is lifted")


def person_id(text: str) -> str:
    if not ID.fullmatch(text):
        raise UsageError(f"{printable(text)!r} is not the id of a person: an id has 11 characters")
    return text
