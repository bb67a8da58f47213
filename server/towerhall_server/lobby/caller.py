"""Somebody who asks a room for one thing and does not stay to look.

A room answers whoever sent a command; this is the smallest viewer that can be answered. It gets no
frames, because it never joins the audience.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from towerhall_protocol.commands import base64url
from towerhall_protocol.errors import hint
from towerhall_protocol.messages import ClientCommand, ServerRejected
from towerhall_server.eventlog.errors import StoreError
from towerhall_server.game import Seat
from towerhall_server.room.actor import RoomActor
from towerhall_server.room.inbox import Command
from towerhall_server.room.prepared import Prepared
from towerhall_server.room.seats import Person
from towerhall_server.room.viewer import NO_WINDOW

ORIGIN_BYTES: Final = 8
ANSWER_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 0.25


class _Unanswered(set[int]):
    """The room takes a number out when it has answered the command: that is the answer."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = asyncio.Event()

    def discard(self, n: object) -> None:
        super().discard(n)
        self.answered.set()


class Caller:
    """One person with one command."""

    alive = True
    lags = False

    def __init__(self, person: Person) -> None:
        self.person = person
        # Whatever windows this person has open, none of them has asked: all may stay.
        self.origin = NO_WINDOW + base64url(os.urandom(ORIGIN_BYTES))
        self.seat: Seat | None = None
        self.claim = 0
        self.unanswered: set[int] = set()
        self.refusal: ServerRejected | None = None

    def send(self, *messages: Prepared) -> None:
        for prepared in messages:
            if isinstance(prepared.message, ServerRejected):
                self.refusal = prepared.message

    def close(self, reason: str) -> None:
        pass


async def ask(actor: RoomActor, person: Person, body: Mapping[str, Any]) -> ServerRejected | None:
    """Give a room a command of that person: nothing if it was done, or why not.

    `StoreError` if that cannot be known now: it may still be done.
    """
    until = monotonic() + ANSWER_SECONDS
    caller = Caller(person)
    caller.unanswered = unanswered = _Unanswered()
    unanswered.add(1)
    actor.put(Command(caller, ClientCommand(1, "", dict(body))))
    while not unanswered.answered.is_set():
        if actor.ended:
            return ServerRejected(1, "room_gone", "P-40", {}, hint("room_gone", {}))
        if monotonic() > until:
            raise StoreError(f"room {actor.code} does not answer")
        with suppress(TimeoutError):
            await asyncio.wait_for(unanswered.answered.wait(), LOOK_SECONDS)
    return caller.refusal
