"""The primary behind sentinels, and single questions to nodes.

All sentinels are asked at once, and most voices win: one that was cut off may still name an old
primary. The engine they name must say itself that it is one.
"""

import asyncio
from collections import Counter
from typing import Any, Final

import msgspec

from towerhall_server.store.address import Address, Place
from towerhall_server.store.connection import open_wire
from towerhall_server.store.endpoint import Endpoint, endpoint
from towerhall_server.store.errors import StoreDownError, StoreError, StoreRefusedError
from towerhall_server.store.resp import packed

QUICK_SECONDS: Final = 0.5
"""Seconds to wait for a node that is asked who is the primary: others know it as well."""
ROLE: Final = packed("ROLE")


class NoSentinelError(StoreError):
    """The node answered, but as no sentinel, or it does not know the name."""


def at(model: Endpoint, place: Place) -> Endpoint:
    """Return the same endpoint at another host and port."""
    return msgspec.structs.replace(model, host=place[0], port=place[1])


def quick(model: Endpoint) -> Endpoint:
    return msgspec.structs.replace(
        model, connect_seconds=QUICK_SECONDS, answer_seconds=QUICK_SECONDS
    )


async def ask_once(where: Endpoint, *commands: bytes) -> list[Any]:
    """Return the answers of a node, on a connection of their own. Raises `StoreError` for the
    first refusal, too."""
    wire = await open_wire(where)
    answers: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def answered(found: list[Any]) -> None:
        if not answers.done():
            answers.set_result(found)

    try:
        wire.ask(b"".join(commands), len(commands), answered)
        found = await answers
    finally:
        wire.give_up("asked")
    for answer in found:
        if isinstance(answer, StoreError):
            raise answer
    return found


class Sentinels:
    """The sentinels of one URL."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._engine = endpoint(address.at(address.nodes[0]))
        sentinel = endpoint(address.sentinel_at(address.nodes[0]))
        user, password = address.sentinel_user, address.sentinel_password
        greeting = (packed("AUTH", *([user] if user else []), password),) if password else ()
        self._sentinel = quick(msgspec.structs.replace(sentinel, greeting=greeting))
        self._question = packed("SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.name)

    async def find(self) -> Endpoint:
        """Return the primary. Raises `StoreDownError` if nothing listens at its place."""
        asked = (self._named_by(place) for place in self._address.nodes)
        told = await asyncio.gather(*asked, return_exceptions=True)
        failed = next((each for each in told if isinstance(each, StoreError)), None)
        votes = Counter(each for each in told if isinstance(each, tuple))
        for place, _ in votes.most_common():
            where = at(self._engine, place)
            try:
                ((role, *_),) = await ask_once(quick(where), ROLE)
            except StoreError as error:
                failed = error
                continue
            if role == b"master":
                return where
            failed = StoreRefusedError(
                f"READONLY {place[0]}:{place[1]}, which sentinels name, is a replica until the"
                " failover is over"
            )
        raise failed or StoreDownError("no sentinel answers")

    @property
    def first(self) -> Endpoint:
        return at(self._sentinel, self._address.nodes[0])

    async def problem(self) -> StoreError | None:
        """Return why no sentinel names a primary; None if one does."""
        asked = (self._named_by(place) for place in self._address.nodes)
        told = await asyncio.gather(*asked, return_exceptions=True)
        if any(isinstance(each, tuple) for each in told):
            return None
        return next((each for each in told if isinstance(each, StoreError)), None)

    async def _named_by(self, place: Place) -> Place:
        (found,) = await ask_once(at(self._sentinel, place), self._question)
        if not found:
            raise NoSentinelError(f"the sentinel does not know {self._address.name!r}")
        host, port = found
        return host.decode(), int(port)
