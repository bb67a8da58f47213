"""The journal in the store: slips, the place of the consumer, plans and boards.

Every call may raise `StoreError`, and may be repeated with the same arguments. Nothing is computed
here.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

import msgspec

from towerhall_server.eventlog.keys import SHARDS, room_keys, shard_keys, shard_of
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call
from towerhall_server.regulars.keys import (
    GAMES,
    JOURNAL,
    KNOWN,
    LEASE,
    NEWS,
    PLACE,
    board_key,
    person_keys,
)
from towerhall_server.regulars.ratings import Rating
from towerhall_server.regulars.slips import (
    PersonChange,
    Slip,
    SlipBatch,
    Standing,
    decode_plan,
    decode_slip,
    encode_plan,
    encode_slip,
)
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import Argument, Script, packed, script

DAY_MS: Final = 24 * 3_600_000
KNOWN_MS: Final = 40 * DAY_MS
"""Milliseconds for which an end is recognised. A room announces it again for some days at most."""
ERASED_MS: Final = 30 * DAY_MS
"""Milliseconds for which the rating of an erased person stays, without a name."""
MOST_PAST: Final = 1000
MOST_MET: Final = 50
RATING: Final = "rating "


class ConsumerPlace(msgspec.Struct, frozen=True):
    """Where the consumer stands."""

    number: int = 0
    """Of the last slip that is applied to all of its people."""
    generation: int = 0
    wiping: int = 0
    """The generation that a rebuild is preparing; 0: none."""
    plan: SlipBatch | None = None


class Applied(msgspec.Struct, frozen=True):
    """What became of a batch, where it is not as usual."""

    erased: frozenset[str]
    """Handles of people who were erased."""
    lacking: frozenset[str]
    """Handles of people who lack an earlier slip: the store has lost something."""


def load_script(name: str) -> Script:
    """Load one of the scripts of this package."""
    return script((files("towerhall_server.regulars") / "lua" / name).read_text())


_NOTE: Final = load_script("note.lua")
_BEGIN: Final = load_script("begin.lua")
_APPLY: Final = load_script("apply.lua")
_ADVANCE: Final = load_script("advance.lua")
_SLIPS: Final = load_script("slips.lua")
_WIPE: Final = load_script("wipe.lua")
_WIPED: Final = load_script("wiped.lua")


class Journal:
    """The keys of the journal, and the projections of people."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    # Ends that wait

    def ring(self, room: str) -> None:
        """Tell the consumer that a game has ended in this room. It may be lost."""
        told = self._log.call(Call(packed("SADD", NEWS, shard_of(room))))
        told.add_done_callback(lambda told: told.cancelled() or told.exception())

    async def announce(self, room: str) -> None:
        """Let the consumer look at this room. Idempotent."""
        await self._ask("SADD", room_keys(room).shard.ends, room)

    async def ringing(self) -> list[int]:
        """Take the shards of which something was told."""
        found = await self._ask("SPOP", NEWS, SHARDS)
        return sorted(int(shard) for shard in found)

    async def waiting(self, shards: Sequence[int]) -> list[str]:
        """Return rooms whose end is not noted yet. Shards whose primary is down are left out."""
        calls = [Call(packed("SMEMBERS", shard_keys(shard).ends)) for shard in shards]
        answers = await asyncio.gather(*map(self._log.call, calls), return_exceptions=True)
        rooms: list[str] = []
        for found in answers:
            if isinstance(found, StoreError):
                continue
            if isinstance(found, BaseException):
                raise found
            rooms += sorted(room.decode() for room in found)
        return rooms

    async def settle(self, room: str) -> None:
        """The end in this room needs no further look."""
        await self._ask("SREM", room_keys(room).shard.ends, room)

    async def note(self, slip: Slip, now_ms: int) -> int:
        """Add a slip. Returns its number; 0 if the end of that game was there already."""
        facts = (slip.uid, encode_slip(slip), slip.game, now_ms, KNOWN_MS)
        number: int = await self._log.call(run_call(_NOTE, (JOURNAL, KNOWN, GAMES), *facts))
        return number

    async def knows(self, uid: bytes) -> bool:
        return await self._ask("ZSCORE", KNOWN, uid) is not None

    # Slips

    async def after(self, number: int, most: int) -> dict[int, Slip]:
        """Return the slips after that number, by number."""
        return _slips(await self._ask("XRANGE", JOURNAL, f"{number + 1}-0", "+", "COUNT", most))

    async def slips(self, numbers: Iterable[int]) -> dict[int, Slip]:
        """Return these slips."""
        return _slips(await self._log.call(run_call(_SLIPS, (JOURNAL,), *numbers)))

    async def length(self) -> int:
        """Return the number of the newest slip."""
        newest = await self._ask("XREVRANGE", JOURNAL, "+", "-", "COUNT", 1)
        return max(_slips(newest), default=0)

    # Batches

    async def place(self) -> ConsumerPlace:
        found = await self._ask("HMGET", PLACE, "place", "generation", "wiping", "plan")
        number, generation, wiping, plan = found
        kept = decode_plan(plan) if plan else None
        return ConsumerPlace(int(number or 0), int(generation or 0), int(wiping or 0), kept)

    async def standings(self, handles: Iterable[str], games: Iterable[str]) -> dict[str, Standing]:
        """Return how these people stand in these games."""
        people, names = sorted(set(handles)), sorted(set(games))
        fields = ("at", *(RATING + game for game in names))
        calls = [Call(packed("HMGET", person_keys(handle).sums, *fields)) for handle in people]
        answers = await self.all(calls)
        return {
            handle: Standing(
                int(at or 0),
                {
                    game: read_rating(text)
                    for game, text in zip(names, ratings, strict=True)
                    if text
                },
            )
            for handle, (at, *ratings) in zip(people, answers, strict=True)
        }

    async def begin(self, plan: SlipBatch) -> SlipBatch | None:
        """Keep a plan. Returns the one that holds; None if the place has moved meanwhile."""
        call = run_call(_BEGIN, (PLACE,), plan.first - 1, plan.generation, encode_plan(plan))
        found: bytes = await self._log.call(call)
        return decode_plan(found) if found else None

    async def apply(self, changes: Sequence[PersonChange], generation: int) -> Applied:
        """Apply changes in this order."""
        answers = await self.all([_apply_call(change, generation) for change in changes])
        pairs = list(zip(changes, answers, strict=True))
        return Applied(
            frozenset(change.handle for change, answer in pairs if answer == 0),
            frozenset(change.handle for change, answer in pairs if answer < 0),
        )

    async def advance(self, plan: SlipBatch, boards: Mapping[str, Mapping[str, int]]) -> bool:
        """End the batch. Returns whether this call did."""
        names = sorted(boards)
        keys = (PLACE, *map(board_key, names))
        rest: list[Argument] = [plan.first - 1, plan.generation, plan.last]
        for name in names:
            rest.append(len(boards[name]))
            for handle, score in sorted(boards[name].items()):
                rest += (score, handle)
        return bool(await self._log.call(run_call(_ADVANCE, keys, *rest)))

    async def lease(self, holder: str, ms: int) -> bool:
        """Take or renew the lease. Safety does not depend on it."""
        if await self._ask("SET", LEASE, holder, "NX", "PX", ms) is not None:
            return True
        if await self._ask("GET", LEASE) != holder.encode():
            return False
        await self._ask("PEXPIRE", LEASE, ms)
        return True

    # Rebuild

    async def order_rebuild(self) -> int:
        """Have all projections made anew. Returns the new generation."""
        place = await self.place()
        generation = place.wiping or place.generation + 1
        await self._ask("HSET", PLACE, "wiping", generation)
        return generation

    async def wipe(self, handles: Iterable[str], generation: int) -> None:
        """Remove the projections of these people."""
        await self.all(
            [
                run_call(_WIPE, person_keys(handle).projected, generation, ERASED_MS)
                for handle in sorted(set(handles))
            ]
        )

    async def wiped(self, generation: int) -> None:
        """All people are wiped: the first slip is next."""
        games = sorted(game.decode() for game in await self._ask("SMEMBERS", GAMES))
        await self._log.call(run_call(_WIPED, (PLACE, *map(board_key, games)), generation))

    # Calls

    async def all(self, calls: Sequence[Call]) -> list[Any]:
        """Make calls in one write. Raises if one of them fails."""
        return await asyncio.gather(*map(self._log.call, calls))

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def write_rating(rating: Rating) -> str:
    return f"{rating.mu} {rating.sigma} {rating.games} {rating.change}"


def read_rating(text: bytes) -> Rating:
    mu, sigma, games, change = text.decode().split(" ")
    return Rating(float(mu), float(sigma), int(games), int(change))


def _apply_call(change: PersonChange, generation: int) -> Call:
    rating = "" if change.rating is None else write_rating(change.rating)
    rest: list[Argument] = [change.number, change.before, generation, change.game, change.seats]
    rest += [change.place, change.score, rating, MOST_PAST, MOST_MET, ERASED_MS, *change.met]
    return run_call(_APPLY, person_keys(change.handle).projected, *rest)


def _slips(entries: list[Any]) -> dict[int, Slip]:
    return {int(name.partition(b"-")[0]): decode_slip(fields[1]) for name, fields in entries}
