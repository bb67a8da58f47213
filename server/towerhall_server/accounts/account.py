"""An account, and all changes of it. This module is pure.

An account belongs to one identity and has one key in the store. `name` is its user handle, which
passkeys carry: it is random and tells nothing of the identity. A change returns the account after
it, or the problem that forbids it. Time and entropy are arguments.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

import msgspec
from msgspec.structs import replace

from towerhall_protocol.commands import base64url
from towerhall_server.accounts.codes import RecoveryCode, successor
from towerhall_server.room.seats import Person

MOST_PASSKEYS: Final = 10
MOST_DEVICES: Final = 20
FRESH_MS: Final = 15 * 60_000
"""Milliseconds after a sign-in in which its device may change how people sign in. A stolen token
alone must not be enough to take an account over."""


class AccountProblem(msgspec.Struct, frozen=True):
    """Why something was not done: a code of the protocol, and its detail."""

    code: str
    detail: str = ""


class Passkey(msgspec.Struct, frozen=True, array_like=True):
    """The public half of a passkey."""

    credential: bytes
    public_key: bytes
    site: str
    """The domain to which it belongs (relying party id)."""
    name: str
    made_ms: int
    used_ms: int = 0
    count: int = 0
    """The counter of its last use. Synchronised passkeys stay at 0."""
    synced: bool = False

    @property
    def id(self) -> str:
        """A short name for lists. Ids of credentials have up to 1023 bytes."""
        return base64url(blake2b(self.credential, digest_size=8).digest())


class Device(msgspec.Struct, frozen=True, array_like=True):
    """A device that is signed in, with the claims of its newest token."""

    id: str
    name: str
    since_ms: int
    signed_ms: int
    """The last time at which the person proved by passkey or code who they are."""
    issued: int
    expires: int
    """In seconds, as in tokens."""
    after: int

    def is_fresh(self, now_ms: int) -> bool:
        return now_ms - self.signed_ms < FRESH_MS


class Account(msgspec.Struct, frozen=True, array_like=True):
    """One account."""

    name: str
    person: Person
    since_ms: int
    passkeys: tuple[Passkey, ...]
    recovery: bytes
    """Digest of the secret of the recovery code."""
    recovery_ms: int
    devices: tuple[Device, ...] = ()

    def passkey(self, credential: bytes) -> Passkey | None:
        return next((each for each in self.passkeys if each.credential == credential), None)

    def device(self, device: str) -> Device | None:
        return next((each for each in self.devices if each.id == device), None)


Changed = Account | AccountProblem

NOT_FRESH: Final = AccountProblem("sign_in_first")
UNKNOWN: Final = AccountProblem("bad_passkey", "no account here has this passkey")
CLONED: Final = AccountProblem("bad_passkey", "a copy of this passkey was used elsewhere")
WRONG_CODE: Final = AccountProblem("bad_recovery_code")
NOT_THERE: Final = AccountProblem("not_found")


def signed_in(account: Account, device: Device) -> Account:
    """A device has signed in, perhaps again. Beyond the most devices, those that signed in longest
    ago are left out: their tokens have to be revoked."""
    known = account.device(device.id)
    if known is not None:
        device = replace(device, since_ms=known.since_ms, name=device.name or known.name)
    others = [each for each in account.devices if each.id != device.id]
    newest = sorted(others, key=lambda each: each.signed_ms, reverse=True)[: MOST_DEVICES - 1]
    return replace(account, devices=(*(each for each in others if each in newest), device))


def used(account: Account, credential: bytes, count: int, now_ms: int) -> Changed:
    """A passkey was used, and its counter was this. A counter that does not grow belongs to a copy
    of the passkey, unless it never counts."""
    passkey = account.passkey(credential)
    if passkey is None:
        return UNKNOWN
    if (count or passkey.count) and count <= passkey.count:
        return CLONED
    now_used = replace(passkey, count=count, used_ms=now_ms)
    return replace(account, passkeys=_replaced(account.passkeys, now_used))


def with_passkey(account: Account, passkey: Passkey) -> Changed:
    if account.passkey(passkey.credential) is not None:
        return AccountProblem("bad_passkey", "the account has this passkey already")
    if len(account.passkeys) >= MOST_PASSKEYS:
        return AccountProblem("bad_request", f"an account has at most {MOST_PASSKEYS} passkeys")
    return replace(account, passkeys=(*account.passkeys, passkey))


def without_passkey(account: Account, passkey: str) -> Changed:
    left = tuple(each for each in account.passkeys if each.id != passkey)
    if len(left) == len(account.passkeys):
        return NOT_THERE
    return replace(account, passkeys=left) if left else AccountProblem("last_passkey")


def recovered(account: Account, code: RecoveryCode, nonce: str, now_ms: int) -> Changed:
    """A recovery code was used: the one after it takes its place. The same request again, after a
    lost answer, changes nothing."""
    after = successor(code, nonce).code
    if after.opens(account.recovery):
        return account
    if not code.opens(account.recovery):
        return WRONG_CODE
    return with_recovery(account, after, now_ms)


def with_recovery(account: Account, code: RecoveryCode, now_ms: int) -> Account:
    return replace(account, recovery=code.digest, recovery_ms=now_ms)


def without_devices(account: Account, gone: Iterable[str]) -> Account:
    gone = set(gone)
    return replace(account, devices=tuple(each for each in account.devices if each.id not in gone))


def renewed(account: Account, newer: Device) -> Account:
    """A device has a newer token, without a sign-in."""
    devices = tuple(
        replace(each, issued=newer.issued, expires=newer.expires, after=newer.after)
        if each.id == newer.id
        else each
        for each in account.devices
    )
    return replace(account, devices=devices)


def _replaced(passkeys: tuple[Passkey, ...], newer: Passkey) -> tuple[Passkey, ...]:
    return tuple(newer if each.credential == newer.credential else each for each in passkeys)
