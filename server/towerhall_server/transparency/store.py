"""The public log in the store: its keys, and the calls that read and write them.

All keys share the slot `{log}`, so that one script can add to all of them. Entry bundles and tiles
are strings that only grow. Debts of rooms are in a set in the slot of each shard, where the scripts
of rooms write them. Every call may raise `StoreError` and may be retried.
"""

import asyncio
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, Final

import msgspec

from towerhall_protocol.merkle import EMPTY_ROOT, HASH_BYTES, TILE_HASHES, Piece, Tile
from towerhall_protocol.public_log import Kind, unbundled
from towerhall_server.eventlog.keys import shard_keys
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, Script, packed, script

TAG: Final = "towerhall:{log}"
HEAD: Final = f"{TAG}:head"
INDEX: Final = f"{TAG}:index"
OPEN: Final = f"{TAG}:open"
"""Rooms that were opened and have not ended, by the store's time of their leaf."""
ORIGIN: Final = f"{TAG}:origin"
COSIGNED: Final = f"{TAG}:cosigned"
LONG_DAYS: Final = 30
DAY_MS: Final = 24 * 3_600_000
KINDS: Final[tuple[Kind, ...]] = ("opened", "ended", "dropped")


class DamagedLogError(Exception):
    """The parts of the log in the store are inconsistent. Nothing more is signed."""


class Head(msgspec.Struct, frozen=True):
    """The end of the log in the store."""

    size: int = 0
    root: bytes = EMPTY_ROOT
    checkpoint: str = ""
    """The newest signed checkpoint; it may be of a smaller size."""


class RoomCounts(msgspec.Struct, frozen=True):
    """Counts of the rooms in the log."""

    opened: int
    ended: int
    dropped: int
    open: int
    open_long: int
    """Open for longer than `LONG_DAYS`."""


class Addition(msgspec.Struct, frozen=True):
    """Leaves to add after a head, and the change that they make."""

    before: Head
    size: int
    root: bytes
    names: tuple[tuple[Kind, str], ...]
    """Kind and uid of each leaf."""
    bundles: tuple[tuple[int, int, bytes], ...]
    """The number of each bundle, its length before, and the added bytes."""
    pieces: tuple[Piece, ...]


def _script(name: str) -> Script:
    return script((files("towerhall_server.transparency") / name).read_text())


_GROW: Final = _script("grow.lua")
_SIGN: Final = _script("sign.lua")


class LogStore:
    """The keys of the public log."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    async def origin(self, wanted: str) -> str:
        """Return the name of this log: the first wanted one, then unchanged forever."""
        await self._ask("SET", ORIGIN, wanted, "NX")
        found: bytes = await self._ask("GET", ORIGIN)
        return found.decode()

    async def head(self) -> Head:
        size, root, checkpoint = await self._ask("HMGET", HEAD, "size", "root", "checkpoint")
        return Head(int(size or 0), root or EMPTY_ROOT, (checkpoint or b"").decode())

    async def counts(self) -> RoomCounts:
        """Return the leaves of each kind and the open rooms, as counts."""
        found = await self._ask("HMGET", HEAD, *KINDS)
        seconds, _ = await self._ask("TIME")
        long_ago = 1000 * int(seconds) - LONG_DAYS * DAY_MS
        still_open = await self._ask("ZCARD", OPEN)
        long_open = await self._ask("ZCOUNT", OPEN, "-inf", long_ago)
        opened, ended, dropped = (int(count or 0) for count in found)
        return RoomCounts(opened, ended, dropped, still_open, long_open)

    async def add(self, addition: Addition) -> bool:
        """Add leaves. Returns False if the log no longer ends at that head."""
        before = addition.before
        keys, grown = [HEAD, INDEX, OPEN], list[Argument]()
        for number, length, data in addition.bundles:
            keys.append(bundle_key(number))
            grown += (length, data)
        for piece in addition.pieces:
            keys.append(tile_key(piece.level, piece.number))
            grown += (_length_before(before.size, piece), piece.data)
        names = [part for name in addition.names for part in name]
        places = (before.size, _root(before), addition.size, addition.root, len(addition.names))
        match await self._log.call(run_call(_GROW, tuple(keys), *places, *names, *grown)):
            case [b"OK"]:
                return True
            case [b"DAMAGED", key]:
                raise DamagedLogError(f"{key.decode()} has a wrong length")
        return False

    async def sign(self, head: Head, checkpoint: str) -> bool:
        """Keep the checkpoint of a head, if the log still ends there."""
        call = run_call(_SIGN, (HEAD,), head.size, _root(head), checkpoint)
        return bool(await self._log.call(call))

    async def indices(self, names: Sequence[tuple[Kind, str]]) -> list[int | None]:
        """Return the places of leaves in the log, by kind and uid."""
        found = await self._ask("HMGET", INDEX, *(f"{kind} {uid}" for kind, uid in names))
        return [None if index is None else int(index) for index in found]

    async def bundle(self, number: int) -> bytes:
        """Return leaves of the log; a full bundle has 256."""
        return await self._ask("GET", bundle_key(number)) or b""

    async def leaves(self, number: int) -> tuple[bytes, ...]:
        """Return the leaves, split."""
        found = unbundled(await self.bundle(number))
        if found is None:
            raise DamagedLogError(f"bundle {number} is truncated")
        return found

    async def tiles(self, tiles: Iterable[Tile]) -> dict[Tile, bytes]:
        """Return the content of these tiles, and perhaps more: the log may have grown."""
        wanted = tuple(tiles)
        asked = [self._ask("GET", tile_key(tile.level, tile.number)) for tile in wanted]
        found = dict[Tile, bytes]()
        for tile, answer in zip(wanted, await asyncio.gather(*asked), strict=True):
            if len(answer or b"") < HASH_BYTES * tile.width:
                raise DamagedLogError(f"tile {tile.number} of level {tile.level} is too short")
            found[tile] = answer or b""
        return found

    async def owed(self, shards: Sequence[int], most: int) -> dict[int, list[bytes]]:
        """Return some debts of the rooms of these shards."""
        asked = [self._ask("SRANDMEMBER", shard_keys(shard).owed, most) for shard in shards]
        return dict(zip(shards, await asyncio.gather(*asked), strict=True))

    async def settle(self, shard: int, debts: Sequence[bytes]) -> None:
        """Remove debts whose leaves are in the log."""
        await self._ask("SREM", shard_keys(shard).owed, *debts)

    async def cosign(self, witness: str, data: bytes) -> None:
        """Keep the newest cosignature of a witness."""
        await self._ask("HSET", COSIGNED, witness, data)

    async def cosigned(self) -> dict[str, bytes]:
        """Return the newest cosignature of each witness."""
        found = await self._ask("HGETALL", COSIGNED)
        return {name.decode(): data for name, data in zip(found[::2], found[1::2], strict=True)}

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def bundle_key(number: int) -> str:
    return f"{TAG}:entries:{number}"


def tile_key(level: int, number: int) -> str:
    return f"{TAG}:tile:{level}:{number}"


def _root(head: Head) -> bytes:
    """Return the root as the scripts compare it: an empty log has none."""
    return head.root if head.size else b""


def _length_before(size: int, piece: Piece) -> int:
    """Return the size in bytes of a tile in the log of that size."""
    hashes = (size >> (8 * piece.level)) - piece.number * TILE_HASHES
    return HASH_BYTES * max(0, hashes)
