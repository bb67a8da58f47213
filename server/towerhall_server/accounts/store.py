"""Accounts in the store.

An account is one value under its name, and each change compares and swaps it, so that two servers
lose no change of each other. Another key leads from an identity to its account. The two are in
different slots, and no script spans both. So the account is written first: all that a sign-in needs
is in it, and a sign-in repairs the way from the identity. Every call may raise `StoreError`, and
may be repeated.
"""

from collections.abc import Callable
from hashlib import blake2b
from importlib.resources import files
from time import time
from typing import Any, Final

import msgspec

from towerhall_server.access.tokens import Token
from towerhall_server.accounts.account import NOT_THERE, Account, AccountProblem, Changed
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.scripts import run_call
from towerhall_server.store.batch import Call
from towerhall_server.store.errors import StoreError
from towerhall_server.store.resp import Argument, packed, script

DAY_MS: Final = 86_400_000
MOST_TRIES: Final = 20
MOST_SEEN: Final = 10_000
"""Devices of which a node remembers that it has noted them today."""
_SWAP: Final = script((files("towerhall_server.accounts") / "lua" / "swap.lua").read_text())


def account_key(name: str) -> str:
    return f"towerhall:account:{name}"


def owner_key(identity: str) -> str:
    """The key that leads from an identity to its account. It holds a digest, for a reader of the
    store."""
    return f"towerhall:account-of:{_digest(identity)}"


def seen_key(identity: str) -> str:
    """Hash: the day on which each device was seen last. It may be lost."""
    return f"towerhall:seen:{_digest(identity)}"


class AccountStore:
    """The keys of accounts."""

    def __init__(self, log: EventLog, token_seconds: int) -> None:
        self._log, self._keep_ms = log, 1000 * token_seconds
        self._noted: dict[str, int] = {}
        """By device, the day that this node has noted."""

    async def named(self, name: str) -> Account | None:
        """Return the account of that name."""
        return _decoded(await self._ask("GET", account_key(name)))

    async def of(self, identity: str) -> Account | None:
        """Return the account of an identity."""
        found: bytes | None = await self._ask("GET", owner_key(identity))
        account = await self.named(found.decode()) if found else None
        return account if account is not None and account.person.id == identity else None

    async def make(self, account: Account) -> bool:
        """Keep a new account. Returns whether its identity had none yet."""
        if not await self._swap(account_key(account.name), b"", _encoded(account)):
            return False
        if await self.lead(account):
            return True
        await self._ask("DEL", account_key(account.name))
        return False

    async def lead(self, account: Account) -> bool:
        """Let the identity lead to its account, if it leads to no other one. Returns whether it
        does."""
        key = owner_key(account.person.id)
        for _ in range(MOST_TRIES):
            found: bytes = await self._ask("GET", key) or b""
            if found == account.name.encode():
                return True
            if found and await self.named(found.decode()) is not None:
                return False
            if await self._swap(key, found, account.name.encode()):
                # An erasure may have come in between. It must find nothing left.
                if await self.named(account.name) is not None:
                    return True
                await self._ask("DEL", key)
                return False
        raise StoreError("another server writes the same key again and again")

    async def change(self, name: str, change: Callable[[Account], Changed]) -> Changed:
        """Change an account, and return it as it is then, or the problem. The change is computed
        anew if another server was faster."""
        key = account_key(name)
        for _ in range(MOST_TRIES):
            found: bytes | None = await self._ask("GET", key)
            account = _decoded(found)
            if found is None or account is None:
                return NOT_THERE
            changed = change(account)
            if isinstance(changed, AccountProblem) or changed == account:
                return changed
            if await self._swap(key, found, _encoded(changed)):
                return changed
        raise StoreError("other servers change the same account again and again")

    async def erase(self, identity: str) -> None:
        """Erase the account of an identity. The way to it is removed last, so that an interrupted
        erasure can be repeated."""
        found: bytes | None = await self._ask("GET", owner_key(identity))
        if found:
            await self._ask("DEL", account_key(found.decode()))
        await self._ask("DEL", owner_key(identity))
        await self._ask("DEL", seen_key(identity))

    # When devices were seen

    def note_seen(self, token: Token) -> None:
        """Note the day on which a device used its token, at most once a day for each node. The note
        may be lost."""
        today = int(time() * 1000) // DAY_MS
        if not token.device or self._noted.get(token.device) == today:
            return
        if len(self._noted) >= MOST_SEEN:
            self._noted.clear()
        self._noted[token.device] = today
        key = seen_key(token.person.id)
        for command in (
            packed("HSET", key, token.device, today),
            packed("PEXPIRE", key, self._keep_ms),
        ):
            noted = self._log.call(Call(command))
            noted.add_done_callback(lambda noted: noted.cancelled() or noted.exception())

    async def seen(self, identity: str) -> dict[str, int]:
        """Return the beginning of the day on which each device was seen last, in ms."""
        found: list[bytes] = await self._ask("HGETALL", seen_key(identity))
        pairs = zip(found[::2], found[1::2], strict=True)
        return {device.decode(): int(day) * DAY_MS for device, day in pairs}

    async def forget_seen(self, identity: str, *devices: str) -> None:
        await self._ask("HDEL", seen_key(identity), *devices)

    async def _swap(self, key: str, old: bytes, new: bytes) -> bool:
        return bool(await self._log.call(run_call(_SWAP, (key,), old, new, is_durable=True)))

    async def _ask(self, *command: Argument) -> Any:
        return await self._log.call(Call(packed(*command)))


def _encoded(account: Account) -> bytes:
    return msgspec.msgpack.encode(account)


def _decoded(data: bytes | None) -> Account | None:
    return None if data is None else msgspec.msgpack.decode(data, type=Account)


def _digest(identity: str) -> str:
    return blake2b(identity.encode(), digest_size=16).hexdigest()
