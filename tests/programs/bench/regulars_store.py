"""Fills a store with accounts and finished games, as the consumer of ends would have left them.

The consumer itself would take hours for 10^7 games. So the same keys are written directly, in one
stream of commands whose answers nobody waits for. Games, places, statistics, histories and people
met belong together; ratings are drawn by chance. A test compares all but these with what a rebuild
makes of the same journal.
"""

import random
import socket
from array import array
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import unquote, urlsplit

import hiredis
import numpy as np

from towerhall_protocol.commands import base64url
from towerhall_server.cli.progress import progress
from towerhall_server.regulars.journal import MOST_MET, MOST_PAST, RATING, write_rating
from towerhall_server.regulars.keys import (
    GAMES,
    JOURNAL,
    PLACE,
    board_key,
    handle_key,
    person_keys,
)
from towerhall_server.regulars.ratings import Rating, points
from towerhall_server.regulars.slips import PLACED_GAMES, Hand, Slip, encode_slip
from towerhall_server.store.resp import Argument, packed

NAMES: Final = ("five_towers", "nikitin_towers")
BEST: Final = 60
WRITE_BYTES: Final = 1 << 18
STEP: Final = 10_000
"""Games and accounts between two steps of the progress."""
_MIX: Final = 0x9E37_79B9_7F4A_7C15


def handle_of(number: int) -> str:
    """The handle of an account. They are spread over all slots and boards, as random ones are."""
    return base64url((number * _MIX % 2**64).to_bytes(8, "big"))


def identity_of(number: int) -> str:
    """The id of an account."""
    return base64url(b"i" + number.to_bytes(7, "big"))


class Stream:
    """Commands to a store whose answers are not sent. `close` fails if the store refused one."""

    def __init__(self, url: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(unquote(urlsplit(url).path))
        self._parts: list[bytes] = []
        self._bytes = 0
        self._reader = hiredis.Reader()
        self._ask("CONFIG", "RESETSTAT")
        self("CLIENT", "REPLY", "OFF")

    def __call__(self, *command: Argument) -> None:
        part = packed(*command)
        self._parts.append(part)
        self._bytes += len(part)
        if self._bytes > WRITE_BYTES:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with self._socket:
            if error is None:
                self._ask("CLIENT", "REPLY", "ON")
                refused = self._ask("INFO", "errorstats")
                assert b"errorstat_" not in refused, f"the store refused a command: {refused!r}"

    def _ask(self, *command: Argument) -> Any:
        """Wait until all commands so far are done. Returns the answer to this one."""
        self(*command)
        self._flush()
        while (answer := self._reader.gets()) is False:
            self._reader.feed(self._socket.recv(4096))
        return answer

    def _flush(self) -> None:
        self._socket.sendall(b"".join(self._parts))
        self._parts, self._bytes = [], 0


class Filling:
    """Accounts and games: the same ones for the same numbers."""

    def __init__(self, accounts: int, games: int) -> None:
        self._accounts, self._games = accounts, games
        self._handles = [handle_of(number) for number in range(accounts)]
        self._firsts = array("i")
        """By game: where its hands begin."""
        self._people = array("i")
        """By hand: the account. The hands of a game are in the order of their places."""
        self._kinds = array("b")
        """By game."""
        self._chance = random.Random(1)

    def accounts(self, send: Stream) -> None:
        """Write the accounts themselves."""
        for number in _counted(self._accounts, "accounts"):
            identity, handle = identity_of(number), self._handles[number]
            named = ("name", f"Person {number}", "named", number, "since", number)
            send("HSET", person_keys(handle).who, "id", identity, *named)
            send("SET", handle_key(identity), handle)

    def journal(self, send: Stream) -> None:
        """Write the slips of all games."""
        send("SADD", GAMES, *NAMES)
        for number in _counted(self._games, "games"):
            send("XADD", JOURNAL, f"{number + 1}-0", "s", encode_slip(self._slip(number + 1)))
        self._firsts.append(len(self._people))
        send("HSET", PLACE, "place", self._games)

    def _slip(self, number: int) -> Slip:
        chance = self._chance
        # Some people play much more than others.
        most = chance.randint(2, 5)
        chosen: dict[int, None] = {}
        while len(chosen) < min(most, self._accounts):
            chosen[int(self._accounts * chance.random() ** 2)] = None
        kind = chance.randrange(len(NAMES))
        self._firsts.append(len(self._people))
        self._people.extend(chosen)
        self._kinds.append(kind)
        return Slip(
            uid=chance.randbytes(16),
            code="".join(chance.choices("BCDFGHJKLMNPQRSTVWXZ", k=6)),
            game=NAMES[kind],
            version=1,
            ended_ms=1_790_000_000_000 + number,
            rated=True,
            private=False,
            hands=tuple(
                Hand(self._handles[each], place, BEST - place)
                for place, each in enumerate(chosen, 1)
            ),
        )

    def projections(self, send: Stream) -> None:
        """Write what the consumer makes of the slips."""
        people = np.frombuffer(self._people, dtype=np.int32)
        firsts = np.frombuffer(self._firsts, dtype=np.int32)
        order = np.argsort(people, kind="stable")
        games = np.repeat(np.arange(len(firsts) - 1, dtype=np.int32), np.diff(firsts))[order]
        places = order - firsts[games] + 1
        ends = np.searchsorted(people[order], np.arange(self._accounts + 1))
        for number in _counted(self._accounts, "profiles"):
            first, last = ends[number], ends[number + 1]
            if first < last:
                self._person(send, number, games[first:last].tolist(), places[first:last].tolist())

    def _person(self, send: Stream, number: int, games: list[int], places: list[int]) -> None:
        handle, chance = self._handles[number], self._chance
        keys = person_keys(handle)
        counts: dict[tuple[int, int, int], int] = {}
        past: list[Argument] = []
        for game, place in zip(games, places, strict=True):
            kind, seats = self._kinds[game], self._firsts[game + 1] - self._firsts[game]
            past.append(f"{game + 1} {NAMES[kind]} {seats}")
            counts[kind, seats, place] = counts.get((kind, seats, place), 0) + 1
        send("HSET", keys.sums, "at", games[-1] + 1, *_sums(counts))
        send("RPUSH", keys.past, *past[: -MOST_PAST - 1 : -1])
        send("ZADD", keys.met, *self._met(number, games))
        for which, name in enumerate(NAMES):
            rated = sum(count for (each, _, _), count in counts.items() if each == which)
            if rated:
                mu, sigma = round(chance.gauss(25, 5), 6), round(chance.uniform(0.8, 8), 6)
                rating = Rating(mu, sigma, rated)
                send("HSET", keys.sums, RATING + name, write_rating(rating))
                if rated >= PLACED_GAMES:
                    send("ZADD", board_key(name), points(rating), handle)

    def _met(self, number: int, games: list[int]) -> list[Argument]:
        """The newest opponents with the number of the last common slip, as one command has them."""
        met: dict[int, int] = {}
        for game in reversed(games):
            if len(met) >= MOST_MET:
                break
            for other in self._people[self._firsts[game] : self._firsts[game + 1]]:
                if other != number:
                    met.setdefault(other, game + 1)
        newest = sorted(((at, self._handles[other]) for other, at in met.items()), reverse=True)
        return [part for pair in newest[:MOST_MET] for part in pair]


def _sums(counts: dict[tuple[int, int, int], int]) -> Iterator[Argument]:
    for (kind, seats, place), count in counts.items():
        yield f"{NAMES[kind]} {seats} {place}"
        yield count
    for kind, seats in {(kind, seats) for kind, seats, _ in counts}:
        scores = [
            (BEST - place, count)
            for (each, size, place), count in counts.items()
            if (each, size) == (kind, seats)
        ]
        yield f"{NAMES[kind]} {seats} sum"
        yield sum(score * count for score, count in scores)
        yield f"{NAMES[kind]} {seats} best"
        yield max(score for score, _ in scores)


def _counted(count: int, what: str) -> Iterator[int]:
    for first in progress(range(0, count, STEP), -(-count // STEP), f"10,000 {what}"):
        yield from range(first, min(first + STEP, count))
