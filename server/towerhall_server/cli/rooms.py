"""`towerhall rooms`: look at the rooms of a store, close one, take them to other stores."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.on_store import (
    NotDoneError,
    actions_of,
    on_store,
    printable,
    time_text,
)
from towerhall_server.cli.progress import Progress, progress

if TYPE_CHECKING:
    from towerhall_server.live.node import Node

EXAMPLES = """\
examples:
  towerhall rooms ls
  towerhall rooms ls --redis-url redis://localhost:6379/0 --json
  towerhall rooms show KXWMPA
  towerhall rooms export KXWMPA --out game.json && towerhall verify game.json
  towerhall rooms export KXWMPA room.jsonl
  towerhall rooms export --all rooms.jsonl
  towerhall rooms import rooms.jsonl --redis-url redis://localhost:6380/0
  towerhall rooms move KXWMPA --to redis://localhost:6380/0
  towerhall rooms move --all --to redis://localhost:6380/0
  towerhall rooms close KXWMPA --reason maintenance

The command reads the store itself: that of --redis-url (or TOWERHALL_REDIS_URL), or the store of a
server that runs on --data-folder (or TOWERHALL_DATA_FOLDER) on this machine. Servers keep running.
Their viewers see a closed room as closed immediately. Hidden information of a game is never shown.

`export CODE` writes the record of a finished game. With a FILE, export writes whole rooms as JSON
lines, running ones too, and leaves them as they are. Such a file holds hidden information and
secrets: its owner alone may read it. `import` brings such rooms into another store of any engine.
`move` fences a room in its old store, so that no server there goes on with it, brings it to the
new store and checks it there. Players come back by themselves once the proxy sends them to servers
on the new store, which need the same TOWERHALL_TOKEN_KEYS. If a move fails, repeat it.

Exit status: 0 if done, 1 if there is no such room, no record yet or a room stays, 2 if the store
cannot be reached.
"""
CLOSED = "closed_by_operator"
SECONDS = 30.0
"""Timeout for one room. After it the store counts as unreachable."""
AT_ONCE = 32
STDOUT = "-"


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "rooms",
        help="list, show, export and close rooms of a store",
        description="For operators of the service: lists, exports and closes rooms of a store.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    action = actions_of(parser, "rooms", EXAMPLES)

    listing = action("ls", "list all rooms")
    listing.add_argument(
        "--listed", action="store_true", help="only the rooms that the lobby shows"
    )
    listing.add_argument("--json", action="store_true", help="one JSON document per line")
    listing.set_defaults(act=_list)

    showing = action("show", "show one room")
    showing.add_argument("--json", action="store_true", help="as a JSON document")
    showing.set_defaults(act=_show)

    exporting = action("export", "write the record of a finished game, or whole rooms to a FILE")
    exporting.add_argument("words", nargs="+", metavar="CODE|FILE", help="CODE, CODE FILE, or FILE")
    exporting.add_argument("--all", action="store_true", help="all rooms of the store")
    exporting.add_argument(
        "--out",
        metavar="FILE",
        help="output file; - is standard output (default: towerhall-CODE.json)",
    )
    exporting.add_argument("--force", action="store_true", help="replace an existing file")
    exporting.set_defaults(act=_export)

    importing = action("import", "bring rooms from a file into a store")
    importing.add_argument("file", metavar="FILE", type=Path, help="file that export wrote")
    importing.set_defaults(act=_import)

    moving = action("move", "take a room to another store while people play")
    moving.add_argument("code", metavar="CODE", nargs="?", help="the six letters of the room")
    moving.add_argument("--all", action="store_true", help="all rooms of the store")
    moving.add_argument("--to", metavar="URL", required=True, help="the new store")
    moving.set_defaults(act=_move)

    closing = action("close", "end a room without a result, wherever it is served")
    closing.add_argument(
        "--reason",
        default=CLOSED,
        metavar="CODE",
        help=f"reason that all viewers see, as small letters, digits and _ (default: {CLOSED})",
    )
    closing.set_defaults(act=_close)
    for about_one in (showing, closing):
        about_one.add_argument("code", metavar="CODE", help="the six letters of the room")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from towerhall_server.cli.store_rooms import opened

    async def act(url: str) -> None:
        async with opened(url) as node:
            await arguments.act(node, arguments)

    return on_store(arguments, act)


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
    names = ", ".join(map(printable, room.get("names", ())))
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
        "made": time_text(document.pop("made_ms")),
        "last": time_text(document.pop("last_ms")),
    }
    for name, value in document.items():
        if value != "":
            print(f"{name.replace('_', ' '):<14} {printable(str(value))}")


def _seat(seat: dict[str, Any]) -> str:
    if "name" not in seat:
        return f"{seat['seat']} free"
    marks = [f"bot {seat['bot']}"] if "bot" in seat else []
    marks += ["host"] if "host" in seat else []
    return f"{seat['seat']} {seat['name']}" + (f" ({', '.join(marks)})" if marks else "")


async def _export(node: "Node", arguments: argparse.Namespace) -> None:
    from towerhall_server.live.record_store import RecordNotReadyError, record_of

    words: list[str] = arguments.words
    if len(words) > 2 or (arguments.all and len(words) != 1):
        raise UsageError("write CODE, CODE FILE, or --all FILE")
    if arguments.all or len(words) == 2:
        codes = list(await node.log.rooms()) if arguments.all else [_code(words[0])]
        await _export_rooms(node, codes, Path(words[-1]), force=arguments.force)
        return
    code = _code(words[0])
    try:
        data = await _asked(node, code, record_of(node.log, code, node.games))
    except RecordNotReadyError:
        raise NotDoneError(
            f"the game of {code} goes on: its record would reveal hidden information"
        ) from None
    if data is None:
        raise NotDoneError(f"there is no room {code}, and no record of one")
    if arguments.out == STDOUT:
        sys.stdout.buffer.write(data)
    else:
        _write(Path(arguments.out or f"towerhall-{code}.json"), data, force=arguments.force)


async def _export_rooms(node: "Node", codes: list[str], target: Path, *, force: bool) -> None:
    from towerhall_server.cli.moving import export, new_file

    shown, written = Progress(len(codes), "export rooms"), 0
    with os.fdopen(new_file(target, force=force), "wb") as file:
        async for code, line in export(node.log, sorted(codes)):
            file.write(line)
            written += bool(line)
            shown.show(max(written, 1))
            if not line:
                print(f"room {code} is gone", file=sys.stderr)
    print(f"{target}: {written} {'room' if written == 1 else 'rooms'}")
    if not written:
        raise NotDoneError("there is no such room")


async def _import(node: "Node", arguments: argparse.Namespace) -> None:
    from towerhall_server.cli.moving import MoveError, clocks_of, in_step, parcels_in, put
    from towerhall_server.eventlog.moving import NotAdoptedError

    taken, left = 0, 0
    clocks = clocks_of(parcels_in(arguments.file))
    for parcel in in_step(parcels_in(arguments.file), clocks):
        try:
            await put(node, parcel)
        except (MoveError, NotAdoptedError) as error:
            left += 1
            print(f"room {parcel.room} is not taken: {error}")
        else:
            taken += 1
    print(f"{taken} {'room is' if taken == 1 else 'rooms are'} there")
    if left:
        raise NotDoneError(f"{left} {'room was' if left == 1 else 'rooms were'} not taken")


async def _move(node: "Node", arguments: argparse.Namespace) -> None:
    from towerhall_server.cli.moving import MoveError, move, other_store
    from towerhall_server.config.texts import safe_url

    if arguments.all == bool(arguments.code):
        raise UsageError("name a room, or --all")
    to, stayed = safe_url(arguments.to), 0
    async with other_store(arguments.to) as there:
        codes = sorted(await node.log.rooms()) if arguments.all else [_code(arguments.code)]
        for code in codes:
            try:
                commits, seconds = await move(node, there, code, to)
            except MoveError as error:
                stayed += 1
                print(error)
            else:
                print(f"room {code}: {commits} commits are at {to}; away for {seconds:.3f} s")
    if stayed:
        raise NotDoneError(f"{stayed} of {len(codes)} rooms could not be moved")


def _write(target: Path, data: bytes, *, force: bool) -> None:
    try:
        with target.open("wb" if force else "xb") as file:
            file.write(data)
    except FileExistsError:
        raise UsageError(f"{target} exists: choose another --out, or --force") from None
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None
    print(f"{target}: {len(data)} bytes; `towerhall verify {target}` checks it")


async def _close(node: "Node", arguments: argparse.Namespace) -> None:
    from towerhall_server.access.audit import SERVICE, Audit
    from towerhall_server.cli.store_rooms import close
    from towerhall_server.room.closing import is_reason

    code, reason = _code(arguments.code), arguments.reason
    if not is_reason(reason):
        raise UsageError(
            f"--reason {reason!r}: it is a code of 1 to 40 small letters, digits and _, and none of"
            " the reasons of rooms themselves (abandoned, agreed)"
        )
    seq = await _asked(node, code, close(node, code, reason))
    if seq is not None:
        Audit(node.log).note(SERVICE, "room_closed", room=code, reason=reason)
    told = "was over already" if seq is None else f"is closed by commit {seq}: {reason}"
    print(f"room {code} {told}")


async def _asked(node: "Node", code: str, asking: Coroutine[Any, Any, Any]) -> Any:
    """Run one request about a room, and report failures in plain words."""
    from towerhall_server.cli.store_rooms import MovedRoomError, NoRoomError, UnreadableRoomError
    from towerhall_server.store.errors import StoreError

    try:
        async with asyncio.timeout(SECONDS):
            return await asking
    except NoRoomError:
        kept = await node.log.record(code) is not None
        left = "; its record is left, which export writes" if kept else ""
        raise NotDoneError(f"there is no room {code}{left}") from None
    except MovedRoomError as error:
        raise NotDoneError(f"room {code} is not here: {error}") from None
    except UnreadableRoomError as error:
        raise NotDoneError(f"room {code} cannot be read by this version: {error}") from None
    except TimeoutError:
        # A step under way may still happen; to ask again is harmless.
        raise StoreError(
            f"no answer within {SECONDS:g} s; check the state of the room again"
        ) from None


def _code(text: str) -> str:
    from towerhall_server.room.codes import CODE_LENGTH, is_code

    code = text.upper()
    if not is_code(code):
        raise UsageError(
            f"{text!r} is not the code of a room: a code has {CODE_LENGTH} letters, no I or O"
        )
    return code
