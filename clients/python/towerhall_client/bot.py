"""A loop that plays: it waits for its turn, asks a policy, and gives the command.

A policy is any function from the view and the offers to one of the offered commands. It needs no
rules, and nothing here knows any.
"""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from towerhall_client.connection import Table
from towerhall_client.errors import RefusedError
from towerhall_protocol.codec import canonical
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer

Policy: TypeAlias = Callable[[Document, Sequence[Offer]], Mapping[str, Any]]


class Chooser(Protocol):
    """Something that can pick a number, such as `random.Random`."""

    def randrange(self, stop: int, /) -> int: ...


def random_policy(chooser: Chooser | None = None) -> Policy:
    """Any of the offered commands, each equally likely."""
    picking = random.SystemRandom() if chooser is None else chooser

    def choose(view: Document, offers: Sequence[Offer]) -> Mapping[str, Any]:
        number = picking.randrange(sum(offer.count() for offer in offers))
        for offer in offers:
            if number < offer.count():
                return next(c for at, c in enumerate(offer.commands()) if at == number)
            number -= offer.count()
        raise ValueError("nothing is offered")

    return choose


async def play_bot(table: Table, policy: Policy) -> Document:
    """Play until the game is over; the last view. Sit down and start before or meanwhile.

    Where an offer is unsure its command may be refused. The policy is asked again then, and if it
    insists, the next command that was not refused yet is taken.
    """
    tag, refused = "", set[bytes]()
    while offers := await table.turn():
        if table.replay.tag != tag:
            tag, refused = table.replay.tag, set()
        command = policy(table.view, offers)
        if canonical(command) in refused:
            command = _another(offers, refused)
        try:
            await table.send(command)
        except RefusedError as error:
            if error.retry_ms is None:
                refused.add(canonical(command))
            else:
                await asyncio.sleep(error.retry_ms / 1000)
    return table.view


def _another(offers: Sequence[Offer], refused: set[bytes]) -> Mapping[str, Any]:
    for offer in offers:
        for command in offer.commands():
            if canonical(command) not in refused:
                return command
    raise RefusedError("stuck", "every offered command was refused")
