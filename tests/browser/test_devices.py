"""A person on several devices: one of them logs out the others, and nothing is lost here."""

from playwright.async_api import expect

from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.tables import room_of
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

KEPT_ID = "JSON.parse(localStorage['towerhall.guest']).id"


async def test_a_device_logs_out_all_others_and_keeps_its_seat(
    server: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("status 401", "401")
    service = Service(server.url)
    host, guest = await service.guest("Host"), await service.guest("Ada")
    room = await room_of(server.url, host)
    url = f"{server.url}#/r/{room.code}"
    other = await visitors.visit(server.url, guest=guest)
    await other.locator("[data-lobby=up]").wait_for()
    page = await visitors.visit(url, guest=guest)
    await at_table(page, status="waiting")
    await page.get_by_role("button", name="Sit here").first.click()
    await expect(page.get_by_role("button", name="I am ready")).to_be_visible()

    tab = await page.context.new_page()
    await tab.goto(server.url)
    await tab.locator("[data-lobby=up]").wait_for()

    await page.bring_to_front()
    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("button", name="Log out all other devices").click()
    await expect(page.get_by_role("status", name="Messages")).to_contain_text(
        "All other devices are logged out."
    )
    # The other device is another person from now on.
    await expect(other.get_by_role("status", name="Messages")).to_contain_text(
        "You are here as a new guest, Ada."
    )
    await other.goto(url)
    await at_table(other, status="waiting")
    await expect(other.get_by_role("button", name="I am ready")).to_have_count(0)

    # Another tab of this browser finds the newer token, and remains the same person.
    await tab.locator("[data-lobby=up]").wait_for()
    await expect(tab.get_by_role("status", name="Messages")).not_to_contain_text("new guest")

    # Here the seat is still Ada's, now and after a visit to another page.
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="I am ready")).to_be_visible()
    await page.reload()
    await at_table(page, status="waiting")
    await page.get_by_role("button", name="I am ready").click()
    await expect(page.get_by_role("button", name="I am not ready")).to_be_visible()
    assert await tab.evaluate(KEPT_ID) == guest.id
    assert await other.evaluate(KEPT_ID) != guest.id
