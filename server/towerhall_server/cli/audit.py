"""`towerhall audit`: acts on people, rooms, tokens and keys, and who did them."""

import argparse
import json
import re
from datetime import UTC, datetime
from time import time
from typing import TYPE_CHECKING

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.on_store import on_log, printable, store_flags, time_text

if TYPE_CHECKING:
    from towerhall_server.eventlog.log import EventLog

EXAMPLES = """\
examples:
  towerhall audit
  towerhall audit --since 2d
  towerhall audit --since 2026-11-19T06:00 --json

Prints one line for each act, the oldest first: server starts with their settings, rooms that
operators opened, closed rooms, tokens that operators issued, links to other devices made and used,
bans, and revocations. The log holds no token, key, address, external id or chat. The source of an
act is the service, a player or an operator. The log keeps the newest 100,000 entries of each, for
400 days.

The command reads the store itself: that of --redis-url (or TOWERHALL_REDIS_URL), or the store of a
server that runs on --data-folder (or TOWERHALL_DATA_FOLDER) on this machine.

Exit status: 0 if the log was read, 2 if the store cannot be reached.
"""
AGO = re.compile(r"([0-9]{1,6})([smhd])")
UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "audit",
        parents=[store_flags()],
        help="read the audit log: acts on people, rooms, tokens and keys",
        description="For operators of the service: reads the audit log.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--since", default="", metavar="TIME", help="30m, 12h, 2d, or a date and time of UTC"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document per line")
    parser.set_defaults(run=on_log, act=_read)


async def _read(log: "EventLog", arguments: argparse.Namespace) -> None:
    from towerhall_server.access.audit import Audit

    for entry in await Audit(log).read(since_ms(arguments.since, time())):
        if arguments.json:
            shown = {"time": entry.time, "source": entry.source, "act": entry.act}
            print(json.dumps(shown | {"about": entry.about}))
        else:
            about = "  ".join(f"{name}={_text(value)}" for name, value in entry.about.items())
            line = f"{entry.source:<16} {entry.act:<14} {about}"
            print(f"{time_text(entry.time)}  {printable(line)}".rstrip())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def since_ms(text: str, now: float) -> int:
    """Parse a time into ms since 1970; 0 means from the beginning."""
    if not text:
        return 0
    ago = AGO.fullmatch(text)
    if ago is not None:
        return round(1000 * (now - int(ago[1]) * UNIT_SECONDS[ago[2]]))
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"--since {printable(text)!r}: write 30m, 12h, 2d, or a time like 2026-11-19T06:00"
        ) from None
    return round(1000 * (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
