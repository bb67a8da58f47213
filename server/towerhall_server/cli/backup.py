"""`towerhall backup` and `towerhall restore`: copies of a store, tried out when they are made."""

import argparse
import asyncio
import os
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
    from towerhall_server.cli.holdings import About, Holdings

BACKUP_EXAMPLES = """\
examples:
  towerhall backup backups/monday
  towerhall backup backups/monday --data-folder ./data --with-keys
  towerhall backup backups/monday --redis-url redis://admin@localhost:6379/0

Servers and players go on meanwhile. The store is that of --redis-url (or TOWERHALL_REDIS_URL), or
the one on --data-folder (or TOWERHALL_DATA_FOLDER), whether a server runs there or not. A store of
your own is read as by a replica: the url needs a user that may SYNC. An engine then runs on the
copy, checks every link of every log, and counts: `backup.json` says what the copy holds.

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
    from towerhall_server.cli.holdings import About, database_of
    from towerhall_server.config.settings import SettingsError, read_place
    from towerhall_server.store.backup import copy_log, digests, fetch_rdb, size_of
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
        shown.show(max(PARTS * done // total, 1))

    if url:
        await fetch_rdb(url, target, version, told)
    else:
        await asyncio.to_thread(copy_log, source, target, told)
    shown.done()
    copied = monotonic() - began
    database = database_of(url) if url else 0
    held = await _read_by_engine(target, binary, database)
    made_ms, source_kind = round(1000 * time()), "rdb" if url else "log"
    about = About(made_ms, source_kind, str(version), digests(target), held, database)
    if arguments.with_keys and not url:
        for name in KEYS:
            with suppress(FileNotFoundError):
                _copy_key(source / name, target / name)
    # Written last: a folder without it is no backup.
    (target / ABOUT).write_bytes(msgspec.json.format(msgspec.json.encode(about)))
    size = f"{size_of(target) / 1e6:.1f} MB"
    checked = monotonic() - began - copied
    print(f"{target}: {_told(held)}, {size}; copied in {copied:.1f} s, checked in {checked:.1f} s")
    for code in held.broken:
        print(f"the log of room {code} does not hold together, here and in the store")
    return 1 if held.broken else 0


def _copy_key(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    copyfile(source, target)


def _about(folder: Path) -> "About":
    from towerhall_server.cli.holdings import About
    from towerhall_server.store.backup import digests

    try:
        about = msgspec.json.decode((folder / ABOUT).read_bytes(), type=About)
        found = digests(folder)
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


async def _bring_back(arguments: argparse.Namespace, about: "About") -> int:
    from towerhall_server.store.backup import place
    from towerhall_server.store.engine import bundled_binary

    target = Path(arguments.data_folder)
    place(arguments.folder, target)
    for name in KEYS:
        if (arguments.folder / name).exists() and not (target / name).exists():
            _copy_key(arguments.folder / name, target / name)
    binary = arguments.engine or bundled_binary()
    held = await _read_by_engine(target, binary, about.database)
    if about.database:
        print(f"the rooms are in database {about.database}: run a store of your own on {target}")
    return _compared(str(target), about, held)


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
