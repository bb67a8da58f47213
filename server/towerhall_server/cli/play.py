"""`towerhall play`: sit at a table from a terminal, or from a pipe."""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from getpass import getuser
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec

from towerhall_client.connection import Table, connect
from towerhall_client.errors import TowerhallError
from towerhall_client.evidence_folder import EvidenceFolder, default_folder
from towerhall_client.http import Service
from towerhall_client.player import play
from towerhall_server.cli.arguments import (
    DEFAULT_URL,
    Subparsers,
    add_game_argument,
    find_service,
)
from towerhall_server.cli.errors import UsageError

EXAMPLES = """\
examples:
  towerhall play                          a new room; type `bot easy`, `start`, then `?`
  towerhall play --bots easy,hard         a new room against two bots, started at once
  towerhall play ABCDEF --name Ann        take a seat in a room
  towerhall play ABCDEF --watch           watch a room
  towerhall play --quick --seats 3        play with others who look for a game
  towerhall play --list                   list the open rooms
  towerhall play --mine                   list the rooms in which you have a seat
  towerhall play --link                   print a link that moves your seats to another device
  towerhall play 'LINK'                   follow such a link, or an invitation to a room
  yes '#1' | towerhall play --bots easy --bot-delay-ms 0
                                          play from a pipe: always the first offer

Type ? for a list of commands. Set TOWERHALL_TOKEN to play under the same identity again; the
command prints the token the first time, at a terminal.
"""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "play",
        help="play in a terminal, line by line",
        description="Creates or joins a room at a running service and plays by lines of text.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("code", nargs="?", help="the room, or a link (default: a new room)")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--quick", action="store_true", help="find a table with other players")
    ways.add_argument("--list", action="store_true", help="only list the open rooms")
    ways.add_argument("--mine", action="store_true", help="only list your own rooms")
    ways.add_argument("--link", action="store_true", help="only print a link to yourself")
    parser.add_argument("--url", default=DEFAULT_URL, help=f"address ({DEFAULT_URL})")
    parser.add_argument("--name", help="the name that others see (default: your login)")
    parser.add_argument("--watch", action="store_true", help="watch, without a seat")
    parser.add_argument("--key", default="", help="key of a private room")
    parser.add_argument(
        "--evidence",
        type=Path,
        metavar="FOLDER",
        help="folder for evidence of the game, to compare with the record"
        " (default: in your data folder)",
    )
    add_game_argument(parser, "of a new room")
    parser.add_argument(
        "--seats", type=int, help="seats of a new room (default: bots + 1, at least 2)"
    )
    parser.add_argument("--preset", help="named options of a new room")
    parser.add_argument(
        "--turn-seconds", type=int, help="a clock for a new room: 5 to 600, or 3600 to 1209600"
    )
    parser.add_argument(
        "--bot-delay-ms", type=int, help="delay of the bots in a new room: 0 to 10000 (600)"
    )
    parser.add_argument("--private", action="store_true", help="the new room is not listed")
    parser.add_argument(
        "--bots", default="", metavar="LEVELS", help="fill a new room with these bots and start"
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
    """The destination of the player: a code, an invitation, or a link to their own identity."""

    code: str = ""
    key: str = ""
    link: str = ""


def goal_of(text: str | None, key: str) -> Goal:
    """Parse the argument that names a room. A link may begin with the address of the page."""
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
    raise UsageError(
        "this is not a link to a room; links end in #/r/CODE, #/r/CODE/KEY or #/l/CODE"
    )


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
        return print(f"works once, for ten minutes: {service.url}{made.link}")
    bots = [level for level in arguments.bots.split(",") if level]
    if goal.code and (bots or arguments.quick):
        raise UsageError("--bots and --quick choose the room; leave out the code")
    if not goal.code:
        goal = await _new_goal(service, token, bots, arguments)
    evidence = _evidence_of(arguments)
    async with connect(service.url, goal.code, token, key=goal.key, evidence=evidence) as table:
        if table.status == "waiting" and not arguments.watch:
            if table.seat is None:
                await table.sit()
            await table.ready()
            for level in bots:
                await table.add_bot(level)
            if bots:
                await table.start()
        await play(table, _lines(), _out, patient=not sys.stdin.isatty())
        _tell_evidence(evidence, table)
    return None


def _evidence_of(arguments: argparse.Namespace) -> EvidenceFolder:
    """Return the file for this player's evidence."""
    return EvidenceFolder(arguments.evidence or default_folder())


def _tell_evidence(evidence: EvidenceFolder, table: Table) -> None:
    """Print where the record will be."""
    kept = table.evidence
    if table.status == "over" and kept is not None:
        _out(f"your evidence is in {evidence.file_of(kept.uid)}")


async def _become(service: Service, link: str, arguments: argparse.Namespace) -> tuple[str, str]:
    """The token of the player, and the room that a link leads to."""
    if link:
        guest = await service.use_link(link)
        print(f"to stay {guest.name}: export TOWERHALL_TOKEN={guest.token}", flush=True)
        return guest.token, guest.room
    token = os.environ.get("TOWERHALL_TOKEN", "")
    if token:
        return token, ""
    if arguments.mine or arguments.link:
        raise UsageError("set TOWERHALL_TOKEN: a new guest has no rooms")
    guest = await service.guest(arguments.name or getuser())
    if sys.stdin.isatty():
        print(f"to come back as {guest.name}: export TOWERHALL_TOKEN={guest.token}")
    return guest.token, ""


async def _new_goal(
    service: Service, token: str, bots: list[str], arguments: argparse.Namespace
) -> Goal:
    """Create a room, or find one in which a player waits for others."""
    options = None if arguments.preset is None else {"preset": arguments.preset}
    if arguments.quick:
        if bots or arguments.private:
            raise UsageError("--quick finds other players: leave out --bots and --private")
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
        seats=arguments.seats or max(await fewest_seats(service, arguments.game), len(bots) + 1),
        options=options,
        turn_seconds=arguments.turn_seconds,
        bot_delay_ms=arguments.bot_delay_ms,
        private=arguments.private,
    )
    _evidence_of(arguments).keep_creation(room)
    print(f"room {room.code}" + (f", key {room.key}" if room.key else ""), flush=True)
    if room.key:
        print(f"invite by {service.url}{room.invite}", flush=True)
    return Goal(room.code, room.key)


async def fewest_seats(service: Service, name: str) -> int:
    """Two, or the nearest number that the game takes. The service itself refuses unknown games."""
    spans = [game["seats"] for game in await service.games() if game["name"] == name]
    return min(range(spans[0][0], spans[0][1] + 1), key=lambda n: abs(n - 2)) if spans else 2


def _show_rooms(rooms: list[dict[str, Any]]) -> None:
    """One line for each room. Names of other people must not control the terminal."""
    if not rooms:
        print("no rooms")
    for room in rooms:
        names = ", ".join(room["names"]) or "no players"
        turn = ", your turn" if room.get("your_turn") else ""
        line = f"{room['code']}  {room['game']}  {room['status']}{turn}"
        line += f"  {room['taken']} of {room['seats']} seats: {names}"
        print("".join(mark if mark.isprintable() else "?" for mark in line))


def _out(line: str) -> None:
    print(line, flush=True)


async def _lines() -> AsyncIterator[str]:
    """Yield lines of standard input: a terminal, a pipe or a file.

    A thread reads them: asyncio cannot wait for every kind of standard input.
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
