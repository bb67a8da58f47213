"""The lesson of Nikitin Towers, by keys and by fingers, on the board that it really has."""

import json
from typing import Any, Final

from playwright.async_api import Page, expect

from clients.web import lessons
from tests.browser.axe import violations
from tests.browser.catalogues import catalogue
from tests.browser.chromium import Visitors
from tests.browser.screen import SMALL, on_screen
from tests.browser.waiting import until
from tests.end_to_end.servers import ServerProcess

GAME: Final = "nikitin_towers"
LESSON: Final = json.loads((lessons.GAMES / GAME / "lesson.json").read_text())
BEATS: Final[list[dict[str, Any]]] = LESSON["beats"]
STEPS: Final = {
    "place": ("f",),
    "tip": ("t",),
    "move": ("ArrowRight", "ArrowRight"),
    "pole": ("ArrowRight", "t"),
    "crown": ("ArrowRight",),
}
"""What the texts say to do before the block is placed."""
BUTTONS: Final = {
    "f": "[data-tool='roll']",
    "t": "[data-tool='tip']",
    "ArrowRight": "[data-tool='move-right']",
}


async def beat_shown(page: Page, at: int) -> dict[str, Any]:
    look = "(at) => document.querySelector('.learn')?.dataset.at === String(at)"
    await until(page, look, at)
    return BEATS[at]


async def ghost(page: Page, deed: dict[str, Any]) -> None:
    """Wait until the block is where the script has it."""
    look = "(start) => document.querySelector('.nikitin').dataset.ghost.startsWith(start)"
    await until(page, look, f"{deed['shape']}@{deed['x']},{deed['y']},")


async def test_the_lesson_is_played_by_keys_as_its_texts_say(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{shared.url}#/learn/{GAME}")
    for at in range(len(BEATS) - 1):
        beat = await beat_shown(page, at)
        deed = beat.get("deed")
        if deed is None:
            await page.locator("[data-learn=next] button").focus()
            await page.keyboard.press("Enter")
        elif deed["command"] == "choose":
            await page.locator(f"[data-block='{deed['block']}']").wait_for()
            await page.keyboard.press("1")
        else:
            await page.locator("[data-place-now]").wait_for()
            if beat["name"] == "place":
                await page.locator("h1").click()
                await page.keyboard.press("Enter")
                why = catalogue("en")[f"{GAME}.lesson.place.else"][0]
                await expect(page.locator(".why")).to_have_text(why)
            for key in STEPS[beat["name"]]:
                await page.keyboard.press(key)
            await ghost(page, deed)
            await page.keyboard.press("Enter")
    await beat_shown(page, len(BEATS) - 1)
    board = page.locator(".nikitin")
    await expect(board).to_have_attribute("data-towers", "8/0 3/0")
    assert await violations(page) == []


async def test_the_lesson_of_blocks_is_played_by_fingers(
    shared: ServerProcess, visitors: Visitors
) -> None:
    # German has the longest texts.
    page = await visitors.visit(
        f"{shared.url}#/learn/{GAME}", phone=True, viewport=SMALL, locale="de-DE"
    )
    for at in range(len(BEATS) - 1):
        beat = await beat_shown(page, at)
        await on_screen(page, ".dock")
        deed = beat.get("deed")
        if deed is None:
            await page.locator("[data-learn=next] button").tap()
        elif deed["command"] == "choose":
            await page.locator(f"[data-block='{deed['block']}']").tap()
        else:
            for key in STEPS[beat["name"]]:
                await page.locator(f".nikitin {BUTTONS[key]}").tap()
            await ghost(page, deed)
            if beat["name"] == "tip":
                assert await violations(page) == []
            await page.locator("[data-place-now] button").tap()
    await beat_shown(page, len(BEATS) - 1)
    await page.locator("[data-learn=play] button").tap()
    await expect(page.locator(f"[data-game={GAME}].chosen")).to_be_visible()
