"""`towerhall reports`: what people have reported of each other, with the lines in question."""

import argparse
import json
import re
from typing import TYPE_CHECKING

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.on_store import NotDoneError, actions_of, on_log, printable, time_text

if TYPE_CHECKING:
    from towerhall_server.eventlog.log import EventLog

EXAMPLES = """\
examples:
  towerhall reports ls
  towerhall reports ls --json
  towerhall reports ls --operator acme
  towerhall reports settle 1790000000000-0

A report names room and person, by the id that `towerhall bans add` takes, and holds the lines of
chat in question. Reports from rooms of other lobbies wait for their operators, who read them over
HTTP. Settle a report when it is dealt with: it is then removed.

The command works on the store itself: that of --redis-url (or TOWERHALL_REDIS_URL), or the store of
a server that runs on --data-folder (or TOWERHALL_DATA_FOLDER) on this machine.

Exit status: 0 if done, 1 if there is no such report, 2 if the store cannot be reached.
"""
NUMBER = re.compile(r"[0-9]{1,15}-[0-9]{1,10}")


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "reports",
        help="read and settle reports about people",
        description="For operators of the service: reads and settles reports about people.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = actions_of(parser, "reports", EXAMPLES)
    listing = action("ls", "list the reports of a queue, oldest first")
    listing.add_argument("--json", action="store_true", help="one JSON document per line")
    listing.set_defaults(act=_list)
    settling = action("settle", "remove a report that is dealt with")
    settling.add_argument("number", metavar="NUMBER", help="number of the report, as `ls` shows it")
    settling.set_defaults(act=_settle)
    for each in (listing, settling):
        each.add_argument(
            "--operator", default="", metavar="NAME", help="the queue of this operator"
        )
    parser.set_defaults(run=on_log)


async def _list(log: "EventLog", arguments: argparse.Namespace) -> None:
    import msgspec

    from towerhall_server.regulars.reports import Reports

    reports, after = Reports(log), ""
    while page := await reports.page(arguments.operator, after):
        after = page[-1].number
        for report in page:
            if arguments.json:
                print(json.dumps(msgspec.to_builtins(report)))
                continue
            about = f"{report.person}  {report.name}: {report.reason}"
            line = f"{report.number}  {report.room or '-'}  {about}"
            print(f"{time_text(report.time)}  {printable(line)}  {printable(report.text)}".rstrip())
            for said in report.lines:
                print(f"    {time_text(said.time)}  {printable(said.text)}")


async def _settle(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.access.audit import SERVICE, Audit
    from towerhall_server.regulars.reports import Reports

    number = arguments.number
    if not NUMBER.fullmatch(number):
        raise UsageError(f"{printable(number)!r} is not the number of a report")
    if not await Reports(log).settle(arguments.operator, number):
        raise NotDoneError(f"there is no report {number}")
    Audit(log).note(SERVICE, "report_settled", number=number)
    print(f"report {number} is settled")
