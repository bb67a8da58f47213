"""The hall offers every game of the service: with a picture, and with what fits the game."""

import re
from typing import Any, Final

import pytest
from playwright.async_api import Page, expect

from tests.browser.axe import violations
from tests.browser.chromium import PHONE, WIDE, Visitors
from tests.browser.hands import at_table, dismiss
from tests.browser.tables import hurry
from tests.browser.toys_server import TOYS
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from tests.examples import is_long
from towerhall_client.connection import connect
from towerhall_client.http import Service

WORDS: Final = {"easy": "Easy", "medium": "Medium", "hard": "Hard"}
LYING: Final = {"width": 844, "height": 390}
WAYS: Final = ("Play now", "Quick match", "Create a room")


async def games_of(url: str) -> list[dict[str, Any]]:
    return list(await Service(url).games())


def named(name: str) -> str:
    """How the page calls a game without words: all games of the tests have such names."""
    return name.replace("_", " ").lower()


async def hall(page: Page) -> None:
    await page.locator("[data-lobby=up]").wait_for()


async def choices(page: Page, group: str) -> list[str]:
    """What a group of radio buttons offers; nothing if it is not there."""
    return (
        await page.locator(".ticket")
        .get_by_role("group", name=group)
        .locator("label")
        .all_inner_texts()
    )


async def choose(page: Page, game: str) -> None:
    """In the hall, or in the form of a new room."""
    form = page.locator("dialog[open]")
    place = form if await form.count() else page.locator(".ticket")
    await place.locator(f"[data-game={game}]").click()
    await expect(place.locator(f"[data-game={game}] input")).to_be_checked()


async def test_every_game_is_shown_with_a_picture_and_with_what_fits_it(
    toys: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(toys.url)
    await hall(page)
    games = await games_of(toys.url)
    assert len(games) >= 3
    cards = page.locator(".ticket [data-game]")
    await expect(cards).to_have_count(len(games))
    for game in games:
        card = page.locator(f".ticket [data-game={game['name']}]")
        await expect(card.locator("svg")).to_be_visible()
        assert named(game["name"]) == (await card.locator(".name").inner_text()).strip().lower()
        await choose(page, game["name"])
        least, most = game["seats"]
        assert await choices(page, "Opponents") == [str(n - 1) for n in range(least, most + 1)]
        levels = [WORDS[level] for level in game["levels"]]
        assert await choices(page, "Bot level") == (levels if len(levels) > 1 else [])
    name = games[-1]["name"]
    await page.reload()
    await hall(page)
    await expect(page.locator(f".ticket [data-game={name}] input")).to_be_checked()


async def test_the_chosen_game_is_played_at_once_and_by_quick_match_and_in_rooms(
    toys: ServerProcess, visitors: Visitors
) -> None:
    service = Service(toys.url)
    page = await visitors.visit(toys.url)
    await page.context.route("**/v1/rooms", hurry)
    for number, game in enumerate(await games_of(toys.url)):
        # Each way into a room is tried with some game, and each game by some way.
        for button in WAYS if is_long() else (WAYS[number % len(WAYS)],):
            await hall(page)
            await choose(page, game["name"])
            for group in ("Opponents", "Players"):
                await page.get_by_role("group", name=group).locator("label").last.click()
            await page.get_by_role("button", name=button).click()
            if button == "Create a room":
                await page.get_by_role("button", name="Create the room").click()
            await expect(page).to_have_url(re.compile("#/r/"))
            _, code, *key = page.url.split("#/r")[1].split("/")
            room = await service.room(code, *key)
            assert room["game"] == game["name"], button
            if button != "Create a room":
                assert room["seats"] == game["seats"][1], button
            await page.goto(toys.url)


async def test_a_room_offers_the_levels_of_its_game(
    toys: ServerProcess, visitors: Visitors
) -> None:
    for game in await games_of(toys.url):
        host = await Service(toys.url).guest("Host")
        made = await Service(toys.url).create_room(host.token, game["name"], seats=2)
        page = await visitors.visit(f"{toys.url}#/r/{made.code}", guest=host)
        await at_table(page, status="waiting")
        await page.get_by_role("button", name="Sit here").first.click()
        await page.get_by_role("button", name="Add a bot").click()
        dialog = page.get_by_role("dialog")
        levels = [f"Add a bot: {WORDS[level]}" for level in game["levels"]]
        found = dialog.get_by_role("button").filter(has_text="Add a bot:")
        await expect(found).to_have_text(levels)
        await found.last.click()
        await expect(page.get_by_role("button", name="Bot 2")).to_be_visible()


async def test_lists_name_the_game_of_each_room(toys: ServerProcess, visitors: Visitors) -> None:
    service = Service(toys.url)
    ann = await service.guest("Ann")
    page = await visitors.visit(toys.url, guest=ann)
    await hall(page)
    for game in await games_of(toys.url):
        made = await service.create_room(ann.token, game["name"], seats=2)
        async with connect(toys.url, made.code, ann.token, retry=QUICK) as table:
            await table.sit()
            row = page.get_by_role("article").filter(has_text=made.code)
            await expect(row).to_contain_text(named(game["name"]), ignore_case=True)
            await expect(row.locator(".picture svg")).to_be_visible()
        await page.reload()
        mine = page.get_by_role("region", name="My games").get_by_role("link")
        card = mine.filter(has_text=made.code)
        await expect(card).to_contain_text(named(game["name"]), ignore_case=True)
        await expect(card.locator(".picture svg")).to_be_visible()


async def test_a_new_visitor_is_offered_a_game_that_the_page_has_pictures_for(
    toys: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(toys.url, game=None)
    await hall(page)
    first = page.locator(".ticket [data-game]").first
    await expect(first.locator("input")).to_be_checked()
    assert await first.get_attribute("data-game") not in TOYS


async def test_games_are_chosen_by_keyboard(toys: ServerProcess, visitors: Visitors) -> None:
    page = await visitors.visit(toys.url)
    await hall(page)
    cards = page.locator(".ticket [data-game]")
    await cards.first.locator("input").focus()
    for at in range(1, await cards.count()):
        await page.keyboard.press("ArrowRight")
        await expect(cards.nth(at).locator("input")).to_be_checked()


async def test_settings_and_help_are_those_of_the_open_game(
    toys: ServerProcess, visitors: Visitors
) -> None:
    service = Service(toys.url)
    bids = "Confirm every bid"
    for game, has_bids in (("five_towers", True), ("dice_duel", False)):
        host = await service.guest("Host")
        made = await service.create_room(host.token, game, seats=2)
        page = await visitors.visit(f"{toys.url}#/r/{made.code}", guest=host)
        await at_table(page, status="waiting")
        await page.keyboard.press(",")
        await page.get_by_role("switch", name="Sound").wait_for()
        await expect(page.get_by_role("switch", name=bids)).to_have_count(int(has_bids))
        await dismiss(page)
        await page.keyboard.press("?")
        rules = page.get_by_role("dialog").get_by_role("heading", name="Goal of the game")
        unknown = page.get_by_role("dialog").get_by_text("This game is not available here.")
        await (rules if has_bids else unknown).wait_for()
        await page.get_by_role("tab", name="Keys").click()
        await page.get_by_role("heading", name="In a room").wait_for()
        await dismiss(page)


@pytest.mark.parametrize("size", [WIDE, PHONE, LYING], ids=["desk", "upright", "lying"])
async def test_a_hall_of_many_games_fits_every_screen(
    toys: ServerProcess, visitors: Visitors, size: dict[str, int]
) -> None:
    page = await visitors.visit(toys.url, viewport=size)
    await hall(page)
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert await violations(page) == []
