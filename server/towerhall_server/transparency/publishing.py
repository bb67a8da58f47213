"""Adds the leaves that rooms owe to the public log, and signs its checkpoints.

Any node may do it. About once a second it reads the head of the log in the store, and adds owed
leaves in one script that compares the head: of two concurrent nodes one succeeds. A node signs only
a log that it has seen in the store and that continues all that it has seen before. It never
signs two states of which neither is the beginning of the other.

Failure cases:

- A reply is lost: the next look shows whether the leaves are there. A leaf is never added twice:
  each room has one leaf of each kind.
- A node dies: the debts of its rooms are in the store, and another node finds them.
- The store is down or full: all work waits and is retried. No room waits for it.
- The store became an older copy of itself: a node that knows a longer log puts the rest back, leaf
  by leaf. After a break of the connection no new leaf is added for some seconds, so that the node
  with the longest log comes first.
- The store holds another log than the one seen before, or an end that is too old to be put back:
  this node stops adding and signing, and logs that.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from time import monotonic
from typing import Final

from towerhall_protocol.merkle import (
    HASH_BYTES,
    TILE_HASHES,
    Edge,
    edge_root,
    edge_tiles,
    leaf_hash,
)
from towerhall_protocol.notes import Checkpoint, Note
from towerhall_protocol.public_log import Kind, bundled, kind_of, read_leaf
from towerhall_server.eventlog.keys import SHARDS, shard_of
from towerhall_server.eventlog.notifications import Missed, Wake
from towerhall_server.signing.signer import Signer
from towerhall_server.store.errors import StoreError
from towerhall_server.telemetry.meters import Meters
from towerhall_server.transparency.seen import Growth, Seen
from towerhall_server.transparency.store import Addition, DamagedLogError, Head, LogStore

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
SETTLE_SECONDS: Final = 2.0
"""Seconds after a break of the connection in which no new leaf is added."""
SWEEP_SECONDS: Final = 60.0
"""Seconds between two reads of all shards' debts: a node may have died with its triggers."""
MOST_AT_ONCE: Final = 256
"""Leaves that are added in one batch."""
MOST_DEBTS: Final = MOST_AT_ONCE // 2
"""Leaves of one debt, at most."""
SHARDS_AT_ONCE: Final = 16
COMPLAIN_SECONDS: Final = 60.0

Debt = bytes
"""Return the leaves of a debt, one per line, in order."""


class Publishing:
    """One node's part in the public log."""

    def __init__(
        self,
        store: LogStore,
        signer: Signer,
        origin: str,
        *,
        meters: Meters | None = None,
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        self._store, self._signer, self._origin = store, signer, origin
        self._meters = meters if meters is not None else Meters()
        self._settle_seconds = settle_seconds
        self._seen: Seen | None = None
        self._shards = dict.fromkeys(range(SHARDS))
        """Shards whose rooms may owe something, in the order of asking."""
        self._swept_at = monotonic()
        self._settled_at = float("-inf")
        self._complained_at = float("-inf")

    # Rooms

    def owe(self, room: str) -> None:
        """This room has left a debt in the store. Must not raise."""
        self._shards[shard_of(room)] = None

    async def tapped(self, wakes: AsyncIterator[Wake]) -> AsyncIterator[Wake]:
        """Pass news through. After a break the store may be an older copy of itself."""
        async for wake in wakes:
            if isinstance(wake, Missed):
                self.doubt()
            yield wake

    def doubt(self) -> None:
        """Add no new leaf for a while: another node may have to put something back."""
        self._settled_at = monotonic() + self._settle_seconds

    # The loop

    async def run(self) -> None:
        """Keep the log up to date, forever."""
        while True:
            more = False
            try:
                more = await self.step()
            except StoreError as error:
                self.doubt()
                logger.info("the public log waits: %s", error)
            except DamagedLogError as problem:
                self._meters.log_faults += 1
                self._complain(problem)
            await asyncio.sleep(0 if more else LOOK_SECONDS)

    async def step(self) -> bool:
        """Do one round. Returns whether more work may be pending."""
        if monotonic() - self._swept_at > SWEEP_SECONDS:
            self._shards, self._swept_at = dict.fromkeys(range(SHARDS)), monotonic()
        head = await self._store.head()
        seen = await self._follow(head)
        if head.size < seen.size:
            await self._put_back(head, seen)
            return True
        await self._sign(head)
        if monotonic() < self._settled_at:
            return False
        return await self._add(head, seen)

    async def _follow(self, head: Head) -> Seen:
        """Read leaves of other nodes. The log in the store must continue the log seen before, or
        lack its end. With any other log this node stops working."""
        if self._seen is None:
            self._seen = await self._first_look(head)
        if self._seen.size < head.size:
            self._seen = await self._longer(self._seen, head)
        seen = self._seen
        earlier = seen.before(head.size)
        if earlier is None:
            raise DamagedLogError(
                f"the store has the first {head.size} of {seen.size} leaves, and they are too few"
                " for this server to put the others back"
            )
        if earlier.root != head.root:
            raise DamagedLogError(_fork(seen.size, head.size))
        return seen

    async def _longer(self, seen: Seen, head: Head) -> Seen:
        """Return the log up to this head, if it continues the log seen before."""
        found = seen.copy()
        while found.size < head.size:
            number, first = divmod(found.size, TILE_HASHES)
            leaves = (await self._store.leaves(number))[first:][: head.size - found.size]
            if not leaves:
                raise DamagedLogError(f"leaf {found.size} of {head.size} is missing")
            found.take(found.with_more(leaves))
        if found.root != head.root:
            raise DamagedLogError(_fork(seen.size, head.size))
        return found

    async def _first_look(self, head: Head) -> Seen:
        """Take the log of the store, if its parts are consistent."""
        tiles = list(edge_tiles(head.size))
        found = await self._store.tiles(tile for tile in tiles if tile.width)
        edge = Edge(
            head.size, tuple(found.get(tile, b"")[: HASH_BYTES * tile.width] for tile in tiles)
        )
        if edge_root(edge) != head.root:
            raise DamagedLogError(f"the tiles do not lead to the root of {head.size} leaves")
        number, width = divmod(head.size, TILE_HASHES)
        leaves = (await self._store.leaves(number))[:width] if width else ()
        if width and b"".join(map(leaf_hash, leaves)) != edge.tiles[0]:
            raise DamagedLogError(f"bundle {number} does not hold the leaves of its tile")
        return Seen(edge)

    async def _put_back(self, head: Head, seen: Seen) -> None:
        """Put the lost end of the log back, unchanged."""
        lost, earlier = seen.since(head.size), seen.before(head.size)
        logger.warning(
            "the store has lost %d leaves of the public log, which are put back", len(lost)
        )
        if earlier is not None:
            await self._store.add(
                await self._addition(head, earlier.with_more(lost[:MOST_AT_ONCE]))
            )

    async def _sign(self, head: Head) -> None:
        """Sign the log in the store, if no node has. This node has just seen all of it."""
        checkpoint = Checkpoint(self._origin, head.size, head.root)
        if not head.checkpoint.startswith(checkpoint.text):
            line = self._signer.sign_note(self._origin, checkpoint.text)
            await self._store.sign(head, str(Note(checkpoint.text, (line,))))

    async def _add(self, head: Head, seen: Seen) -> bool:
        """Add owed leaves that are not in the log yet. Returns whether more are pending."""
        shards = list(self._shards)[:SHARDS_AT_ONCE]
        owed = await self._store.owed(shards, MOST_DEBTS)
        for shard in shards:
            del self._shards[shard]
        others = bool(self._shards)
        self._shards |= {shard: None for shard, listed in owed.items() if listed}
        debts = list(dict.fromkeys(debt for listed in owed.values() for debt in listed))
        debts = debts[:MOST_DEBTS]
        wanted = await self._missing(debts)
        if wanted:
            growth = seen.with_more(wanted)
            if not await self._store.add(await self._addition(head, growth)):
                return True
            seen.take(growth)
            self._meters.log_leaves += len(wanted)
            await self._sign(Head(growth.edge.size, growth.root))
        done = set(debts)
        for shard, listed in owed.items():
            if settled := [debt for debt in listed if debt in done]:
                await self._store.settle(shard, settled)
        return others or len(debts) == MOST_DEBTS

    async def _missing(self, debts: Sequence[Debt]) -> list[bytes]:
        """Return the owed leaves that are not in the log. A room opens before it closes."""
        leaves = dict[tuple[Kind, str], bytes]()
        for text in (line for debt in debts for line in debt.split(b"\n")):
            leaf = read_leaf(text)
            if leaf is None:
                logger.error("a debt to the public log is not a leaf: %r", text[:200])
            else:
                leaves.setdefault((kind_of(leaf), leaf.uid), text)
        if not leaves:
            return []
        names = sorted(leaves, key=lambda name: name[0] != "opened")
        found = await self._store.indices(names)
        return [leaves[name] for name, at in zip(names, found, strict=True) if at is None]

    async def _addition(self, head: Head, growth: Growth) -> Addition:
        """Compute the change of the store."""
        names, bundles = list[tuple[Kind, str]](), dict[int, bytes]()
        for number, text in enumerate(growth.leaves, start=head.size):
            leaf = read_leaf(text)
            if leaf is None:
                raise DamagedLogError(f"leaf {number} is invalid")
            names.append((kind_of(leaf), leaf.uid))
            at = number // TILE_HASHES
            bundles[at] = bundles.get(at, b"") + bundled(text)
        first = head.size // TILE_HASHES
        length = len(await self._store.bundle(first)) if head.size % TILE_HASHES else 0
        return Addition(
            head,
            growth.edge.size,
            growth.root,
            tuple(names),
            tuple((at, length if at == first else 0, data) for at, data in bundles.items()),
            growth.pieces,
        )

    def _complain(self, problem: DamagedLogError) -> None:
        if monotonic() - self._complained_at > COMPLAIN_SECONDS:
            self._complained_at = monotonic()
            logger.error("nothing is added to the public log: %s", problem)


def _fork(seen: int, found: int) -> str:
    return (
        f"the log of {found} leaves in the store does not continue the one of {seen} leaves that"
        " this server has seen"
    )
