"""Clients that play for the kit: our Python client in this process, and any program."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final

from towerhall_client.connection import Table, connect
from towerhall_client.errors import RefusedError, TableClosedError
from towerhall_client.retry import Retry
from towerhall_conformance.case import Case, Verdict
from towerhall_conformance.guest import Guest, Patience
from towerhall_conformance.programs import run_program
from towerhall_conformance.stage import Stage, open_stage
from towerhall_protocol.level import MSGPACK

PATIENCE_SECONDS = 8.0
IMPATIENT: Final = Retry(first_seconds=0.25, most_seconds=2.0, patience_seconds=60)


async def play(url: str, code: str, subprotocol: str = MSGPACK) -> dict[str, Any] | None:
    """One room to its end. The last view, unless there was no end."""
    random_ = random.Random(code)
    try:
        async with connect(url, code, "token", subprotocol=subprotocol, retry=IMPATIENT) as table:
            while table.status != "over":
                await table.until(lambda: table.status == "over" or wanted(table))
                if table.status == "over":
                    break
                # Offers that are still there after a refusal are played from again.
                with suppress(RefusedError):
                    await do(table, random_)
            return dict(table.view)
    except TableClosedError:
        return None


def wanted(table: Table) -> bool:
    room: Any = table.view.get("room", {})
    holder = room.get("seats", {}).get(str(table.seat), {})
    waits = table.status == "waiting" and not holder.get("ready")
    return table.is_up and bool(table.offers or waits)


async def do(table: Table, chooser: random.Random) -> None:
    if table.offers:
        commands = [command for offer in table.offers for command in few(offer.commands())]
        await table.send(chooser.choice(commands))
    elif table.seat is None:
        await table.sit()
    else:
        await table.ready()


def few(commands: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    return [command for _, command in zip(range(20), commands, strict=False)]


async def verdicts(
    cases: list[Case[Guest]],
    player: Callable[[Stage], Coroutine[Any, Any, object]],
) -> list[Verdict]:
    """What the kit says of a client that plays all of these cases."""
    # Some clients are waited for in vain for an answer, which costs as long; none for an arrival.
    patience = Patience(answer=PATIENCE_SECONDS, arrival=4 * PATIENCE_SECONDS)
    async with open_stage(cases, patience=patience) as stage:
        playing = asyncio.create_task(player(stage))
        for code in stage.rooms:
            stage.begin(code)
        await stage.ended.wait()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await playing
        stage.compare_views()
        return list(stage.verdicts.values())


def python_client(subprotocol: str = MSGPACK) -> Callable[[Stage], Coroutine[Any, Any, object]]:
    """All rooms of the kit at once."""

    async def player(stage: Stage) -> None:
        url = f"http://127.0.0.1:{stage.port}"
        codes = list(stage.rooms)
        views = await asyncio.gather(*(play(url, code, subprotocol) for code in codes))
        stage.shown |= {code: view for code, view in zip(codes, views, strict=True) if view}

    return player


def program(command: str, jobs: int = 1) -> Callable[[Stage], Coroutine[Any, Any, object]]:
    """A program that plays all rooms of the kit at once, or one of them each, so many at a time."""

    async def player(stage: Stage) -> None:
        await run_program(stage, command, jobs=jobs)

    return player
