"""The lesson of Five Towers: five rounds with what the page shows, by keys and by fingers."""

import json
from typing import Any, Final

from playwright.async_api import Page, expect

from clients.web import lessons
from tests.browser.axe import violations
from tests.browser.catalogues import catalogue
from tests.browser.chromium import Visitors
from tests.browser.hands import Hands, Keys, Pointer
from tests.browser.screen import SMALL, on_screen
from tests.browser.waiting import until
from tests.end_to_end.servers import ServerProcess

GAME: Final = "five_towers"
KINDS: Final = ("candy", "spooky", "tree", "scrap", "sand")
LESSON: Final = json.loads((lessons.GAMES / GAME / "lesson.json").read_text())
BEATS: Final[list[dict[str, Any]]] = LESSON["beats"]


async def beat_shown(page: Page, at: int) -> dict[str, Any]:
    """Wait until the lesson is there; what is to be done."""
    look = "(at) => document.querySelector('.learn')?.dataset.at === String(at)"
    await until(page, look, at)
    return BEATS[at]


async def stop_of(page: Page, card: str) -> str:
    """The place of an open card, as the page names it."""
    found = page.locator(f".display button:has([data-place='display {card}'])")
    return str(await found.get_attribute("data-stop"))


async def do(page: Page, hands: Hands, deed: dict[str, Any]) -> None:
    """Give the command of the script by what the table shows."""
    if deed["command"] == "bid":
        return await hands.bid(deed["number"])
    if deed["command"] == "pass":
        return await hands.decline()
    if kind := deed.get("demolish"):
        await page.locator(f".mine [data-stop='tower {kind}']").wait_for()
        await hands.demolish(f"tower {kind}", KINDS.index(kind))
    for card in deed["cards"]:
        await page.locator(f"[data-fit=now] [data-place='display {card}']").wait_for()
        await hands.pick(await stop_of(page, card))
    await page.locator("[data-build]:enabled").wait_for()
    await hands.build()
    return None


async def test_the_lesson_is_played_by_keys_and_goes_on_after_a_break(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{shared.url}#/learn/{GAME}")
    hands = Keys(page)
    said = page.locator(".coach [role=status]")
    texts = set()
    for at in range(len(BEATS) - 1):
        beat = await beat_shown(page, at)
        texts.add(await said.inner_text())
        if at == 2:
            assert await violations(page) == []
            # A card that the script does not take is refused kindly, and so is another way.
            await page.keyboard.press("2")
            why = catalogue("en")[f"{GAME}.lesson.build.else"][0]
            await expect(page.locator(".why")).to_have_text(why)
            await page.reload()
            await beat_shown(page, at)
        if "deed" in beat:
            await do(page, hands, beat["deed"])
        else:
            await page.locator("[data-learn=next] button").focus()
            await page.keyboard.press("Enter")
    await beat_shown(page, len(BEATS) - 1)
    texts.add(await said.inner_text())
    assert texts == {
        catalogue("en")[f"{GAME}.lesson.{b['name']}"][0].format(n=number(b)) for b in BEATS
    }
    await expect(page.locator(".mine header")).to_contain_text("18")
    # It is over: the next visit begins at the beginning.
    await page.reload()
    await beat_shown(page, 0)


async def test_the_lesson_is_played_by_fingers_on_a_phone(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{shared.url}#/learn/{GAME}", phone=True, viewport=SMALL)
    hands = Pointer(page, taps=True)
    for at in range(len(BEATS) - 1):
        beat = await beat_shown(page, at)
        await on_screen(page, ".deed")
        if "deed" in beat:
            await do(page, hands, beat["deed"])
        else:
            await page.locator("[data-learn=next] button").tap()
    await beat_shown(page, len(BEATS) - 1)
    assert await violations(page) == []
    await page.locator("[data-learn=play] button").tap()
    await expect(page.locator(f"[data-game={GAME}].chosen")).to_be_visible()


async def test_rounds_are_shown_skipped_and_begun_anew(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{shared.url}#/learn/{GAME}", color_scheme="dark")
    await beat_shown(page, 0)
    await page.locator("[data-learn=next] button").click()
    await beat_shown(page, 1)
    await page.get_by_role("button", name="Show me").click()
    await beat_shown(page, 2)
    firsts = [next(i for i, b in enumerate(BEATS) if b["round"] == each) for each in (2, 3, 4, 5)]
    for first in (*firsts, len(BEATS) - 1):
        await page.get_by_role("button", name="Skip this round").click()
        await beat_shown(page, first)
    assert await violations(page, colours=True) == []
    await page.get_by_role("button", name="Start over").click()
    await beat_shown(page, 0)
    # A bid that the lesson does not follow is answered kindly, by a click as well.
    await page.locator("[data-learn=next] button").click()
    await page.locator("[data-bid='4']").click(force=True)
    why = catalogue("en")[f"{GAME}.lesson.bid.else"][0].format(n=3)
    await expect(page.locator(".why")).to_have_text(why)
    await page.get_by_role("link", name="Leave the lesson").click()
    await page.locator("[data-lobby=up]").wait_for()
    await page.get_by_role("link", name="Learn it in two minutes").click()
    await beat_shown(page, 1)


def number(beat: dict[str, Any]) -> int | None:
    deed: dict[str, Any] = beat.get("deed", {})
    return deed.get("number")
