"""Shared parts of commands that work on the store itself: flags, actions, failures.

No command lives here, and nothing here knows what the store holds.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from towerhall_server.cli.errors import UsageError

NAME = "operator"
"""The name of such a command among the nodes."""


class NotDoneError(Exception):
    """The action is not possible; the message says why."""


def store_flags() -> argparse.ArgumentParser:
    """The flags that locate the store, as a parent of other parsers."""
    flags = argparse.ArgumentParser(add_help=False)
    flags.add_argument("--redis-url", metavar="URL", help="store that the servers share")
    flags.add_argument("--data-folder", metavar="FOLDER", help="folder of a server's own store")
    return flags


def actions_of(
    parser: argparse.ArgumentParser, command: str, examples: str
) -> Callable[[str, str], argparse.ArgumentParser]:
    """Return a function that adds one action to a command, with its examples."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    def action(name: str, text: str) -> argparse.ArgumentParser:
        shown = [line for line in examples.splitlines() if f"towerhall {command} {name}" in line]
        added: argparse.ArgumentParser = actions.add_parser(
            name,
            parents=[store_flags()],
            help=text,
            description=f"{text[0].upper()}{text[1:]}.",
            epilog="\n".join(["examples:", *shown]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        return added

    return action


def on_store(arguments: argparse.Namespace, act: Callable[[str], Awaitable[None]]) -> int:
    """Run an action on the store that the arguments name; returns the exit status."""
    # Imported here: no other command needs a store, and the import is slow.
    from towerhall_server.cli.store_rooms import url_of_store
    from towerhall_server.config.settings import SettingsError, read_place
    from towerhall_server.config.texts import safe_url
    from towerhall_server.store.data_folder import EngineError
    from towerhall_server.store.errors import StoreError

    flags = {"redis_url": arguments.redis_url, "data_folder": arguments.data_folder}
    try:
        redis_url, folder = read_place(os.environ, flags)
        url = url_of_store(redis_url, folder)
    except (SettingsError, EngineError) as error:
        raise UsageError(str(error)) from error

    async def acting() -> None:
        await act(url)

    try:
        asyncio.run(acting())
    except StoreError as error:
        where = safe_url(redis_url) if redis_url else f"of the server on {folder}"
        raise UsageError(f"the store {where} does not answer: {error}; is it running?") from None
    except NotDoneError as problem:
        print(f"towerhall {arguments.command}: {problem}", file=sys.stderr)
        return 1
    return 0


def on_log(arguments: argparse.Namespace) -> int:
    """Run an action on the keys of a store, without rooms."""
    from towerhall_server.eventlog.log import EventLog

    async def act(url: str) -> None:
        async with EventLog(url, NAME) as log:
            await arguments.act(log, arguments)

    return on_store(arguments, act)


def time_text(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def printable(text: str) -> str:
    """Escape names: they must not control the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
