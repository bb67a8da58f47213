"""Tables that a test finds set: by the Python client, which is quicker than any hand."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from playwright.async_api import Page, Route

from tests.end_to_end.games import QUICK, play_out, seated
from towerhall_client.bot import Policy, random_policy
from towerhall_client.connection import Table, connect
from towerhall_client.http import Guest, NewRoom, Service


class Finished(msgspec.Struct, frozen=True):
    """A game that is over."""

    code: str
    record: dict[str, Any]


class Running(msgspec.Struct, frozen=True):
    """A game in which it is somebody's turn; nobody is connected in that seat."""

    room: NewRoom
    guest: Guest
    seq: int


async def finish(url: str, people: int = 2, seed: int = 1) -> Finished:
    service = Service(url)
    async with seated(service, people) as (made, tables):
        await tables[0].start()
        await play_out(tables, seed)
    return Finished(made.code, await service.record(made.code))


def is_building(table: Table) -> bool:
    """And can do so without tearing anything down first."""
    builds = (offer.commands() for offer in table.offers if offer.command == "build")
    return any(not command.get("demolish") for commands in builds for command in commands)


def is_bidding(table: Table) -> bool:
    return any(offer.command == "bid" for offer in table.offers)


async def set_table(
    url: str,
    *,
    until: Callable[[Table], object] = is_bidding,
    moves: int = 0,
    bots: Sequence[str] = ("easy", "easy"),
    bot_delay_ms: int = 0,
    name: str = "Ada",
    seed: int = 1,
    options: Mapping[str, object] | None = None,
) -> Running:
    """A table with bots, played until so many moves are made and it is Ada's turn to do `until`."""
    service = Service(url)
    guest = await service.guest(name)
    policy = random_policy(random.Random(seed))
    for _ in range(20):
        made = await service.create_room(
            guest.token,
            "five_towers",
            seats=1 + len(bots),
            bot_delay_ms=bot_delay_ms,
            options=options,
        )
        async with connect(url, made.code, guest.token, retry=QUICK) as table:
            await table.sit()
            for level in bots:
                await table.add_bot(level)
            await table.start()
            if await _play_until(table, policy, moves, until):
                return Running(made, guest, table.seq)
    raise AssertionError("no game comes that far")


async def _play_until(
    table: Table, policy: Policy, moves: int, until: Callable[[Table], object]
) -> bool:
    """Whether it came to that before the game was over: nobody knows how the cards lie."""
    while await table.turn():
        if moves <= 0 and until(table):
            return True
        await table.send(_eager(table) or policy(table.view, table.offers))
        moves -= 1
    return False


def _eager(table: Table) -> dict[str, object] | None:
    """The highest bid that is offered: who bids high builds soon."""
    for offer in table.offers:
        if offer.command == "bid":
            return dict(list(offer.commands())[-1])
    return None


async def room_of(url: str, guest: Guest, game: str = "five_towers", **more: Any) -> NewRoom:
    """A room that waits; the guest is its host and sits nowhere yet."""
    wanted = {"seats": 2, "bot_delay_ms": 0} | more
    return await Service(url).create_room(guest.token, game, **wanted)


async def drop_record(page: Page, record: Mapping[str, object]) -> None:
    """Drop a record file on the page that watches them."""
    carried = await page.evaluate_handle(
        """(text) => {
          const carried = new DataTransfer();
          carried.items.add(new File([text], "record.json", { type: "application/json" }));
          return carried;
        }""",
        json.dumps(record),
    )
    await page.get_by_role("region", name="Watch a saved game").dispatch_event(
        "drop", {"dataTransfer": carried}
    )


async def hurry(route: Route) -> None:
    """The form knows people who want to see bots think; tests do not."""
    body = route.request.post_data
    if route.request.method == "POST" and body:
        await route.continue_(
            post_data=json.dumps(json.loads(body) | {"bot_delay_ms": 0, "beat_ms": 0})
        )
    else:
        await route.continue_()
