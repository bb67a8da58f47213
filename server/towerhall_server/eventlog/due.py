"""A queue of things to look at, in the store: each has a time, and one node at a time works on it.

A node leases what is due. If it dies, the lease ends and another node gets the thing: so work is
done at least once. Webhooks have one queue for each operator, pushes have one. Every call may raise
`StoreError`; all but `look` may be retried.
"""

from typing import Final, Literal

from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call, script_of
from towerhall_server.store.batch import Call

Going = Literal["on", "again", "rest", "over"]
_LOOK: Final = script_of("look.lua")
_CLAIM: Final = script_of("claim_delivery.lua")
_SETTLE: Final = script_of("settle.lua")


class DueQueue:
    """The keys of one queue. `tag` begins them, and has braces: they share a slot."""

    def __init__(self, log: EventLog, tag: str) -> None:
        self._log = log
        self.due, *rest = (f"{tag}:{name}" for name in ("rooms", "busy", "news", "told"))
        self._keys = (self.due, *rest)

    @property
    def keys(self) -> tuple[str, ...]:
        return self._keys

    def look(self, name: str) -> None:
        """Note that a thing is due. The note may be lost."""
        noted = self._log.call(self._look_call(name))
        noted.add_done_callback(lambda noted: noted.cancelled() or noted.exception())

    async def add(self, name: str) -> None:
        """The same, and wait until the store has it."""
        await self._log.call(self._look_call(name))

    def _look_call(self, name: str) -> Call:
        return run_call(_LOOK, self._keys[:3], name)

    async def claim(self, claim: str, ms: int, most: int) -> dict[str, bytes]:
        """Lease things that are due. Returns them with what was noted of them last."""
        found = await self._log.call(run_call(_CLAIM, self._keys, claim, ms, most))
        return {name.decode(): data for name, data in zip(found[::2], found[1::2], strict=True)}

    async def settle(self, name: str, claim: str, data: bytes, going: Going, ms: int) -> bool:
        """Note how far the work is, and what follows. Returns whether the claim still held."""
        call = run_call(_SETTLE, self._keys, name, claim, data, going, ms)
        return bool(await self._log.call(call))
