"""`towerhall play`: sit at a table from a terminal, or from a pipe."""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from getpass import getuser
from threading import Thread

from towerhall_client.connection import connect
from towerhall_client.errors import TowerhallError
from towerhall_client.http import Service
from towerhall_client.player import play
from towerhall_server.cli.arguments import DEFAULT_URL, Subparsers, find_service
from towerhall_server.cli.errors import UsageError

EXAMPLES = """\
examples:
  towerhall play                          a new room; type `bot easy`, `start`, then `?`
  towerhall play --bots easy,hard         a new room against two bots, started at once
  towerhall play ABCDEF --name Ann        take a seat in a room
  towerhall play ABCDEF --watch           only look
  yes '#1' | towerhall play --bots easy   a pipe plays too: the first offer, every time

Type ? for what can be said at the prompt. With TOWERHALL_TOKEN set you are who you were before;
the token is printed when you come for the first time, at a terminal.
"""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "play",
        help="play in a terminal, line by line",
        description="Creates or joins a room at a running service and plays by lines of text.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("code", nargs="?", help="the room; without it a new one is opened")
    parser.add_argument("--url", default=DEFAULT_URL, help=f"of the service ({DEFAULT_URL})")
    parser.add_argument("--name", help="how others see you (default: your login)")
    parser.add_argument("--watch", action="store_true", help="do not take a seat")
    parser.add_argument("--key", default="", help="of a private room")
    parser.add_argument("--game", default="five_towers", help="of a new room (five_towers)")
    parser.add_argument("--seats", type=int, help="of a new room (default: 2, or bots + 1)")
    parser.add_argument("--preset", help="named options of a new room")
    parser.add_argument(
        "--turn-seconds", type=int, help="a clock for a new room: 5 to 600, or 3600 to 1209600"
    )
    parser.add_argument("--private", action="store_true", help="the new room is not listed")
    parser.add_argument(
        "--bots", default="", metavar="LEVELS", help="fill a new room with these and start"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    service = find_service(arguments.url)
    try:
        asyncio.run(_play(service, arguments))
    except TowerhallError as error:
        raise UsageError(str(error)) from error
    return 0


async def _play(service: Service, arguments: argparse.Namespace) -> None:
    at_terminal = sys.stdin.isatty()
    token = os.environ.get("TOWERHALL_TOKEN", "")
    if not token:
        guest = await service.guest(arguments.name or getuser())
        token = guest.token
        if at_terminal:
            print(f"to come back as {guest.name}: export TOWERHALL_TOKEN={token}")
    bots = [level for level in arguments.bots.split(",") if level]
    code, key = arguments.code, arguments.key
    if code is None:
        room = await service.create_room(
            token,
            arguments.game,
            seats=arguments.seats or max(2, len(bots) + 1),
            options=None if arguments.preset is None else {"preset": arguments.preset},
            turn_seconds=arguments.turn_seconds,
            private=arguments.private,
        )
        code, key = room.code, room.key
        print(f"room {code}" + (f", key {key}" if key else ""), flush=True)
    elif bots:
        raise UsageError("--bots fills a new room; leave the code away")
    async with connect(service.url, code.upper(), token, key=key) as table:
        if table.seat is None and table.status == "waiting" and not arguments.watch:
            await table.sit()
            await table.ready()
            for level in bots:
                await table.add_bot(level)
            if bots:
                await table.start()
        await play(table, _lines(), _out, patient=not at_terminal)


def _out(line: str) -> None:
    print(line, flush=True)


async def _lines() -> AsyncIterator[str]:
    """Lines of standard input, be it a terminal, a pipe or a file.

    A thread reads them: not everything that can be standard input can be waited for.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue(maxsize=1)

    def read() -> None:
        try:
            while True:
                line = sys.stdin.readline()
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
                if not line:
                    return
        except (RuntimeError, OSError, ValueError, CancelledError):
            return  # the game is over, and so is the loop

    Thread(target=read, daemon=True).start()
    while line := await lines.get():
        yield line
