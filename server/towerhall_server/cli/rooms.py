"""`towerhall rooms`: look at the rooms of a store, export the record of one, close one."""

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.progress import progress

if TYPE_CHECKING:
    from towerhall_server.room.node import Node

EXAMPLES = """\
examples:
  towerhall rooms ls
  towerhall rooms ls --redis-url redis://localhost:6379/0 --json
  towerhall rooms show KXWMPA
  towerhall rooms export KXWMPA --out game.json && towerhall verify game.json
  towerhall rooms close KXWMPA --reason maintenance

The store is asked directly: that of --redis-url (or TOWERHALL_REDIS_URL), or the one that a server
runs on --data-folder (or TOWERHALL_DATA_FOLDER) on this machine. Servers go on meanwhile, and show
a room that is closed here as closed at once. Nothing that is hidden in a game is ever shown.

Exit status: 0 if it was done, 1 if there is no such room or no record yet, 2 if the store cannot
be asked.
"""
REASON = re.compile(r"[a-z][a-z0-9_]{0,39}")
CLOSED = "closed_by_operator"
SECONDS = 30.0
"""For one room. A store that does not answer for so long is not there."""
AT_ONCE = 32
STDOUT = "-"


class NotDoneError(Exception):
    """It cannot be done; the message says why."""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "rooms",
        help="look at the rooms of a store, export or close one",
        description="For operators: looks at rooms in the store, exports records, closes rooms.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    store = argparse.ArgumentParser(add_help=False)
    store.add_argument("--redis-url", metavar="URL", help="the store that the servers share")
    store.add_argument("--data-folder", metavar="FOLDER", help="of a server with its own store")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, text: str) -> argparse.ArgumentParser:
        examples = [line for line in EXAMPLES.splitlines() if f"towerhall rooms {name}" in line]
        added: argparse.ArgumentParser = actions.add_parser(
            name,
            parents=[store],
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog="\n".join(["examples:", *examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        return added

    listing = action("ls", "list all rooms")
    listing.add_argument("--listed", action="store_true", help="only those that the lobby shows")
    listing.add_argument("--json", action="store_true", help="one JSON document per line")
    listing.set_defaults(act=_list)

    showing = action("show", "tell what is known of a room")
    showing.add_argument("--json", action="store_true", help="as a JSON document")
    showing.set_defaults(act=_show)

    exporting = action("export", "write the record of a finished game")
    exporting.add_argument(
        "--out",
        metavar="FILE",
        help="where to; - is standard output (default: towerhall-CODE.json)",
    )
    exporting.add_argument("--force", action="store_true", help="replace a file that is there")
    exporting.set_defaults(act=_export)

    closing = action("close", "end a room without a result, wherever it is served")
    closing.add_argument(
        "--reason",
        default=CLOSED,
        metavar="CODE",
        help=f"shown to all, as small letters, digits and _ (default: {CLOSED})",
    )
    closing.set_defaults(act=_close)
    for about_one in (showing, exporting, closing):
        about_one.add_argument("code", metavar="CODE", help="the six letters of the room")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    # Only here, because no other command needs a store, and every command would wait for it.
    from towerhall_server.cli.store_rooms import opened, url_of_store
    from towerhall_server.eventlog.data_folder import EngineError
    from towerhall_server.eventlog.errors import StoreError
    from towerhall_server.setting_texts import safe_url
    from towerhall_server.settings import SettingsError, read_place

    flags = {"redis_url": arguments.redis_url, "data_folder": arguments.data_folder}
    try:
        redis_url, folder = read_place(os.environ, flags)
        url = url_of_store(redis_url, folder)
    except (SettingsError, EngineError) as error:
        raise UsageError(str(error)) from error

    async def act() -> None:
        async with opened(url) as node:
            await arguments.act(node, arguments)

    try:
        asyncio.run(act())
    except StoreError as error:
        where = safe_url(redis_url) if redis_url else f"of the server on {folder}"
        raise UsageError(f"the store {where} does not answer: {error}; is it running?") from None
    except NotDoneError as problem:
        print(f"towerhall rooms: {problem}", file=sys.stderr)
        return 1
    return 0


async def _list(node: "Node", arguments: argparse.Namespace) -> None:
    from towerhall_server.cli.store_rooms import chunks, listed, outline, unlisted

    rooms = await listed(node)
    others = () if arguments.listed else await unlisted(node, rooms)
    parts = list(chunks(others, AT_ONCE))
    for part in progress(parts, len(parts), "read rooms") if len(parts) > 1 else parts:
        outlines = await asyncio.gather(*(outline(node, code) for code in part))
        rooms |= {each["code"]: each for each in outlines if each is not None}
    if arguments.json:
        for code in sorted(rooms):
            print(json.dumps(rooms[code]))
        return
    for code in sorted(rooms):
        print(_line(rooms[code]))
    print(f"{len(rooms)} {'room' if len(rooms) == 1 else 'rooms'}", file=sys.stderr)


def _line(room: dict[str, Any]) -> str:
    taken = f"{room['taken']}/{room['seats']}" if "seats" in room else "-"
    private = "private" if room.get("private") else "public"
    names = ", ".join(map(_printable, room.get("names", ())))
    game, status = room.get("game", "-"), room["status"]
    return f"{room['code']}  {status:<10} {game:<16} {taken:<5} {private:<8} {names}".rstrip()


async def _show(node: "Node", arguments: argparse.Namespace) -> None:
    from towerhall_server.cli.store_rooms import details, find

    code = _code(arguments.code)
    found = await _asked(node, code, find(node, code))
    document = details(found)
    if arguments.json:
        print(json.dumps(document))
        return
    document |= {
        "seats": "; ".join(map(_seat, document["seats"])),
        "options": ", ".join(f"{name}={value}" for name, value in document["options"].items()),
        "to_act": ", ".join(map(str, document["to_act"])),
        "made": _time(document.pop("made_ms")),
        "last": _time(document.pop("last_ms")),
    }
    for name, value in document.items():
        if value != "":
            print(f"{name.replace('_', ' '):<14} {_printable(str(value))}")


def _seat(seat: dict[str, Any]) -> str:
    if "name" not in seat:
        return f"{seat['seat']} free"
    marks = [f"bot {seat['bot']}"] if "bot" in seat else []
    marks += ["host"] if "host" in seat else []
    return f"{seat['seat']} {seat['name']}" + (f" ({', '.join(marks)})" if marks else "")


async def _export(node: "Node", arguments: argparse.Namespace) -> None:
    from towerhall_server.room.record import RecordNotReadyError, record_of

    code = _code(arguments.code)
    try:
        data = await _asked(node, code, record_of(node.log, code, node.games))
    except RecordNotReadyError:
        raise NotDoneError(
            f"the game of {code} goes on: its record would tell what nobody may know yet"
        ) from None
    if data is None:
        raise NotDoneError(f"there is no room {code}, and no record of one")
    if arguments.out == STDOUT:
        sys.stdout.buffer.write(data)
    else:
        _write(Path(arguments.out or f"towerhall-{code}.json"), data, force=arguments.force)


def _write(target: Path, data: bytes, *, force: bool) -> None:
    try:
        with target.open("wb" if force else "xb") as file:
            file.write(data)
    except FileExistsError:
        raise UsageError(f"{target} is there already: choose another --out, or --force") from None
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None
    print(f"{target}: {len(data)} bytes; `towerhall verify {target}` checks it")


async def _close(node: "Node", arguments: argparse.Namespace) -> None:
    from towerhall_server.cli.store_rooms import close

    code, reason = _code(arguments.code), arguments.reason
    if not REASON.fullmatch(reason):
        raise UsageError(
            f"--reason {reason!r}: it is a code of 1 to 40 small letters, digits and _, and begins"
            " with a letter"
        )
    seq = await _asked(node, code, close(node, code, reason))
    told = "was over already" if seq is None else f"is closed by commit {seq}: {reason}"
    print(f"room {code} {told}")


async def _asked(node: "Node", code: str, asking: Coroutine[Any, Any, Any]) -> Any:
    """What is asked of one room, with what may go wrong in plain words."""
    from towerhall_server.cli.store_rooms import NoRoomError, UnreadableRoomError
    from towerhall_server.eventlog.errors import StoreError

    try:
        async with asyncio.timeout(SECONDS):
            return await asking
    except NoRoomError:
        kept = await node.log.record(code) is not None
        left = "; its record is left, which export writes" if kept else ""
        raise NotDoneError(f"there is no room {code}{left}") from None
    except UnreadableRoomError as error:
        raise NotDoneError(f"room {code} cannot be read by this version: {error}") from None
    except TimeoutError:
        # What was under way may still happen; to ask again is harmless.
        raise StoreError(f"nothing in {SECONDS:g} s, so look again what became of it") from None


def _code(text: str) -> str:
    from towerhall_server.room.codes import CODE_LENGTH, is_code

    code = text.upper()
    if not is_code(code):
        raise UsageError(f"{text!r} is no code of a room: it has {CODE_LENGTH} letters, no I or O")
    return code


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _printable(text: str) -> str:
    """Names of strangers must not talk to the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
