"""`towerhall bots`: whole games between bots at a running service, over normal connections."""

import argparse
import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from time import monotonic
from typing import Any, Final

import msgspec

from towerhall_client.bot import Policy, play_bot
from towerhall_client.connection import Table, connect
from towerhall_client.errors import TowerhallError
from towerhall_client.http import Guest, Service
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.cli.arguments import (
    DEFAULT_URL,
    Subparsers,
    add_game_argument,
    find_bot,
    find_game,
    find_service,
)
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.progress import Progress
from towerhall_server.game import AnyGame

EXAMPLES = """\
examples:
  towerhall bots --rooms 20 --seats 4
  towerhall bots --rooms 3 --seats 2 --bot planner --url http://localhost:9000

Every bot has its own connection and plays from its offers, like the client of a player. When all
games are over, the command checks that all bots of a room saw the same end.
"""
ROOMS_PER_GUEST: Final = 10
"""Rooms at a time. A service limits the rooms and connections of one person."""
USUAL_SEATS: Final = 4
ENTROPY_BYTES: Final = 32


class Ended(msgspec.Struct, frozen=True):
    """The outcome of one game."""

    code: str
    commits: int
    scores: tuple[int, ...]
    agreed: bool
    """Whether all bots saw the same end."""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "bots",
        help="let bots play whole games at a running service",
        description="Creates rooms at a running service and fills them with connected bots.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--url", default=DEFAULT_URL, help=f"address ({DEFAULT_URL})")
    add_game_argument(parser, "name of the game")
    parser.add_argument("--rooms", type=int, default=1, help="number of games at once (default: 1)")
    parser.add_argument(
        "--seats",
        type=int,
        help=f"players of each game (default: {USUAL_SEATS}, or the nearest allowed)",
    )
    parser.add_argument("--bot", help="which bot plays (default: the weakest level of the game)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    game = find_game(arguments.game)
    if arguments.bot is None:
        arguments.bot = game.levels[0]
    find_bot(game, arguments.bot)
    if arguments.seats is None:
        arguments.seats = usual_seats(game)
    if arguments.seats not in game.seats:
        raise UsageError(f"--seats must be {game.seats[0]} to {game.seats[-1]}")
    if arguments.rooms < 1:
        raise UsageError("--rooms must be at least 1")
    service = find_service(arguments.url)
    began = monotonic()
    try:
        ended = asyncio.run(_play_all(service, game, arguments))
    except TowerhallError as error:
        raise UsageError(f"{error}; is a server running? `towerhall serve` starts one") from error
    _report(ended, monotonic() - began)
    return 0 if all(game.agreed for game in ended) else 1


def usual_seats(game: AnyGame) -> int:
    """Return four, or the nearest number of seats that the game allows."""
    return min(game.seats, key=lambda seats: abs(seats - USUAL_SEATS))


async def _play_all(service: Service, game: AnyGame, arguments: argparse.Namespace) -> list[Ended]:
    policy = _policy(game, arguments.bot)
    groups = -(-arguments.rooms // ROOMS_PER_GUEST)
    guests = [
        [await service.guest(f"{arguments.bot} {seat + 1}") for seat in range(arguments.seats)]
        for _ in range(groups)
    ]
    games = [
        asyncio.create_task(_play_one(service, game, guests[room % groups], policy))
        for room in range(arguments.rooms)
    ]
    ended = []
    shown = Progress(len(games), "games")
    try:
        async for result in _as_they_end(games):
            ended.append(result)
            shown.show(len(ended))
    finally:
        for task in games:
            task.cancel()
        await asyncio.gather(*games, return_exceptions=True)
    shown.done()
    return ended


async def _as_they_end(games: Sequence["asyncio.Task[Ended]"]) -> AsyncIterator[Ended]:
    for ended in asyncio.as_completed(games):
        yield await ended


async def _play_one(
    service: Service, game: AnyGame, guests: Sequence[Guest], policy: Policy
) -> Ended:
    room = await service.create_room(guests[0].token, game.name, seats=len(guests))
    async with AsyncExitStack() as stack:
        tables: list[Table] = []
        for guest in guests:
            table = await stack.enter_async_context(connect(service.url, room.code, guest.token))
            await table.sit()
            await table.ready()
            tables.append(table)
        await tables[0].start()
        views = await asyncio.gather(*(play_bot(table, policy) for table in tables))
        commits = tables[0].seq
    return Ended(room.code, commits, _scores(views[0]), all(view == views[0] for view in views))


def _policy(game: AnyGame, name: str) -> Policy:
    choose = game.bots[name]

    def policy(view: Document, offers: Sequence[Offer]) -> Mapping[str, Any]:
        seen = view["game"]
        if not isinstance(seen, dict):
            raise TypeError("the game's part of a view is a map")
        return choose(seen, tuple(offers), secrets.token_bytes(ENTROPY_BYTES))

    return policy


def _scores(view: Document) -> tuple[int, ...]:
    room = view["room"]
    return tuple(room["result"]["scores"]) if isinstance(room, dict) else ()


def _report(ended: Sequence[Ended], seconds: float) -> None:
    commits = sum(game.commits for game in ended)
    print(f"{'room':8}{'commits':>8}  scores")
    for game in sorted(ended, key=lambda game: game.code):
        differ = "" if game.agreed else "  the bots saw different results"
        print(f"{game.code:8}{game.commits:8}  {' '.join(map(str, game.scores))}{differ}")
    wins = Counter(
        seat
        for game in ended
        for seat, score in enumerate(game.scores)
        if score == max(game.scores)
    )
    shares = ", ".join(f"seat {seat}: {count}" for seat, count in sorted(wins.items()))
    print(
        f"{len(ended)} games, {commits} commits in {seconds:.1f} s"
        f" ({commits / seconds:.0f} a second); wins: {shares}"
    )
