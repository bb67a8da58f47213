"""What a room offers beside its game: own rules, invitations, other devices, an early end."""

from playwright.async_api import Page, expect

from tests.browser.begun import seat_taken
from tests.browser.chromium import Visitors
from tests.browser.hands import Player, add_bots, at_table
from tests.browser.tables import set_table
from tests.end_to_end.servers import ServerProcess


async def link_in(page: Page) -> str:
    """The link that the dialog shows."""
    return await page.get_by_role("dialog").get_by_label("Link", exact=True).input_value()


async def test_a_private_room_with_rules_of_its_own(
    shared: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("404")
    host = await visitors.visit(shared.url)
    await host.get_by_label("Your name").fill("Ada")
    await host.get_by_role("button", name="Create a room").click()
    form = host.get_by_role("dialog")
    await form.get_by_text("As printed", exact=True).click()
    private = form.get_by_role("switch", name="Private room")
    # By key: the dialog still moves in, so a click by place may miss.
    await private.press("Space")
    await expect(private).to_be_checked()
    await form.get_by_role("button", name="Create the room").click()
    await at_table(host, status="waiting")
    await expect(host.get_by_role("heading", name="As printed")).to_be_visible()
    await add_bots(host, "Easy")
    await host.get_by_role("button", name="Bot 2").click()
    await host.get_by_role("button", name="Remove the bot").click()
    await expect(host.get_by_role("button", name="Add a bot")).to_have_count(2)
    await host.get_by_role("button", name="Change").click()
    await form.get_by_text("Spanish", exact=True).click()
    await form.get_by_role("button", name="Save the options").click()
    await expect(host.get_by_role("heading", name="Spanish")).to_be_visible()
    await host.get_by_role("button", name="Invite", exact=True).click()
    # The key is in the link alone: whoever has only the code does not come in.
    link = await link_in(host)
    other = await visitors.visit(link.rsplit("/", 1)[0])
    await other.get_by_role("button", name="Enter the room").click()
    await expect(other.get_by_role("alert")).to_contain_text("Room not found")
    await other.goto(link)
    await at_table(other, status="waiting")
    await other.get_by_role("button", name="Sit here").first.click()
    await expect(other.get_by_role("button", name="I am ready")).to_be_visible()


async def test_a_seat_is_carried_to_another_device(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await seat_taken(shared.url, visitors)
    await page.keyboard.press("m")
    await page.get_by_role("button", name="Continue on another device").click()
    await page.get_by_role("button", name="Show the code").click()
    phone = await visitors.visit(await link_in(page), phone=True)
    await Player(phone, "taps").move()
    await expect(page.get_by_role("alert")).to_contain_text("Opened elsewhere")


async def test_whoever_wants_confirms_every_bid(shared: ServerProcess, visitors: Visitors) -> None:
    table = await set_table(shared.url)
    page = await visitors.visit(
        f"{shared.url}#/r/{table.room.code}", guest=table.guest, settings={"confirmBids": True}
    )
    await at_table(page)
    bids = page.locator("[data-bid]:not([aria-disabled=true])")
    number = await bids.last.get_attribute("data-bid")
    assert number is not None
    await page.keyboard.press(number)
    await expect(page.get_by_text(f"Bid {number}? Press again to confirm.")).to_be_visible()
    assert await at_table(page) == table.seq
    await page.keyboard.press(number)
    await at_table(page, seq=table.seq + 1)


async def test_a_game_ends_when_all_who_play_want_it(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await seat_taken(shared.url, visitors)
    await page.keyboard.press("m")
    await page.get_by_role("button", name="End without a result").click()
    await expect(page.get_by_role("dialog")).to_contain_text("No other person is playing")
    await page.get_by_role("button", name="End without a result").click()
    await at_table(page, status="over")
    await expect(
        page.get_by_text("The players agreed to end the game without a result.")
    ).to_be_visible()
