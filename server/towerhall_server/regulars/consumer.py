"""The consumer: notes ends of games in the journal, and applies slips to people.

It may be killed after every call to the store, and run anew, also twice at the same time. An end
stays in the set of its shard until its slip is in the journal, and the journal knows the uids of
its games. A batch of slips begins with a plan in the store; all that follows is computed from it.
Nothing here runs before a game has ended.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from time import monotonic, time
from typing import Final

from towerhall_server.eventlog.keys import SHARDS
from towerhall_server.regulars.ends import End
from towerhall_server.regulars.journal import ConsumerPlace, Journal
from towerhall_server.regulars.people import PeopleStore
from towerhall_server.regulars.slips import Hand, Slip, SlipBatch, outcome_of
from towerhall_server.room.state import Room
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

BATCH: Final = 128
"""Slips that are applied together."""
WIPE_BATCH: Final = 500
LOOK_SECONDS: Final = 1.0
SWEEP_SECONDS: Final = 60.0
"""Seconds between two looks at all shards: the news of an end may be lost with its server."""
LEASE_MS: Final = 15_000
READ_SECONDS: Final = 30.0
"""Seconds for reading one room. A room that cannot be read must not stop all others."""

ReadEnd = Callable[[str], Awaitable[End | None]]
"""Returns the end of the game in a room; None if there is none, or no such room."""


class Consumer:
    """The consumer of one server."""

    def __init__(
        self, journal: Journal, people: PeopleStore, read: ReadEnd, holder: str, batch: int = BATCH
    ) -> None:
        self._journal, self._people, self._read = journal, people, read
        self._holder, self._batch = holder, batch
        self._swept_at = float("-inf")
        self._bell = asyncio.Event()

    def heard(self, before: Room | None, after: Room) -> None:
        """This node has appended a commit. Returns at once unless it ended a game."""
        if after.table.status == "over" and (before is None or before.table.status != "over"):
            self._journal.ring(after.table.code)
            self._bell.set()

    async def run(self) -> None:
        """Consume in a loop, forever."""
        while True:
            more = False
            try:
                if await self._journal.lease(self._holder, LEASE_MS):
                    more = await self.step()
            except StoreError as error:
                logger.info("the journal of ends waits: %s", error)
            if not more:
                self._bell.clear()
                try:
                    await asyncio.wait_for(self._bell.wait(), LOOK_SECONDS)
                except TimeoutError:
                    continue

    async def step(self) -> bool:
        """Do one round. Returns whether more work may be pending."""
        place = await self._journal.place()
        if place.wiping:
            await self._wipe(place.wiping)
            return True
        await self._note_all()
        return await self.apply(place)

    async def finish(self) -> None:
        """Apply all slips that are in the journal; wipe first if a rebuild was ordered."""
        while True:
            place = await self._journal.place()
            if place.wiping:
                await self._wipe(place.wiping)
            elif not await self.apply(place):
                return

    # Ends

    async def _note_all(self) -> None:
        shards = await self._journal.ringing()
        if monotonic() - self._swept_at > SWEEP_SECONDS:
            shards, self._swept_at = list(range(SHARDS)), monotonic()
        for room in await self._journal.waiting(shards):
            try:
                await self.note(room)
            except StoreError:
                raise
            except Exception:
                # Another server may be able to read it; the sweep comes back to it.
                logger.exception("the end of room %s is not noted", room)

    async def note(self, room: str) -> None:
        """Put the end of the game in a room into the journal."""
        async with asyncio.timeout(READ_SECONDS):
            end = await self._read(room)
        if end is not None and not await self._journal.knows(end.uid):
            await self._journal.note(await self._slip(end), round(1000 * time()))
        await self._journal.settle(room)

    async def _slip(self, end: End) -> Slip:
        hands = [
            Hand(
                await self._people.known(seat.identity, seat.name, end.ended_ms)
                if seat.identity
                else "",
                seat.place,
                seat.score,
                seat.level,
                seat.stand_in,
                seat.resigned,
            )
            for seat in end.seats
        ]
        return Slip(
            end.uid,
            end.code,
            end.game,
            end.version,
            end.ended_ms,
            end.rated,
            end.private,
            tuple(hands),
        )

    # Slips

    async def apply(self, place: ConsumerPlace) -> bool:
        """Apply the next batch. Returns whether there was one."""
        plan = place.plan
        slips = await self._journal.after(place.number, self._batch)
        if plan is None:
            if not slips:
                return False
            handles = [handle for slip in slips.values() for handle in slip.handles]
            games = [slip.game for slip in slips.values()]
            standings = await self._journal.standings(handles, games)
            first, last = place.number + 1, max(slips)
            plan = await self._journal.begin(SlipBatch(first, last, place.generation, standings))
            if plan is None:
                return True
        if plan.last not in slips:
            # Another server plans larger batches.
            slips = await self._journal.after(place.number, plan.last - place.number)
        outcome = outcome_of(plan, slips)
        applied = await self._journal.apply(outcome.changes, plan.generation)
        if applied.lacking:
            logger.error(
                "%d people lack slips before %d: run `towerhall projections rebuild`",
                len(applied.lacking),
                plan.last,
            )
        boards = {
            game: {handle: score for handle, score in board.items() if handle not in applied.erased}
            for game, board in outcome.boards.items()
        }
        await self._journal.advance(plan, boards)
        return True

    async def _wipe(self, generation: int) -> None:
        number = 0
        while slips := await self._journal.after(number, WIPE_BATCH):
            handles = {handle for slip in slips.values() for handle in slip.handles}
            await self._journal.wipe(handles, generation)
            number = max(slips)
        await self._journal.wiped(generation)
