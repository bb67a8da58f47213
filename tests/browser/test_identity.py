"""A person and their name: another name keeps the seat, and a carried seat brings its keys."""

from playwright.async_api import Page, expect

from tests.browser.axe import violations
from tests.browser.chromium import Visitors
from tests.browser.hands import at_table, dismiss
from tests.browser.tables import room_of, set_table
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import connect
from towerhall_client.http import Service

KEPT_ID = "JSON.parse(localStorage.getItem('towerhall.guest')).id"


async def rename(page: Page, name: str) -> None:
    """Through the menu of the room."""
    await page.keyboard.press("m")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Change my name").click()
    await dialog.get_by_role("textbox", name="Your name").fill(name)
    await dialog.get_by_role("button", name="Save").click()


async def test_a_new_name_keeps_the_seat_in_the_game_and_others_see_it(
    shared: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("status 400", "400")
    table = await set_table(shared.url)
    url = f"{shared.url}#/r/{table.room.code}"
    page = await visitors.visit(url, guest=table.guest)
    other = await visitors.visit(url, guest=await Service(shared.url).guest("Cyd"))
    await at_table(page)
    await at_table(other)
    assert await page.evaluate("document.documentElement.dataset.seat") == "0"

    # A name that is none is refused, and nothing changes.
    await rename(page, "\u200b")
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("alert")).to_be_visible()
    assert await violations(page) == []
    field = dialog.get_by_role("textbox", name="Your name")
    await field.fill("Ada Lovelace")
    await field.press("Enter")
    await expect(dialog).to_have_count(0)
    told = page.get_by_role("status", name="Messages")
    await expect(told).to_contain_text("Your name is Ada Lovelace now.")
    seats = other.get_by_role("region", name="Players")
    await expect(seats).to_contain_text("Ada Lovelace")
    log = other.get_by_role("log", name="Log")
    await expect(log).to_contain_text("The player in seat 1 is now called Ada Lovelace.")
    await at_table(page, seq=table.seq + 1)
    assert await page.evaluate("document.documentElement.dataset.seat") == "0"
    assert await page.evaluate(KEPT_ID) == table.guest.id

    # The same from the hall, with the field beside the big button: the seat stays there, too.
    await page.get_by_role("link", name="Towerhall").first.click()
    await page.get_by_role("textbox", name="Your name").fill("Countess")
    await expect(page.get_by_text("The others see the new name at once")).to_be_visible()
    await page.get_by_role("button", name="Create").first.click()
    await dismiss(page)
    await expect(seats).to_contain_text("Countess")
    assert await page.evaluate(KEPT_ID) == table.guest.id
    await page.locator("[data-lobby=up]").wait_for()
    await page.goto(url)
    await at_table(page)
    assert await page.evaluate("document.documentElement.dataset.seat") == "0"

    # Another tab of this browser knows the name as well, and a new name there comes back here.
    tab = await page.context.new_page()
    await tab.goto(shared.url)
    field = tab.get_by_role("textbox", name="Your name")
    await expect(field).to_have_value("Countess")
    await field.fill("Ada again")
    await tab.get_by_role("button", name="Create").first.click()
    await expect(seats).to_contain_text("Ada again")
    await at_table(page)
    await page.keyboard.press("m")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Change my name").click()
    await expect(dialog.get_by_role("textbox", name="Your name")).to_have_value("Ada again")
    await dismiss(page)
    await tab.locator("[data-lobby=up]").wait_for()
    await tab.close()

    # A watcher has no seat to rename: the next line of chat has the new name.
    await rename(other, "Cyd the Second")
    await expect(other.get_by_role("dialog")).to_have_count(0)
    await at_table(other)
    await other.get_by_role("tab", name="Chat").click()
    await other.get_by_role("textbox", name="Message").fill("hello")
    await other.keyboard.press("Enter")
    await page.get_by_role("tab", name="Chat").click()
    await expect(page.get_by_role("log", name="Chat")).to_contain_text("Cyd the Second")


async def test_a_carried_seat_brings_the_key_of_its_private_room_along(
    shared: ServerProcess, visitors: Visitors
) -> None:
    service = Service(shared.url)
    ada = await service.guest("Ada")
    room = await room_of(shared.url, ada, private=True)
    async with connect(shared.url, room.code, ada.token, key=room.key, retry=QUICK) as table:
        await table.sit()
    url = f"{shared.url}#/r/{room.code}/{room.key}"
    page = await visitors.visit(url, guest=ada)
    await at_table(page, status="waiting")
    await page.keyboard.press("m")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Invite people").click()
    assert await dialog.get_by_role("textbox", name="Link").input_value() == url
    await expect(dialog.get_by_role("textbox", name="Room code")).to_have_count(0)
    await dismiss(page)
    await page.keyboard.press("m")
    await dialog.get_by_role("button", name="Continue on another device").click()
    await dialog.get_by_role("button", name="Show the code").click()
    link = await dialog.get_by_role("textbox", name="Link").input_value()
    assert link.endswith(f"?keys={room.code}.{room.key}")

    # The phone has the seat, and its invitation works.
    sent: list[str] = []
    phone = await visitors.visit(shared.url)
    phone.on("request", lambda request: sent.append(request.url + (request.post_data or "")))
    await phone.locator("[data-lobby=up]").wait_for()
    await phone.goto(link)
    await at_table(phone, status="waiting")
    assert await phone.evaluate("location.hash") == f"#/r/{room.code}"
    await phone.keyboard.press("m")
    invite = phone.get_by_role("dialog")
    await invite.get_by_role("button", name="Invite people").click()
    assert await invite.get_by_role("textbox", name="Link").input_value() == url
    assert not [address for address in sent if room.key in address.partition("#")[0]]

    # The computer takes the seat back, and shows the table instead of the code of before.
    replaced = page.get_by_role("alert")
    await replaced.get_by_role("button", name="Play here instead").click()
    await at_table(page, status="waiting")
    await expect(page.get_by_role("dialog")).to_have_count(0)

    # A link of an older page has no key: then the bare code is not offered either.
    bare = await service.new_link(ada.token, room.code)
    other = await visitors.visit(shared.url.rstrip("/") + bare.link)
    await at_table(other, status="waiting")
    await other.keyboard.press("m")
    dead = other.get_by_role("dialog")
    await dead.get_by_role("button", name="Invite people").click()
    await expect(dead).to_contain_text("this device does not have its key")
    await expect(dead.get_by_role("textbox")).to_have_count(0)
    assert await violations(other) == []
