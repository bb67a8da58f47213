"""How each screen is reached. A scene opens a page at a size, and leaves it as it shall be seen."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from playwright.async_api import Page

from tests.browser import tables
from tests.browser.chromium import Visitors
from tests.browser.hands import add_bots, at_table
from tests.browser.nikitin.pictures import FALLING_MS, LATER, careful_policy, far_out
from tests.browser.nikitin.player import drawn
from tests.browser.nikitin.tables import finish as finish_nikitin
from tests.browser.nikitin.tables import in_phase
from tests.browser.nikitin.tables import set_table as set_nikitin
from tests.browser.people import counted, play, play_with_bots, with_a_past
from tests.browser.playground import entered, messages
from tests.browser.waiting import until
from tests.end_to_end.games import QUICK
from towerhall_client.connection import Table, connect
from towerhall_client.http import Guest, Service

Size: TypeAlias = Mapping[str, int]
Scene: TypeAlias = Callable[[str, Visitors, Size], Awaitable[Page]]

LATE: Final = 30
"""Cards left in the pile when towers are high."""


async def hall(url: str, visitors: Visitors, size: Size) -> Page:
    page = await visitors.visit(url, guest=await Service(url).guest("Ada"), viewport=size)
    await page.locator("[data-lobby=up]").wait_for()
    return page


async def creating(url: str, visitors: Visitors, size: Size) -> Page:
    page = await hall(url, visitors, size)
    await page.get_by_role("button", name="Create a room").click()
    await page.locator("dialog summary").wait_for()
    return page


async def settings(url: str, visitors: Visitors, size: Size) -> Page:
    page = await hall(url, visitors, size)
    await page.get_by_role("button", name="Settings").click()
    await page.locator("dialog[open]").wait_for()
    return page


async def keys(url: str, visitors: Visitors, size: Size) -> Page:
    page = await hall(url, visitors, size)
    await page.keyboard.press("?")
    await page.locator("dialog h4").first.wait_for()
    await page.get_by_role("tab", name="Keys").click()
    await page.locator("dialog kbd").first.wait_for()
    return page


async def rules(url: str, visitors: Visitors, size: Size) -> Page:
    page = await visitors.visit(f"{url}#/rules/five_towers", viewport=size)
    await page.locator("article h2").first.wait_for()
    return page


async def lesson(url: str, visitors: Visitors, size: Size) -> Page:
    page = await visitors.visit(f"{url}#/learn/five_towers", viewport=size)
    await page.locator(".learn .five-towers").wait_for()
    return page


async def saved_game(url: str, visitors: Visitors, size: Size) -> Page:
    page = await visitors.visit(f"{url}#/record", viewport=size)
    await page.locator("input[type=file]").wait_for(state="attached")
    return page


async def playground(url: str, visitors: Visitors, size: Size) -> Page:
    """A connection to a sandbox room, and one of its messages in all its forms."""
    page = await visitors.visit(f"{url}playground", viewport=size)
    await entered(page)
    await messages(page, "welcome").click()
    await page.locator("[data-shown=bytes]").wait_for()
    await page.evaluate("scrollTo(0, 0)")
    return page


async def past(url: str) -> list[Guest]:
    """Ada has a past: rated games, and others with bots and with more people."""
    guests = await with_a_past(url, ("Ada", "Björn", "Çelik"))
    service, ada = Service(url), guests[0]
    await play(url, guests[1], ada)
    for seed in range(2):
        await play_with_bots(url, ada, seed)
    await counted(url, ada, 13)
    await service.befriend(guests[1].token, (await service.my_profile(ada.token))["handle"])
    await service.befriend(ada.token, (await service.my_profile(guests[2].token))["handle"])
    return guests


async def profile(url: str, visitors: Visitors, size: Size) -> Page:
    ada, *_ = await past(url)
    page = await visitors.visit(f"{url}#/me", guest=ada, viewport=size)
    await page.locator("[data-games]").wait_for()
    return page


async def profile_of_another(url: str, visitors: Visitors, size: Size) -> Page:
    ada, bjorn, _ = await past(url)
    handle = (await Service(url).my_profile(ada.token))["handle"]
    page = await visitors.visit(f"{url}#/people/{handle}", guest=bjorn, viewport=size)
    await page.locator("[data-games]").wait_for()
    return page


async def profile_of_a_newcomer(url: str, visitors: Visitors, size: Size) -> Page:
    page = await visitors.visit(f"{url}#/me", guest=await Service(url).guest("Ada"), viewport=size)
    await page.get_by_role("link", name="Play a game").wait_for()
    return page


async def erasing(url: str, visitors: Visitors, size: Size) -> Page:
    page = await profile_of_a_newcomer(url, visitors, size)
    await page.get_by_role("button", name="Erase my data").click()
    await page.locator("dialog[open]").wait_for()
    return page


async def friends(url: str, visitors: Visitors, size: Size) -> Page:
    ada, *_ = await past(url)
    page = await visitors.visit(f"{url}#/friends", guest=ada, viewport=size)
    await page.get_by_role("button", name="Accept").wait_for()
    return page


async def leaderboard(url: str, visitors: Visitors, size: Size) -> Page:
    ada, *_ = await past(url)
    page = await visitors.visit(f"{url}#/leaderboards", guest=ada, viewport=size)
    await page.get_by_role("row").nth(1).wait_for()
    return page


async def end_of_a_rated_game(url: str, visitors: Visitors, size: Size) -> Page:
    ada, bjorn = [await Service(url).guest(name) for name in ("Ada", "Björn")]
    code = await play(url, ada, bjorn)
    page = await visitors.visit(f"{url}#/r/{code}", guest=ada, viewport=size)
    await page.get_by_text("Rating:").wait_for()
    return page


async def person_in_a_seat(url: str, visitors: Visitors, size: Size) -> Page:
    page = await end_of_a_rated_game(url, visitors, size)
    await page.get_by_role("button", name="Björn").last.click()
    await page.get_by_role("button", name="Profile").click()
    await page.get_by_role("link", name="Profile", exact=True).wait_for()
    return page


async def reporting(url: str, visitors: Visitors, size: Size) -> Page:
    page = await end_of_a_rated_game(url, visitors, size)
    await page.get_by_role("button", name="Björn").last.click()
    await page.get_by_role("button", name="Report").click()
    await page.get_by_role("button", name="Send the report").wait_for()
    return page


async def no_room(url: str, visitors: Visitors, size: Size) -> Page:
    visitors.mean("404")
    page = await visitors.visit(
        f"{url}#/r/ZZZZZZ", guest=await Service(url).guest("Ada"), viewport=size
    )
    await page.get_by_role("link", name="Go to the hall").last.wait_for()
    return page


async def waiting(url: str, visitors: Visitors, size: Size) -> Page:
    host = await Service(url).guest("Ada")
    made = await tables.room_of(url, host, seats=4)
    page = await visitors.visit(f"{url}#/r/{made.code}", guest=host, viewport=size)
    await at_table(page, status="waiting")
    await page.get_by_role("button", name="Sit here").first.click()
    await page.get_by_role("button", name="Stand up").wait_for()
    await add_bots(page, "Easy")
    return page


async def invitation(url: str, visitors: Visitors, size: Size) -> Page:
    page = await waiting(url, visitors, size)
    await page.keyboard.press("m")
    await page.get_by_role("dialog").get_by_role("button", name="Invite people").click()
    await page.get_by_role("img", name="QR code for the link").wait_for()
    return page


async def _five_towers(
    url: str, visitors: Visitors, size: Size, guest: Guest | None = None, **wishes: Any
) -> Page:
    table = await tables.set_table(url, **wishes)
    address = f"{url}#/r/{table.room.code}"
    page = await visitors.visit(address, guest=guest or table.guest, viewport=size)
    await at_table(page)
    await page.locator(".five-towers .player").first.wait_for()
    return page


def _late(wanted: Callable[[Table], object]) -> Callable[[Table], bool]:
    def is_late(table: Table) -> bool:
        game = table.view["game"]
        assert isinstance(game, dict)
        return game["pile"] <= LATE and bool(wanted(table))

    return is_late


async def bidding(url: str, visitors: Visitors, size: Size) -> Page:
    return await _five_towers(url, visitors, size)


async def bidding_of_five(url: str, visitors: Visitors, size: Size) -> Page:
    bots = ("easy", "hard", "medium", "easy")
    return await _five_towers(url, visitors, size, bots=bots, until=_late(tables.is_bidding))


async def bidding_refused(url: str, visitors: Visitors, size: Size) -> Page:
    page = await _five_towers(url, visitors, size, moves=6)
    await page.keyboard.press("9")
    await page.locator(".why:not(:empty)").wait_for()
    return page


async def building(url: str, visitors: Visitors, size: Size) -> Page:
    page = await _five_towers(url, visitors, size, until=_late(tables.is_building))
    await page.locator("[data-fit=now]").first.click()
    await page.locator(".ghost").wait_for()
    return page


async def building_of_two(url: str, visitors: Visitors, size: Size) -> Page:
    return await _five_towers(url, visitors, size, bots=("hard",), until=_late(tables.is_building))


async def building_of_five(url: str, visitors: Visitors, size: Size) -> Page:
    bots = ("easy", "hard", "medium", "easy")
    return await _five_towers(url, visitors, size, bots=bots, until=_late(tables.is_building))


async def watching(url: str, visitors: Visitors, size: Size) -> Page:
    guest = await Service(url).guest("Eve")
    return await _five_towers(url, visitors, size, guest, until=_late(tables.is_bidding))


async def menu(url: str, visitors: Visitors, size: Size) -> Page:
    page = await bidding(url, visitors, size)
    await page.keyboard.press("m")
    await page.locator("dialog[open]").wait_for()
    return page


async def chat(url: str, visitors: Visitors, size: Size) -> Page:
    page = await bidding(url, visitors, size)
    await page.keyboard.press("c")
    await page.get_by_role("textbox", name="Message").fill("Good luck!")
    await page.keyboard.press("Enter")
    await page.locator(".bubble").wait_for()
    return page


async def _ended(url: str) -> tuple[str, Guest]:
    table = await tables.set_table(url, until=_late(tables.is_building), bots=("hard", "easy"))
    async with connect(url, table.room.code, table.guest.token, retry=QUICK) as line:
        while await line.turn():
            await line.send(careful(line))
    return table.room.code, table.guest


def careful(line: Table) -> Mapping[str, Any]:
    """The last command of the last offer."""
    return dict(list(line.offers[-1].commands())[-1])


async def end(url: str, visitors: Visitors, size: Size) -> Page:
    code, guest = await _ended(url)
    page = await visitors.visit(f"{url}#/r/{code}", guest=guest, viewport=size)
    await page.locator(".result table").wait_for()
    return page


async def replay(url: str, visitors: Visitors, size: Size) -> Page:
    code, guest = await _ended(url)
    page = await visitors.visit(f"{url}#/r/{code}?at=60", guest=guest, viewport=size)
    await page.locator("[data-replay=ready] .five-towers").wait_for()
    return page


async def _nikitin(url: str, visitors: Visitors, size: Size, **wishes: Any) -> Page:
    table = await set_nikitin(url, level="hard", policy=careful_policy(), **wishes)
    page = await visitors.visit(table.address(url), guest=table.guest, viewport=size)
    await drawn(page)
    return page


def _high(*phases: str) -> Callable[[Mapping[str, Any]], bool]:
    def is_high(game: Mapping[str, Any]) -> bool:
        return in_phase(*phases)(game) and game["turns"] > 8

    return is_high


async def nikitin_choose(url: str, visitors: Visitors, size: Size) -> Page:
    return await _nikitin(url, visitors, size, until=_high("choose"), bots=2)


async def nikitin_place(url: str, visitors: Visitors, size: Size) -> Page:
    return await _nikitin(url, visitors, size, until=_high("place"), bots=1)


async def nikitin_grid(url: str, visitors: Visitors, size: Size) -> Page:
    page = await nikitin_place(url, visitors, size)
    await page.keyboard.press("v")
    await page.locator(".grid table").wait_for()
    return page


async def nikitin_collapse(url: str, visitors: Visitors, size: Size) -> Page:
    """A tower has just fallen, by a block that was laid far out."""
    table = await set_nikitin(url, until=_high("place"), level="hard", policy=careful_policy())
    guest = await Service(url).guest("Ben")
    page = await visitors.visit(table.address(url), guest=guest, viewport=size, motion=True)
    await drawn(page)
    await page.keyboard.press("1")
    await drawn(page)
    async with connect(url, table.room.code, table.guest.token, retry=QUICK) as ada:
        await ada.turn()
        await ada.send(far_out(ada.offers))
        await until(page, LATER, table.seq)
        await page.wait_for_timeout(FALLING_MS)
    return page


async def nikitin_end(url: str, visitors: Visitors, size: Size) -> Page:
    over = await finish_nikitin(url)
    page = await visitors.visit(
        f"{url}#/r/{over.code}", guest=await Service(url).guest("Eve"), viewport=size
    )
    await page.locator(".result table").wait_for()
    return page


SCENES: Final[Mapping[str, Scene]] = {
    scene.__name__: scene
    for scene in (
        hall,
        creating,
        settings,
        keys,
        rules,
        lesson,
        saved_game,
        profile,
        profile_of_another,
        profile_of_a_newcomer,
        erasing,
        friends,
        leaderboard,
        end_of_a_rated_game,
        person_in_a_seat,
        reporting,
        playground,
        no_room,
        waiting,
        invitation,
        bidding,
        bidding_of_five,
        bidding_refused,
        building,
        building_of_two,
        building_of_five,
        watching,
        menu,
        chat,
        end,
        replay,
        nikitin_choose,
        nikitin_place,
        nikitin_grid,
        nikitin_collapse,
        nikitin_end,
    )
}
