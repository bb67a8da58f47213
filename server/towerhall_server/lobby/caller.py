"""A person who sends a room one command and does not join it.

A room answers the viewer of a command. This is the smallest viewer. It gets no frames, because it
never joins the audience.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from towerhall_protocol.commands import base64url
from towerhall_protocol.errors import hint
from towerhall_protocol.level import LEVEL
from towerhall_protocol.messages import ClientCommand, ServerRejected
from towerhall_server.frames import Prepared
from towerhall_server.game import Seat
from towerhall_server.live.actor import RoomActor
from towerhall_server.live.items import Command
from towerhall_server.live.viewer import NO_WINDOW
from towerhall_server.room.seats import Person, guest_of
from towerhall_server.store.errors import StoreError

ORIGIN_BYTES: Final = 8
ANSWER_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 0.25


class Caller:
    """One person with one command, as a room's viewer."""

    alive = True
    lags = False
    level = LEVEL

    def __init__(self, person: Person) -> None:
        self.person = person
        # None of this person's other connections has asked, so all may stay.
        self.origin = NO_WINDOW + base64url(os.urandom(ORIGIN_BYTES))
        self.seat: Seat | None = None
        self.claim = 0
        self.is_answered = asyncio.Event()
        self.refusal: ServerRejected | None = None

    def answered(self, n: int) -> None:
        self.is_answered.set()

    def send(self, *messages: Prepared) -> None:
        for prepared in messages:
            if isinstance(prepared.message, ServerRejected):
                self.refusal = prepared.message

    def close(self, reason: str) -> None:
        pass


async def ask(actor: RoomActor, person: Person, body: Mapping[str, Any]) -> ServerRejected | None:
    """Send a room a command of that person. Returns None if it was done, else the refusal.

    Raises `StoreError` if the outcome is unknown: the command may still be done.
    """
    until = monotonic() + ANSWER_SECONDS
    caller = Caller(guest_of(actor.follower.room, person))
    actor.put(Command(caller, ClientCommand(1, "", dict(body))))
    while not caller.is_answered.is_set():
        if actor.ended:
            return ServerRejected(1, "room_gone", "P-40", {}, hint("room_gone", {}))
        if monotonic() > until:
            raise StoreError(f"room {actor.code} does not answer")
        with suppress(TimeoutError):
            await asyncio.wait_for(caller.is_answered.wait(), LOOK_SECONDS)
    return caller.refusal
