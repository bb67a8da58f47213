"""Revoked tokens and keys, in the store and as this node knows them.

A revocation has a name (of a person, a device of a person, an operator or a key) and a stamp. The
`after` of a token is the newest stamp that its issuer knew. Every later revocation of its person,
its device or its operator ends it.
Stamps come from the store and only grow, so no two clocks are compared.

A revocation is final. A node never forgets one, and writes it back to a store that was restored
from an older copy. `admission` decides who is disconnected.
"""

from collections.abc import Sequence
from importlib.resources import files
from time import time
from typing import Any, Final

import msgspec

from towerhall_server.access.tokens import DAY_SECONDS, Token
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Script, packed, script

AFTER: Final = "towerhall:{revocations}:after"
NEWS: Final = "towerhall:{revocations}:news"
SPARE_SECONDS: Final = DAY_SECONDS
"""Seconds for which the store keeps a name beyond the life of tokens: a margin for clocks."""
KEY: Final = "key "


def _script(name: str) -> Script:
    return script((files("towerhall_server.access") / "lua" / name).read_text())


_REVOKE: Final = _script("revoke.lua")
_REVOKED: Final = _script("revoked.lua")


def of_person(identity: str) -> str:
    """The name under which all tokens of a person end."""
    return f"person {identity}"


def of_device(identity: str, device: str) -> str:
    """The name under which all tokens of one device of a person end."""
    return f"device {identity} {device}"


def of_operator(name: str) -> str:
    """The name under which all tokens of an operator end."""
    return f"operator {name}"


def of_key(digest: str) -> str:
    """The name under which an operator's key ends."""
    return KEY + digest


def names_of(token: Token) -> tuple[str, ...]:
    """All names under which a token ends."""
    names = [of_person(token.person.id)]
    if token.device:
        names.append(of_device(token.person.id, token.device))
    if token.operator:
        names.append(of_operator(token.operator))
    return tuple(names)


class RevokedName(msgspec.Struct, frozen=True):
    """One revoked name."""

    name: str
    after: int
    changed: int
    """Stamp of the change; later than `after` if newer tokens stay valid."""


class RevocationStore:
    """The revocations in the store. Every call may raise `StoreError`, and may be retried."""

    def __init__(self, log: EventLog, token_seconds: int = 0) -> None:
        self._log = log
        self._keep_ms = 1000 * (token_seconds + SPARE_SECONDS) if token_seconds else 0

    async def stamp(self) -> int:
        """Return a stamp that is later than all revocations up to now."""
        return await self.revoke()

    async def revoke(self, *names: str, after: int = 0) -> int:
        """Revoke everything given to these names until now, or before the stamp `after`."""
        call = run_call(_REVOKE, (AFTER, NEWS), after or "", self._keep_ms, *names)
        return int(await self._log.call(call))

    async def after(self, *names: str) -> int:
        """Return the newest stamp of these names; 0 if none was ever revoked."""
        found = await self._log.call(Call(packed("HMGET", AFTER, *names)))
        return max(int(stamp or 0) for stamp in found)

    async def since(self, changed: int) -> tuple[int, list[RevokedName]]:
        """Return the number of names, and the changes after that stamp."""
        found: list[Any] = await self._log.call(run_call(_REVOKED, (AFTER, NEWS), changed))
        count, *fields = found
        triples = zip(fields[::3], fields[1::3], fields[2::3], strict=True)
        return count, [RevokedName(name.decode(), int(a), int(c)) for name, a, c in triples]


class Revocations:
    """All revocations that matter, as this node knows them."""

    def __init__(self, store: RevocationStore, token_seconds: int) -> None:
        self._store = store
        self._token_ms = 1000 * token_seconds
        self._after: dict[str, int] = {}
        self._read = 0

    def ends(self, token: Token) -> bool:
        """Whether a token, its device or its operator, was revoked."""
        return any(token.after < self._after.get(name, 0) for name in names_of(token))

    def ends_key(self, digest: str) -> bool:
        return of_key(digest) in self._after

    async def read(self) -> bool:
        """Read the changes from the store. Returns whether there were any."""
        count, changes = await self._store.since(self._read)
        news = self._take(changes)
        if count != len(self._after):
            news |= await self._compare()
        return news

    async def _compare(self) -> bool:
        """Read all revocations of the store, and write back those that it lost. Expired ones are
        dropped: no token is left that they could end."""
        _, changes = await self._store.since(0)
        news = self._take(changes)
        kept = {change.name for change in changes}
        oldest = round(1000 * time()) - self._token_ms
        for name, after in tuple(self._after.items()):
            if name in kept:
                continue
            if after < oldest and not name.startswith(KEY):
                del self._after[name]
            else:
                await self._store.revoke(name, after=after)
        return news

    def _take(self, changes: Sequence[RevokedName]) -> bool:
        news = False
        for change in changes:
            self._read = max(self._read, change.changed)
            if change.after > self._after.get(change.name, 0):
                self._after[change.name] = change.after
                news = True
        return news
