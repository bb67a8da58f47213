"""A newcomer, who knows no address and no key: only what the page shows by name."""

from playwright.async_api import Page, expect

from tests.browser.hands import at_table
from tests.browser.tables import hurry


async def learn(page: Page, game: str) -> None:
    """From the hall through the whole lesson, by its own buttons."""
    await page.get_by_text(game, exact=True).first.click()
    await expect(page.get_by_role("radio", name=game)).to_be_checked()
    await page.get_by_role("link", name="Learn it in two minutes").click()
    await page.get_by_role("heading", name=f"Learn {game}").wait_for()
    said = page.locator(".coach [role=status]")
    play = page.get_by_role("button", name="Play your first game")
    onward = page.get_by_role("button", name="Next").or_(page.get_by_role("button", name="Show me"))
    await onward.wait_for()
    while not await play.is_visible():
        before = await said.inner_text()
        await onward.click()
        await expect(said).not_to_have_text(before)
    await play.click()


async def begin(page: Page) -> None:
    """The first game, against bots that do not think long."""
    await page.context.route("**/v1/rooms", hurry)
    await page.get_by_role("button", name="Play now").click()
    await at_table(page)
