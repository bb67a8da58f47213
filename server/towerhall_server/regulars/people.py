"""People in the store: from ids to handles and back, names, choices, erasure.

The key from an id to a handle and the key `who` of a handle are in different slots, and no script
spans both. So `who` is made first and expires; it stays once the id leads to its handle. An erased
person leaves a mark under the id for some weeks, so that an end which is read later does not bring
the person back. Every call may raise `StoreError` and may be repeated.
"""

import asyncio
import secrets
from collections.abc import Iterable, Sequence
from time import time
from typing import Any, Final

import msgspec

from towerhall_protocol.commands import base64url
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call
from towerhall_server.regulars.journal import DAY_MS, ERASED_MS, load_script
from towerhall_server.regulars.keys import handle_key, person_keys
from towerhall_server.store.batch import Call
from towerhall_server.store.resp import Argument, packed

HANDLE_BYTES: Final = 8
UNCONFIRMED_MS: Final = 3_600_000
GONE: Final = b""
"""The value of an id whose person was erased."""
ERASING: Final = b"!"
"""Before the handle of a person who is being erased, so that an interrupted erasure finds it. No
handle begins with it."""
GONE_MS: Final = 40 * DAY_MS
"""Milliseconds for which an erased id makes no new person by an old game."""
MOST_TRIES: Final = 10
_BORN: Final = load_script("born.lua")
_RENAME: Final = load_script("rename.lua")
_CHOOSE: Final = load_script("choose.lua")
_ERASE: Final = load_script("erase.lua")


class Who(msgspec.Struct, frozen=True):
    """A person as the store knows them."""

    handle: str
    id: str
    name: str
    since_ms: int
    hidden: bool = False
    """Whether only the person may see the profile."""
    chat: str = ""
    """`on`, `off`, or empty: the service's default."""


class PeopleStore:
    """The keys of people."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    async def known(self, identity: str, name: str, named_ms: int) -> str:
        """Return the handle of a person, made if there is none; empty if they were erased. The name
        is kept if it is newer than the one that is there."""
        for _ in range(MOST_TRIES):
            handle = await self._confirmed(identity, name, named_ms)
            if handle is not None:
                if handle:
                    call = run_call(_RENAME, (person_keys(handle).who,), name, named_ms)
                    await self._log.call(call)
                return handle
        raise RuntimeError("an id leads to another handle each time")

    async def _confirmed(self, identity: str, name: str, now_ms: int) -> str | None:
        """One attempt: None if another server was faster."""
        key = handle_key(identity)
        found: bytes | None = await self._ask("GET", key)
        if found is not None and _is_gone(found):
            return ""
        handle = base64url(secrets.token_bytes(HANDLE_BYTES)) if found is None else found.decode()
        who = person_keys(handle).who
        await self._log.call(run_call(_BORN, (who,), identity, name, now_ms, UNCONFIRMED_MS))
        await self._ask("SET", key, handle, "NX")
        # Erasure may have come in between: then the key says so, and what was made expires.
        if await self._ask("GET", key) != handle.encode():
            await self._ask("DEL", who)
            return None
        await self._ask("PERSIST", who)
        return handle

    async def handle_of(self, identity: str) -> str:
        """Return the handle of a person; empty if there is none."""
        found: bytes = await self._ask("GET", handle_key(identity)) or GONE
        return "" if _is_gone(found) else found.decode()

    async def who(self, handle: str) -> Who | None:
        """Return the person of a handle; None if there is none, or none any more."""
        return (await self.all_of([handle])).get(handle)

    async def all_of(self, handles: Iterable[str]) -> dict[str, Who]:
        """Return those of these people who are there, in one round trip."""
        wanted = sorted(set(handles))
        fields = ("id", "name", "since", "hidden", "chat")
        calls = [Call(packed("HMGET", person_keys(handle).who, *fields)) for handle in wanted]
        answers = await self.calls(calls)
        return {
            handle: Who(
                handle,
                found[0].decode(),
                found[1].decode(),
                int(found[2]),
                bool(found[3]),
                (found[4] or b"").decode(),
            )
            for handle, found in zip(wanted, answers, strict=True)
            if found[0] is not None
        }

    async def rename(self, handle: str, name: str) -> None:
        """Keep a person's present name."""
        now_ms = round(1000 * time())
        await self._log.call(run_call(_RENAME, (person_keys(handle).who,), name, now_ms))

    async def choose(self, handle: str, *, hidden: bool | None, chat: bool | None) -> bool:
        """Keep choices of a person; None leaves one as it is. Returns whether the person exists."""
        rest: list[Argument] = []
        if hidden is not None:
            rest += ("hidden", "1" if hidden else "")
        if chat is not None:
            rest += ("chat", "on" if chat else "off")
        return bool(await self._log.call(run_call(_CHOOSE, (person_keys(handle).who,), *rest)))

    async def chat_of(self, identity: str) -> str:
        """Return the choice about chat: `on`, `off` or empty."""
        handle = await self.handle_of(identity)
        found = await self._ask("HGET", person_keys(handle).who, "chat") if handle else None
        return (found or b"").decode()

    async def begin_erasing(self, identity: str) -> str:
        """Close the way from an id to its handle, and return the handle; empty if there was none.
        From here on the person is unknown to all others."""
        key = handle_key(identity)
        found: bytes = await self._ask("GET", key) or GONE
        if found == GONE or found.startswith(ERASING):
            await self._ask("SET", key, found, "PX", GONE_MS)
            return found.removeprefix(ERASING).decode()
        await self._ask("SET", key, ERASING + found, "PX", GONE_MS)
        return found.decode()

    async def end_erasing(self, identity: str, handle: str) -> None:
        """Erase all that a handle has. Only a mark under the digest of the id stays for a while."""
        if handle:
            keys = person_keys(handle)
            await self._log.call(run_call(_ERASE, msgspec.structs.astuple(keys), ERASED_MS))
        await self._ask("SET", handle_key(identity), GONE, "PX", GONE_MS)

    async def calls(self, calls: Sequence[Call]) -> list[Any]:
        """Make calls in one write. Raises if one of them fails."""
        return await asyncio.gather(*map(self._log.call, calls))

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def _is_gone(value: bytes) -> bool:
    return value == GONE or value.startswith(ERASING)
