"""`towerhall projections`: histories, ratings and leaderboards, made from the journal."""

import argparse
import json
import secrets
import sys
from typing import TYPE_CHECKING

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.on_store import actions_of, on_log

if TYPE_CHECKING:
    from towerhall_server.eventlog.log import EventLog
    from towerhall_server.regulars.ends import End

EXAMPLES = """\
examples:
  towerhall projections show
  towerhall projections show --json
  towerhall projections rebuild

Servers keep a slip of each finished game in a journal, and make histories, statistics, ratings and
leaderboards of it. `rebuild` removes these and makes all of them anew from the journal, with the
same result. Servers go on meanwhile; until it is done they show histories and ratings in part. If
the command is interrupted, a server goes on with it.

The command works on the store itself: that of --redis-url (or TOWERHALL_REDIS_URL), or the store of
a server that runs on --data-folder (or TOWERHALL_DATA_FOLDER) on this machine.

Exit status: 0 if done, 2 if the store cannot be reached.
"""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "projections",
        help="histories and ratings: show where they stand, make them anew",
        description="For operators of the service: histories, statistics, ratings, leaderboards.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = actions_of(parser, "projections", EXAMPLES)
    showing = action("show", "show how many slips there are, and how many are applied")
    showing.add_argument("--json", action="store_true", help="as a JSON document")
    showing.set_defaults(act=_show)
    rebuilding = action("rebuild", "make all projections anew from the journal")
    rebuilding.set_defaults(act=_rebuild)
    parser.set_defaults(run=on_log)


async def _show(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.regulars.journal import Journal

    journal = Journal(log)
    place, length = await journal.place(), await journal.length()
    if arguments.json:
        shown = {"slips": length, "applied": place.number, "rebuilding": bool(place.wiping)}
        print(json.dumps(shown))
        return
    print(f"{length} slips, {place.number} applied")
    if place.wiping:
        print("a rebuild has been ordered and is not done")


async def _rebuild(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.regulars.consumer import Consumer
    from towerhall_server.regulars.journal import Journal
    from towerhall_server.regulars.people import PeopleStore

    async def no_room(code: str) -> "End | None":
        raise NotImplementedError("a rebuild reads no rooms")

    journal = Journal(log)
    length = await journal.length()
    print(f"rebuilding from {length} slips", file=sys.stderr)
    await journal.order_rebuild()
    await Consumer(journal, PeopleStore(log), no_room, f"rebuild {secrets.token_hex(4)}").finish()
    print(f"{(await journal.place()).number} slips are applied")
