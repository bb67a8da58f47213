"""`towerhall play`: sit at a table from a terminal, or from a pipe."""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from getpass import getuser
from threading import Thread
from typing import Any

import msgspec

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
  towerhall play --quick --seats 3        sit down with others who want the same
  towerhall play --list                   the rooms that anybody may join
  towerhall play --mine                   the rooms in which you have a place
  towerhall play --link                   a link that carries your seats to another device, once
  towerhall play 'LINK'                   follow such a link, or an invitation to a room
  yes '#1' | towerhall play --bots easy --bot-delay-ms 0
                                          a pipe plays too: the first offer, every time, at once

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
    parser.add_argument(
        "code", nargs="?", help="the room, or a link; otherwise a new one is opened"
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--quick", action="store_true", help="be seated beside others")
    ways.add_argument("--list", action="store_true", help="only list the rooms that are open")
    ways.add_argument("--mine", action="store_true", help="only list your own rooms")
    ways.add_argument("--link", action="store_true", help="only print a link to yourself")
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
    parser.add_argument(
        "--bot-delay-ms", type=int, help="bots of a new room think so long: 0 to 10000 (600)"
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


class Goal(msgspec.Struct, frozen=True):
    """Where somebody wants to go: a code, an invitation, or a link to oneself."""

    code: str = ""
    key: str = ""
    link: str = ""


def goal_of(text: str | None, key: str) -> Goal:
    """What was given in place of a room. Links may have the address of the page before them."""
    _, mark, fragment = (text or "").partition("#/")
    if not mark:
        return Goal((text or "").upper(), key)
    match fragment.split("/"):
        case ["r", code]:
            return Goal(code.upper(), key)
        case ["r", code, of_room]:
            return Goal(code.upper(), of_room)
        case ["l", link]:
            return Goal(link=link)
    raise UsageError("this link leads nowhere; links end in #/r/CODE, #/r/CODE/KEY or #/l/CODE")


async def _play(service: Service, arguments: argparse.Namespace) -> None:
    goal = goal_of(arguments.code, arguments.key)
    if arguments.list:
        return _show_rooms(await service.rooms())
    token, room = await _become(service, goal.link, arguments)
    goal = Goal(room or goal.code, goal.key)
    if arguments.mine or (arguments.code and not goal.code):
        return _show_rooms(await service.my_rooms(token))
    if arguments.link:
        made = await service.new_link(token, goal.code)
        return print(f"good once, for ten minutes: {service.url}{made.link}")
    bots = [level for level in arguments.bots.split(",") if level]
    if goal.code and (bots or arguments.quick):
        raise UsageError("--bots and --quick find a room themselves; leave the code away")
    if not goal.code:
        goal = await _new_goal(service, token, bots, arguments)
    async with connect(service.url, goal.code, token, key=goal.key) as table:
        if table.status == "waiting" and not arguments.watch:
            if table.seat is None:
                await table.sit()
            await table.ready()
            for level in bots:
                await table.add_bot(level)
            if bots:
                await table.start()
        await play(table, _lines(), _out, patient=not sys.stdin.isatty())
    return None


async def _become(service: Service, link: str, arguments: argparse.Namespace) -> tuple[str, str]:
    """The token of whoever plays, and the room that a link leads to."""
    if link:
        guest = await service.use_link(link)
        print(f"to stay {guest.name}: export TOWERHALL_TOKEN={guest.token}", flush=True)
        return guest.token, guest.room
    token = os.environ.get("TOWERHALL_TOKEN", "")
    if token:
        return token, ""
    if arguments.mine or arguments.link:
        raise UsageError("set TOWERHALL_TOKEN: somebody new has no rooms")
    guest = await service.guest(arguments.name or getuser())
    if sys.stdin.isatty():
        print(f"to come back as {guest.name}: export TOWERHALL_TOKEN={guest.token}")
    return guest.token, ""


async def _new_goal(
    service: Service, token: str, bots: list[str], arguments: argparse.Namespace
) -> Goal:
    """A room that was not there before, or one in which somebody waits for company."""
    options = None if arguments.preset is None else {"preset": arguments.preset}
    if arguments.quick:
        if bots or arguments.private:
            raise UsageError("--quick is for people whom you do not know: no bots, nothing private")
        place = await service.quickplay(
            token,
            arguments.game,
            seats=arguments.seats,
            options=options,
            turn_seconds=arguments.turn_seconds,
        )
        print(f"room {place.code}, seat {place.seat}", flush=True)
        return Goal(place.code)
    room = await service.create_room(
        token,
        arguments.game,
        seats=arguments.seats or max(2, len(bots) + 1),
        options=options,
        turn_seconds=arguments.turn_seconds,
        bot_delay_ms=arguments.bot_delay_ms,
        private=arguments.private,
    )
    print(f"room {room.code}" + (f", key {room.key}" if room.key else ""), flush=True)
    if room.key:
        print(f"invite by {service.url}{room.invite}", flush=True)
    return Goal(room.code, room.key)


def _show_rooms(rooms: list[dict[str, Any]]) -> None:
    """One line for each; names are other people's, and must not steer a terminal."""
    if not rooms:
        print("there are none")
    for room in rooms:
        names = ", ".join(room["names"]) or "nobody"
        turn = ", your turn" if room.get("your_turn") else ""
        line = f"{room['code']}  {room['game']}  {room['status']}{turn}"
        line += f"  {room['taken']} of {room['seats']} seats: {names}"
        print("".join(mark if mark.isprintable() else "?" for mark in line))


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
