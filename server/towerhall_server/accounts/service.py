"""Accounts at work: challenges, passkeys, recovery codes, devices.

Each method takes what a route has read and returns what it answers, or the problem. Tokens come
from `access`, so that no token outlives a revocation. Every method may raise `StoreError`.
"""

import secrets
from collections.abc import Callable
from time import time
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from towerhall_protocol.commands import base64url
from towerhall_server.access.admission import Access, Denied
from towerhall_server.access.tokens import Token
from towerhall_server.accounts import account as changes
from towerhall_server.accounts import codes, passkeys
from towerhall_server.accounts.account import Account, AccountProblem, Changed, Device, Passkey
from towerhall_server.accounts.codes import RecoveryCode
from towerhall_server.accounts.passkeys import Credential, Site
from towerhall_server.accounts.store import AccountStore
from towerhall_server.eventlog.log import EventLog
from towerhall_server.eventlog.single_use import SingleUse
from towerhall_server.room.seats import Person

CHALLENGE_BYTES: Final = 32
Purpose = Literal["new passkey", "sign in"]


class Challenge(msgspec.Struct, frozen=True, array_like=True):
    """What a challenge was given out for."""

    purpose: Purpose
    site: Site
    identity: str = ""
    """The person who asked; empty: a stranger."""
    account: str = ""
    """The account that gets the passkey."""


class SignedIn(msgspec.Struct, frozen=True):
    """A device is signed in."""

    token: Token
    passkey: str = ""
    """Id of the new passkey."""
    recovery_code: RecoveryCode | None = None


GONE: Final = AccountProblem("challenge_gone")


class Accounts:
    """All accounts."""

    def __init__(self, log: EventLog, access: Access, token_seconds: int) -> None:
        self._access = access
        self._challenges = SingleUse(log, "challenge")
        self.store = AccountStore(log, token_seconds)

    # Passkeys

    async def ask_for_passkey(self, token: Token, site: Site) -> dict[str, object] | AccountProblem:
        """Return the options by which a browser makes a passkey for this person."""
        person = token.person
        account = await self.store.of(person.id)
        if account is not None and not _is_fresh(account, token):
            return changes.NOT_FRESH
        name = account.name if account else codes.account_name(_entropy())
        challenge = await self._challenge("new passkey", site, person.id, name)
        known = account.passkeys if account else ()
        return passkeys.creation_options(site, name, person.name, known, challenge)

    async def add_passkey(
        self, token: Token, credential: Credential, device: str, name: str
    ) -> SignedIn | AccountProblem | Denied:
        """Add a passkey to the account of this person; the first one makes the account."""
        asked = await self._taken(credential, "new passkey", token.person.id)
        if isinstance(asked, AccountProblem):
            return asked
        challenge, site, about = asked
        made = passkeys.made_passkey(credential, site, challenge, name or device, _now_ms())
        if isinstance(made, AccountProblem):
            return made
        account = await self.store.of(token.person.id)
        if account is None:
            return await self._new_account(token.person, about.account, made, device)
        if account.name != about.account:
            return GONE
        if not _is_fresh(account, token):
            return changes.NOT_FRESH
        given = await self._access.new(account.person, device=token.device)

        def change(account: Account) -> Changed:
            added = changes.with_passkey(account, made)
            if isinstance(added, AccountProblem):
                return added
            return changes.renewed(added, _device(given))

        changed = await self.store.change(account.name, change)
        return changed if isinstance(changed, AccountProblem) else SignedIn(given, made.id)

    async def _new_account(
        self, person: Person, name: str, passkey: Passkey, device: str
    ) -> SignedIn | AccountProblem | Denied:
        now_ms, code = _now_ms(), codes.recovery_code(name, _entropy())
        # A stamp of its own: with this token the person can end all tokens from before.
        given = await self._access.newer(await self._access.new(person, device=_device_id()))
        if isinstance(given, Denied):
            return given
        bare = Account(name, person, now_ms, (passkey,), code.digest, now_ms)
        account = changes.signed_in(bare, _device(given, device))
        return SignedIn(given, passkey.id, code) if await self.store.make(account) else GONE

    async def remove_passkey(self, token: Token, passkey: str) -> Account | AccountProblem:
        """Remove a passkey: a lost one, for example."""
        return await self._secured(token, lambda account: changes.without_passkey(account, passkey))

    async def new_code(self, token: Token) -> RecoveryCode | AccountProblem:
        """Replace the recovery code."""
        account = await self.store.of(token.person.id)
        if account is None:
            return changes.NOT_THERE
        code = codes.recovery_code(account.name, _entropy())
        changed = await self._secured(
            token, lambda account: changes.with_recovery(account, code, _now_ms())
        )
        return changed if isinstance(changed, AccountProblem) else code

    # Signing in

    async def ask_for_sign_in(
        self, site: Site, token: Token | None
    ) -> dict[str, object] | AccountProblem:
        """Return the options by which a browser uses a passkey: one of this person, if a person
        asks."""
        identity = ""
        known: tuple[Passkey, ...] = ()
        if token is not None:
            identity, account = token.person.id, await self.store.of(token.person.id)
            if account is None:
                return changes.NOT_THERE
            known = account.passkeys
        challenge = await self._challenge("sign in", site, identity)
        return passkeys.request_options(site, known, challenge)

    async def sign_in(
        self, credential: Credential, device: str, token: Token | None
    ) -> SignedIn | AccountProblem | Denied:
        """Sign in by passkey. With a token of the same person its device signs in anew."""
        asked = await self._taken(credential, "sign in", token.person.id if token else "")
        if isinstance(asked, AccountProblem):
            return asked
        challenge, site, _ = asked
        account = await self.store.named(passkeys.account_of(credential))
        if account is None or (token and token.person.id != account.person.id):
            return changes.UNKNOWN
        signed = passkeys.signature(credential, account, site, challenge)
        if isinstance(signed, AccountProblem):
            return signed
        same = token.device if token and account.device(token.device) else ""
        return await self._enter(
            account,
            device,
            same or _device_id(),
            lambda now: changes.used(now, signed.credential, signed.count, _now_ms()),
        )

    async def recover(
        self, code: RecoveryCode, nonce: str, device: str
    ) -> SignedIn | AccountProblem | Denied:
        """Sign in by recovery code. Another code takes its place."""
        account = await self.store.named(code.account)
        if account is None:
            return changes.WRONG_CODE
        after = codes.successor(code, nonce)
        # Checked before the identity is used for anything, and again where it is changed.
        first = changes.recovered(account, code, nonce, _now_ms())
        if isinstance(first, AccountProblem):
            return first
        entered = await self._enter(
            account,
            device,
            after.device,
            lambda now: changes.recovered(now, code, nonce, _now_ms()),
        )
        if isinstance(entered, SignedIn):
            return replace(entered, recovery_code=after.code)
        return entered

    async def _enter(
        self, account: Account, name: str, device: str, change: Callable[[Account], Changed]
    ) -> SignedIn | AccountProblem | Denied:
        """Sign a device in, if the change of the account is possible."""
        given = await self._access.new(account.person, device=device)
        denied = self._access.judge(given)
        if denied is not None:
            return denied
        before: list[Account] = []

        def signed_in(now: Account) -> Changed:
            before[:] = [now]
            changed = change(now)
            if isinstance(changed, AccountProblem):
                return changed
            alive = changes.without_devices(changed, self._dead(changed))
            return changes.signed_in(alive, _device(given, name))

        changed = await self.store.change(account.name, signed_in)
        if isinstance(changed, AccountProblem):
            return changed
        if not await self.store.lead(changed):
            return changes.UNKNOWN
        left = {each.id for each in changed.devices}
        gone = [each.id for each in before[0].devices if each.id not in left]
        if gone:
            await self._access.revoke_devices(account.person.id, *gone)
            await self.store.forget_seen(account.person.id, *gone)
        # The name may have changed since the account was read.
        return SignedIn(replace(given, person=changed.person))

    # Devices

    async def log_out(self, token: Token, device: str) -> Account | AccountProblem | Denied:
        """Log a device of this person out, at all servers."""
        account = await self.store.of(token.person.id)
        if account is None or account.device(device) is None:
            return changes.NOT_THERE
        # First of all: after a failure the device is still in the list, and can be tried again.
        denied = await self._access.revoke_device(token, device)
        if denied is not None:
            return denied
        await self.store.forget_seen(token.person.id, device)
        return await self.store.change(
            account.name, lambda now: changes.without_devices(now, (device,))
        )

    async def renew(self, token: Token) -> None:
        """Note that a device has a newer token."""
        if token.device and (account := await self.store.of(token.person.id)):
            await self.store.change(account.name, lambda now: changes.renewed(now, _device(token)))

    async def rename(self, person: Person) -> None:
        """Note another name of a person, which later tokens have."""
        if account := await self.store.of(person.id):
            await self.store.change(account.name, lambda now: replace(now, person=person))

    # What is kept

    async def shown(self, token: Token) -> dict[str, object]:
        """Return what a person sees of the account: nothing secret. Empty lists if there is
        none."""
        account = await self.store.of(token.person.id)
        if account is None:
            return {"passkeys": [], "devices": []}
        return await self.described(account, token)

    async def described(self, account: Account, token: Token) -> dict[str, object]:
        seen, dead = await self.store.seen(account.person.id), self._dead(account)
        dead.discard(token.device)
        return {
            "since": account.since_ms,
            "recovery": account.recovery_ms,
            "passkeys": [
                {
                    "passkey": each.id,
                    "name": each.name,
                    "site": each.site,
                    "since": each.made_ms,
                    **({"used": each.used_ms} if each.used_ms else {}),
                    **({"synced": True} if each.synced else {}),
                }
                for each in account.passkeys
            ],
            "devices": [
                {
                    "device": each.id,
                    "name": each.name,
                    "since": each.since_ms,
                    "seen": max(each.signed_ms, seen.get(each.id, 0)),
                    **({"own": True} if each.id == token.device else {}),
                }
                for each in account.devices
                if each.id not in dead
            ],
            **({"fresh": True} if _is_fresh(account, token) else {}),
        }

    # Shared parts

    async def _challenge(
        self, purpose: Purpose, site: Site, identity: str = "", account: str = ""
    ) -> bytes:
        challenge = secrets.token_bytes(CHALLENGE_BYTES)
        about = msgspec.msgpack.encode(Challenge(purpose, site, identity, account))
        await self._challenges.keep(base64url(challenge), about, passkeys.CHALLENGE_MS)
        return challenge

    async def _taken(
        self, credential: Credential, purpose: Purpose, identity: str
    ) -> tuple[bytes, Site, Challenge] | AccountProblem:
        """Take the challenge of an answer, which must be of this purpose and person."""
        challenge = passkeys.challenge_of(credential)
        if isinstance(challenge, AccountProblem):
            return challenge
        found = await self._challenges.take(base64url(challenge))
        if found is None:
            return GONE
        about = msgspec.msgpack.decode(found, type=Challenge)
        if about.purpose != purpose or about.identity != identity:
            return GONE
        return challenge, about.site, about

    async def _secured(self, token: Token, change: Callable[[Account], Changed]) -> Changed:
        """Change how this person signs in. Their device must have signed in just now."""
        account = await self.store.of(token.person.id)
        if account is None:
            return changes.NOT_THERE

        def secured(now: Account) -> Changed:
            return change(now) if _is_fresh(now, token) else changes.NOT_FRESH

        return await self.store.change(account.name, secured)

    def _dead(self, account: Account) -> set[str]:
        """The devices whose tokens have expired, or were revoked."""
        return {
            each.id
            for each in account.devices
            if not self._access.holds(_token(account.person, each))
        }


def _device(token: Token, name: str = "") -> Device:
    """The device of a token, as if it signed in now."""
    now_ms = _now_ms()
    return Device(token.device, name, now_ms, now_ms, token.issued, token.expires, token.after)


def _token(person: Person, device: Device) -> Token:
    """The newest token of a device."""
    return Token(person, device.issued, device.expires, after=device.after, device=device.id)


def _is_fresh(account: Account, token: Token) -> bool:
    device = account.device(token.device)
    return device is not None and device.is_fresh(_now_ms())


def _entropy() -> bytes:
    return secrets.token_bytes(codes.ENTROPY_BYTES)


def _device_id() -> str:
    return base64url(secrets.token_bytes(codes.DEVICE_BYTES))


def _now_ms() -> int:
    return round(1000 * time())
