"""An author of a client, who enters a sandbox room in the playground."""

from playwright.async_api import Locator, Page


async def choose(page: Page, text: str) -> None:
    """Press one of several that lie side by side."""
    await page.locator("label", has=page.get_by_role("radio", name=text, exact=True)).click()


async def entered(page: Page, others: str = "Bots") -> None:
    """A room whose game has begun, and a connection as its first seat."""
    await page.get_by_role("spinbutton", name="Clocks are faster by").fill("1000")
    await choose(page, others)
    await page.get_by_role("button", name="Create the room").click()
    await page.locator("[data-room]").wait_for()
    await page.get_by_role("button", name="Connect").click()
    await messages(page, "welcome").wait_for()


def messages(page: Page, name: str) -> Locator:
    return page.locator(f"[data-message={name}]")
