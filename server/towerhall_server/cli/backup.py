"""`towerhall backup` and `towerhall restore`: copies of a store, tried out when they are made."""

import argparse
import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import copyfile
from time import monotonic, time
from typing import TYPE_CHECKING, Any

import msgspec

from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.on_store import store_flags, time_text
from towerhall_server.cli.progress import Progress

if TYPE_CHECKING:
    from towerhall_server.cli.holdings import About, Holdings, Part
    from towerhall_server.store.backup import Copied
    from towerhall_server.store.data_folder import Version

BACKUP_EXAMPLES = """\
examples:
  towerhall backup backups/monday
  towerhall backup backups/monday --data-folder ./data --with-keys
  towerhall backup backups/monday --redis-url redis://admin@localhost:6379/0
  towerhall backup backups/monday --redis-url redis+cluster://admin@n1.example,n2.example

Servers and players go on meanwhile. The store is that of --redis-url (or TOWERHALL_REDIS_URL), or
the one on --data-folder (or TOWERHALL_DATA_FOLDER), whether a server runs there or not. A store of
your own is read as by a replica: the url needs a user that may SYNC. Behind sentinels, and of each
primary of a cluster, a replica is read where one is in step; the copy of a cluster has a folder for
each primary. An engine then runs on the copy, checks every link of every log, and counts:
`backup.json` says what the copy holds.

The copy holds hidden information of running games, and secrets of rooms. Keep it like the store.
Without --with-keys it lacks the keys that sign tokens and the public log.

Exit status: 0 if the copy is complete, 1 if it is not, 2 if there is nothing to copy.
"""
RESTORE_EXAMPLES = """\
examples:
  towerhall restore backups/monday --data-folder ./data
  towerhall restore backups/monday --redis-url redis://admin@localhost:6379/0

With --data-folder the command copies the backup into a folder without data, starts an engine on it
and counts: it fails unless every room and record is there. Then `towerhall serve` runs on that
folder. For a store of your own, start it on such a folder before any server:

  redis-server --dir ./data --appendonly yes --appendfsync always --save ""

The copy of a cluster becomes one such folder for each primary, and `backup.json` lists their slots.
Start engines with `cluster-enabled yes` on them: each takes the slots of its keys.

With --redis-url the command only counts what such a store holds. An RDB file beside
`appendonly yes` is ignored, and the store starts empty: status 1 tells.

Exit status: 0 if all is there, 1 if something is missing, 2 if there is no backup.
"""
ABOUT = "backup.json"
KEYS = ("token.key", "signing.key")
PARTS = 100
"""Steps of the progress bar."""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "backup",
        parents=[store_flags()],
        help="copy a store while servers run",
        description="Copies a store while servers run, and checks the copy.",
        epilog=BACKUP_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="new folder for the copy")
    parser.add_argument(
        "--with-keys", action="store_true", help="also copy the key files of the data folder"
    )
    _engine_flag(parser)
    parser.set_defaults(run=_backup)
    parser = commands.add_parser(
        "restore",
        help="bring a backup back, and count what is there",
        parents=[store_flags()],
        description="Brings a backup back, and compares rooms, commits and records with it.",
        epilog=RESTORE_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder of the backup")
    _engine_flag(parser)
    parser.set_defaults(run=_restore)


def _engine_flag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        metavar="PROGRAM",
        type=Path,
        help="engine that reads the copy (default: the bundled Valkey)",
    )


def _backup(arguments: argparse.Namespace) -> int:
    target: Path = arguments.folder
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists: name a new folder")
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{target} cannot be made: {error.strerror}") from None
    return _guarded(arguments, _make(arguments, target))


def _restore(arguments: argparse.Namespace) -> int:
    about = _about(arguments.folder)
    if arguments.redis_url:
        return _guarded(arguments, _counted(arguments.redis_url, about))
    if not arguments.data_folder:
        raise UsageError("name the new --data-folder, or the --redis-url of a store to count")
    return _guarded(arguments, _bring_back(arguments, about))


def _guarded(arguments: argparse.Namespace, acting: Any) -> int:
    from redis.exceptions import RedisError

    from towerhall_server.store.backup import BackupError
    from towerhall_server.store.engine import EngineError
    from towerhall_server.store.errors import StoreError

    try:
        status: int = asyncio.run(acting)
    except (BackupError, EngineError, StoreError, RedisError, OSError) as error:
        raise UsageError(f"{arguments.folder}: {str(error) or type(error).__name__}") from None
    return status


async def _make(arguments: argparse.Namespace, target: Path) -> int:
    from towerhall_server.cli.holdings import About, Part, database_of, together
    from towerhall_server.config.settings import SettingsError, read_place
    from towerhall_server.store.backup import copy_log, digests, size_of
    from towerhall_server.store.engine import bundled_binary, version_of

    flags = {"redis_url": arguments.redis_url, "data_folder": arguments.data_folder}
    try:
        url, source = read_place(os.environ, flags)
    except SettingsError as error:
        raise UsageError(str(error)) from None
    binary = arguments.engine or bundled_binary()
    version = await version_of(binary)
    began = monotonic()
    shown = Progress(PARTS, "copy")

    def told(done: int, total: int) -> None:
        shown.show(max(PARTS * done // max(total, 1), 1))

    parts: tuple[Part, ...] = (Part(),)
    if url:
        parts = await _fetch_all(url, target, version, told)
    else:
        await asyncio.to_thread(copy_log, source, target, told)
    shown.done()
    copied = monotonic() - began
    database = database_of(url) if url else 0
    held = together([await _read_by_engine(target / p.folder, binary, database) for p in parts])
    made_ms, source_kind = round(1000 * time()), "rdb" if url else "log"
    files = _digests(target, parts, digests)
    about = About(made_ms, source_kind, str(version), files, held, database, parts)
    if arguments.with_keys and not url:
        for name in KEYS:
            with suppress(FileNotFoundError):
                _copy_key(source / name, target / name)
    # Written last: a folder without it is no backup.
    (target / ABOUT).write_bytes(msgspec.json.format(msgspec.json.encode(about)))
    size = f"{sum(size_of(target / part.folder) for part in parts) / 1e6:.1f} MB"
    checked = monotonic() - began - copied
    of = f" of {len(parts)} primaries" if len(parts) > 1 else ""
    times = f"copied in {copied:.1f} s, checked in {checked:.1f} s"
    print(f"{target}: {_told(held)}{of}, {size}; {times}")
    for code in held.broken:
        print(f"the log of room {code} does not hold together, here and in the store")
    return 1 if held.broken else 0


async def _fetch_all(
    url: str, target: Path, version: "Version", told: "Copied"
) -> "tuple[Part, ...]":
    """Copy each engine that holds a part of the store."""
    from towerhall_server.cli.holdings import Part
    from towerhall_server.store.backup import BackupError, fetch_rdb
    from towerhall_server.store.primaries import primaries, replica_of

    engines = await primaries(url)
    parts = []
    for number, engine in enumerate(engines, 1):
        part = Part(str(number) if len(engines) > 1 else ".", engine.slots)
        # Sentinels would take a copy from the primary for a new replica, for ever.
        source = await replica_of(url, engine) or engine.url

        def told_of_all(done: int, total: int, before: int = number - 1) -> None:
            told(before * total + done, len(engines) * total)

        await fetch_rdb(source, target / part.folder, version, told_of_all)
        parts.append(part)
    if [engine.slots for engine in await primaries(url)] != [engine.slots for engine in engines]:
        raise BackupError("slots were moved meanwhile, and rooms may be missing: try again")
    return tuple(parts)


def _digests(
    folder: Path, parts: "Sequence[Part]", digests: "Callable[[Path], dict[str, str]]"
) -> dict[str, str]:
    return {
        str(Path(part.folder) / name): digest
        for part in parts
        for name, digest in digests(folder / part.folder).items()
    }


def _copy_key(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    copyfile(source, target)


def _about(folder: Path) -> "About":
    from towerhall_server.cli.holdings import About
    from towerhall_server.store.backup import digests

    try:
        about = msgspec.json.decode((folder / ABOUT).read_bytes(), type=About)
        if any(not _is_inside(part.folder) for part in about.parts):
            raise UsageError(f"{folder / ABOUT} is damaged: it names a folder elsewhere")
        found = _digests(folder, about.parts, digests)
    except OSError as error:
        raise UsageError(
            f"{folder} is no finished backup: {error.strerror} ({error.filename})"
        ) from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{folder / ABOUT} is damaged: {error}") from None
    for name, digest in about.files.items():
        if found.get(name) != digest:
            raise UsageError(f"{folder}: {name} is not as it was written; use another backup")
    return about


def _is_inside(folder: str) -> bool:
    return folder == "." or folder.isdecimal()


async def _bring_back(arguments: argparse.Namespace, about: "About") -> int:
    from towerhall_server.cli.holdings import together
    from towerhall_server.store.backup import place
    from towerhall_server.store.engine import bundled_binary

    target = Path(arguments.data_folder)
    binary = arguments.engine or bundled_binary()
    found = []
    for part in about.parts:
        place(arguments.folder / part.folder, target / part.folder)
        found.append(await _read_by_engine(target / part.folder, binary, about.database))
    for name in KEYS:
        if (arguments.folder / name).exists() and not (target / name).exists():
            _copy_key(arguments.folder / name, target / name)
    if about.database:
        print(f"the rooms are in database {about.database}: run a store of your own on {target}")
    if len(about.parts) > 1:
        print(f"run one engine of a cluster on each of {target}/1 to {target}/{len(about.parts)}")
    return _compared(str(target), about, together(found))


async def _counted(url: str, about: "About") -> int:
    from towerhall_server.cli.holdings import holdings
    from towerhall_server.config.texts import safe_url

    return _compared(safe_url(url), about, await holdings(url))


async def _read_by_engine(folder: Path, binary: Path, database: int) -> "Holdings":
    """Run an engine on the copy, which shows that one can, and return what it holds."""
    from towerhall_server.cli.holdings import holdings
    from towerhall_server.store.engine import embedded_engine

    async with embedded_engine(folder, binary=binary) as engine:
        return await holdings(f"{engine.url}?db={database}")


def _compared(where: str, about: "About", held: "Holdings") -> int:
    from towerhall_server.cli.holdings import missing

    faults = list(missing(about.holdings, held, round(1000 * time())))
    if not faults:
        print(f"{where}: {_told(held)}, as of {time_text(about.made_ms)}")
        return 0
    if about.holdings.rooms and not held.rooms:
        print(
            f"{where}: the store is empty. With `appendonly yes` an engine ignores an RDB file; it"
            " reads the folder `appendonlydir` that restore --data-folder makes"
        )
    for fault in faults:
        print(f"{where}: {fault}")
    return 1


def _told(held: "Holdings") -> str:
    return (
        f"{len(held.rooms)} rooms with {held.commits} commits, {len(held.records)} records,"
        f" {held.lasting} lasting keys"
    )
