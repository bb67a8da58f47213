"""One judgement of tokens, bans and revocations, and the list of connected people.

Every node judges by the lists that it has read from the store, so a judgement is free. It reads
changes once a second, and disconnects people who lost access. While the store does not answer, the
last lists hold.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final, Protocol

import msgspec

from towerhall_server.access.bans import Bans
from towerhall_server.access.revocations import (
    Revocations,
    RevocationStore,
    names_of,
    of_device,
    of_key,
    of_person,
)
from towerhall_server.access.tokens import Token, TokenProblem, Tokens
from towerhall_server.eventlog.operators import OperatorStore
from towerhall_server.room.seats import Person
from towerhall_server.store.errors import StoreError

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0


class Denied(msgspec.Struct, frozen=True):
    """The reason of a denial: a code of the protocol, which is also the name of a close."""

    code: str
    params: Mapping[str, int | str] = {}


BANNED: Final = Denied("banned")
REVOKED: Final = Denied("unauthorized", {"detail": "the token was revoked"})


class Visitor(Protocol):
    """One connection of an admitted person."""

    @property
    def operator(self) -> str:
        """The operator of the room that the person is in; empty if there is none."""
        ...

    def shut_out(self, denied: Denied) -> None:
        """The person lost access: disconnect."""
        ...


class Access:
    """A node's knowledge of valid tokens, and the connections that they admitted."""

    def __init__(
        self, tokens: Tokens, operators: OperatorStore, revocations: RevocationStore
    ) -> None:
        self._tokens = tokens
        self._operators = operators
        self._revocations = revocations
        self.bans = Bans()
        self.revocations = Revocations(revocations, tokens.most_seconds)
        self._here: dict[Visitor, Token] = {}

    def read(self, text: str) -> Token | Denied:
        """Return a token's claims, or the reason why its owner is denied."""
        found = self._tokens.read(text)
        if isinstance(found, TokenProblem):
            return Denied("unauthorized", {"detail": found.detail})
        return self.judge(found) or found

    def judge(self, token: Token, operator: str = "") -> Denied | None:
        """Return why the owner of a signed token is denied, here or in a room of that operator;
        else None."""
        if self.revocations.ends(token):
            return REVOKED
        return BANNED if self.bans.bars(token.person.id, operator) else None

    def holds(self, token: Token) -> bool:
        """Whether a token is neither expired nor revoked."""
        return not self._tokens.is_over(token) and not self.revocations.ends(token)

    # Issue and revoke tokens. This asks the store: this node may not have heard of a revocation
    # yet, and no new token may outlive one.

    async def newer(self, token: Token) -> Token | Denied:
        """Return a token with the same expiry that is newer than all revocations up to now."""
        newer = msgspec.structs.replace(token, after=await self._revocations.stamp())
        # In this order: a revocation after the stamp also ends the newer token.
        return REVOKED if await self._is_revoked(token) else newer

    async def new(
        self, person: Person, seconds: int = 0, *, operator: str = "", device: str = ""
    ) -> Token:
        """Return a token for a person of an operator, or for a device of an account. It is newer
        than all revocations up to now."""
        token = self._tokens.new(person, seconds, operator=operator, device=device)
        after = await self._revocations.after(*names_of(token))
        return msgspec.structs.replace(token, after=after)

    async def revoke(self, token: Token, *, others: bool) -> Denied | None:
        """Revoke all tokens of the same person, or those older than this one."""
        if await self._is_revoked(token):
            return REVOKED
        after = token.after if others else 0
        await self._revocations.revoke(of_person(token.person.id), after=after)
        await self.refresh()
        return None

    async def revoke_device(self, token: Token, device: str) -> Denied | None:
        """Revoke all tokens of one device of the same person."""
        if await self._is_revoked(token):
            return REVOKED
        await self.revoke_devices(token.person.id, device)
        return None

    async def revoke_devices(self, identity: str, *devices: str) -> None:
        """Revoke all tokens of these devices of a person."""
        await self._revocations.revoke(*(of_device(identity, device) for device in devices))
        await self.refresh()

    async def key_holds(self, digest: str) -> bool:
        """Whether an operator's key is not revoked."""
        return not await self._revocations.after(of_key(digest))

    async def _is_revoked(self, token: Token) -> bool:
        return token.after < await self._revocations.after(*names_of(token))

    # Connected people

    def __len__(self) -> int:
        """The number of connections."""
        return len(self._here)

    def enter(self, token: Token, visitor: Visitor) -> None:
        self._here[visitor] = token

    def leave(self, visitor: Visitor) -> None:
        del self._here[visitor]

    def look_round(self) -> None:
        """Disconnect all people who lost access."""
        for visitor, token in tuple(self._here.items()):
            denied = self.judge(token, visitor.operator)
            if denied is not None:
                visitor.shut_out(denied)

    # Changes in the store

    async def refresh(self) -> None:
        """Read the changes in the store."""
        banned, revoked = await asyncio.gather(
            self.bans.read(self._operators), self.revocations.read()
        )
        if banned or revoked:
            self.look_round()

    async def follow(self) -> None:
        """Read the changes in a loop, forever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self.refresh()
            except StoreError as error:
                logger.debug("bans and revocations were not read: %s", error)
