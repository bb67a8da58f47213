"""Somebody who sits at a table, looking at it: where most tests of a room begin."""

from playwright.async_api import Page

from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.tables import set_table


async def seat_taken(url: str, visitors: Visitors) -> Page:
    table = await set_table(url)
    page = await visitors.visit(f"{url}#/r/{table.room.code}", guest=table.guest)
    await at_table(page)
    return page
