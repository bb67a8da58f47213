"""`towerhall load`: many rooms full of players at a running service, and what that costs."""

import argparse
import asyncio
import http.client
import os
import random
import re
import resource
from collections import Counter
from contextlib import AsyncExitStack
from ipaddress import ip_address
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from towerhall_client.bot import Policy, random_policy
from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError, TowerhallError
from towerhall_client.http import Guest, Service
from towerhall_server.cli.arguments import (
    DEFAULT_URL,
    Subparsers,
    add_game_argument,
    find_game,
    find_service,
)
from towerhall_server.cli.bots import ROOMS_PER_GUEST, usual_seats
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.progress import Progress
from towerhall_server.game import AnyGame

EXAMPLES = """\
examples:
  towerhall load --rooms 20
  towerhall load --rooms 50 --think 5 --seconds 60 --metrics http://127.0.0.1:9100/metrics
  towerhall load --rooms 100 --url https://towers.example.org --yes

Each room has players that choose at random, after a pause of --think seconds on average. A finished
game is followed by another one. Times are measured here, from a command until its answer. With
--metrics the report also has the processor time and memory of a server process; repeat the flag for
each worker. TOWERHALL_METRICS_TOKEN is sent if it is set.

A service limits what one address may do. For many rooms raise the limits of the service that you
measure: TOWERHALL_LIMIT_ROOMS_PER_IP, _ROOMS_PER_IDENTITY, _GUESTS_PER_IP, _SOCKETS_PER_IP and
_CONNECTIONS_PER_IP. A service on another machine is loaded only with --yes.

Exit status: 0 if all players could play, 1 if some could not, 2 if no service answers.
"""
MOST_ROOMS: Final = 1000
MOST_SECONDS: Final = 600
BUSY: Final = 0.8
"""Share of a core from which on this command itself makes answers look late."""
SAMPLED: Final = re.compile(
    r"^(process_cpu_seconds_total|process_resident_memory_bytes) (\S+)$", re.MULTILINE
)
METRICS_SECONDS: Final = 5.0


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "load",
        help="play many rooms at a service, and report times and costs",
        description="Plays many rooms at a running service, and reports times and costs.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--url", default=DEFAULT_URL, help=f"address ({DEFAULT_URL})")
    add_game_argument(parser, "name of the game")
    parser.add_argument("--rooms", type=int, default=20, help="rooms at once (default: 20)")
    parser.add_argument("--seats", type=int, help="players of each room (default: 4)")
    parser.add_argument(
        "--seconds", type=float, default=30, help=f"duration, at most {MOST_SECONDS} (default: 30)"
    )
    parser.add_argument(
        "--think", type=float, default=2.0, help="mean pause before a move in seconds (default: 2)"
    )
    parser.add_argument(
        "--metrics", action="append", default=[], metavar="URL", help="metrics of a server process"
    )
    parser.add_argument("--yes", action="store_true", help="load a service on another machine")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    game = find_game(arguments.game)
    arguments.seats = arguments.seats or usual_seats(game)
    if arguments.seats not in game.seats:
        raise UsageError(f"--seats must be {game.seats[0]} to {game.seats[-1]}")
    if not 1 <= arguments.rooms <= MOST_ROOMS:
        raise UsageError(f"--rooms must be 1 to {MOST_ROOMS}")
    if not 1 <= arguments.seconds <= MOST_SECONDS:
        raise UsageError(f"--seconds must be 1 to {MOST_SECONDS}")
    if not 0 <= arguments.think <= MOST_SECONDS:
        raise UsageError(f"--think must be 0 to {MOST_SECONDS}")
    service = find_service(arguments.url)
    if not arguments.yes and not is_here(service.url):
        raise UsageError(f"{service.url} is another machine: load it only if it is yours, by --yes")
    load = Load(service, game, arguments)
    try:
        asyncio.run(load.run())
    except TowerhallError as error:
        raise UsageError(f"{error}; is a server running? `towerhall serve` starts one") from None
    print(load.report())
    return 1 if load.failures else 0


def is_here(url: str) -> bool:
    """Whether the address is one of this machine alone."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Load:
    """One run: its players, and what they have measured."""

    def __init__(self, service: Service, game: AnyGame, arguments: argparse.Namespace) -> None:
        self._service, self._game, self._wanted = service, game, arguments
        self._choice: Policy = random_policy()
        self._answers: list[float] = []
        """Seconds from a command until its answer."""
        self._games = 0
        self._refused: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        """Why rooms ended early."""
        self._seconds = self._own_cpu = 0.0
        self._before: tuple[Sample, ...] = ()
        self._after: tuple[Sample, ...] = ()

    async def run(self) -> None:
        wanted = self._wanted
        groups = -(-wanted.rooms // ROOMS_PER_GUEST)
        guests = [
            [await self._service.guest(f"player {seat + 1}") for seat in range(wanted.seats)]
            for _ in range(groups)
        ]
        self._before = await self._sampled()
        began, cpu = monotonic(), _own_cpu()
        rooms = [
            asyncio.create_task(self._room(guests[number % groups]))
            for number in range(wanted.rooms)
        ]
        shown = Progress(round(wanted.seconds), "load, seconds")
        try:
            while (passed := monotonic() - began) < wanted.seconds:
                shown.show(max(1, int(passed)))
                done, _ = await asyncio.wait(rooms, timeout=min(1.0, wanted.seconds - passed))
                if len(done) == len(rooms):
                    break
            self._seconds, self._own_cpu = monotonic() - began, _own_cpu() - cpu
            self._after = await self._sampled()
        finally:
            for task in rooms:
                task.cancel()
            ended = await asyncio.gather(*rooms, return_exceptions=True)
        for fault in ended:
            if isinstance(fault, Exception):
                raise fault
        shown.done()

    async def _room(self, guests: list[Guest]) -> None:
        """Play one game after the other."""
        try:
            while True:
                await self._play(guests)
                self._games += 1
        except TowerhallError as error:
            self.failures[error.code] += 1

    async def _play(self, guests: list[Guest]) -> None:
        made = await self._service.create_room(guests[0].token, self._game.name, seats=len(guests))
        async with AsyncExitStack() as stack:
            tables: list[Table] = []
            for guest in guests:
                table = await stack.enter_async_context(
                    connect(self._service.url, made.code, guest.token)
                )
                await table.sit()
                await table.ready()
                tables.append(table)
            await tables[0].start()
            await asyncio.gather(*(self._player(table) for table in tables))

    async def _player(self, table: Table) -> None:
        while offers := await table.turn():
            await asyncio.sleep(self._pause())
            asked = monotonic()
            try:
                await table.send(self._choice(table.view, table.offers or offers))
            except RefusedError as error:
                # Another player was faster, or the command is not possible after all.
                self._refused[error.code] += 1
                wait_ms = error.params.get("retry_ms", 0)
                await asyncio.sleep(int(wait_ms) / 1000)
            self._answers.append(monotonic() - asked)

    def _pause(self) -> float:
        mean: float = self._wanted.think
        return random.expovariate(1 / mean) if mean else 0.0

    async def _sampled(self) -> "tuple[Sample, ...]":
        return tuple([await asyncio.to_thread(sample, url) for url in self._wanted.metrics])

    def report(self) -> str:
        wanted, seconds = self._wanted, max(self._seconds, 0.001)
        own, answers = self._own_cpu / seconds, sorted(self._answers)
        people = f"{wanted.rooms} rooms of {wanted.seats} players for {seconds:.0f} s"
        pace = f"{len(answers)}, {len(answers) / seconds:.1f} a second"
        lines = [
            f"{people} at {self._service.url}, a move after {wanted.think:g} s on average",
            f"moves    {pace}; {self._refused.total()} refused; {self._games} games ended",
        ]
        if answers:
            parts = [f"{name} {1000 * _share(answers, of):.1f} ms" for name, of in SHARES]
            lines.append(f"answers  {', '.join(parts)}")
        for url, before, after in zip(wanted.metrics, self._before, self._after, strict=True):
            used = (after.cpu_seconds - before.cpu_seconds) / seconds
            lines.append(
                f"server   {used:.0%} of a core, {after.megabytes:.0f} MB"
                f" ({before.megabytes:.0f} MB before)  {url}"
            )
        busy = "; it is busy, so answers look later than they are" if own > BUSY else ""
        lines.append(f"load     {own:.0%} of a core for this command itself{busy}")
        lines += [f"failed   {count} rooms: {code}" for code, count in self.failures.items()]
        return "\n".join(lines)


SHARES: Final = (("half within", 0.5), ("95 % within", 0.95), ("99 % within", 0.99), ("all", 1.0))


def _share(answers: list[float], share: float) -> float:
    return answers[min(int(share * len(answers)), len(answers) - 1)]


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Sample:
    """The use of a server process until now."""

    def __init__(self, text: str) -> None:
        found = {name: float(value) for name, value in SAMPLED.findall(text)}
        self.cpu_seconds = found["process_cpu_seconds_total"]
        self.megabytes = found["process_resident_memory_bytes"] / 1e6


def sample(url: str) -> Sample:
    """Read the metrics of a server process."""
    parts = urlsplit(url)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    if parts.scheme not in kinds or not parts.hostname:
        raise UsageError(f"--metrics: {url} is no address such as http://127.0.0.1:9100/metrics")
    token = os.environ.get("TOWERHALL_METRICS_TOKEN", "")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=METRICS_SECONDS)
    try:
        connection.request("GET", parts.path or "/metrics", headers=headers)
        return Sample(connection.getresponse().read().decode())
    except (OSError, http.client.HTTPException, KeyError, UnicodeDecodeError):
        raise UsageError(f"--metrics: {url} shows no metrics of a server") from None
    finally:
        connection.close()
