"""The keyboard alone: from the address to the game, with a focus that is seen."""

import re
from typing import Final

from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table, dismiss
from tests.browser.tables import is_building, room_of, set_table
from tests.browser.waiting import until
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

FOCUSED: Final = """
() => {
  const element = document.activeElement;
  const seen = element.closest("label") ?? element;
  const ring = [element, seen].map((each) => getComputedStyle(each))
    .some((style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2);
  const label = element.labels?.[0]?.textContent;
  const names = [element.getAttribute("aria-label"), label, element.textContent];
  return { name: (names.find((name) => name?.trim()) ?? "").trim(), tag: element.tagName, ring };
}
"""


async def tab_to(page: Page, name: str, most: int = 60) -> list[str]:
    """Press Tab until that is focused; what was focused on the way. Each must be seen."""
    passed = []
    for _ in range(most):
        await page.keyboard.press("Tab")
        focused = await page.evaluate(FOCUSED)
        passed.append(focused["name"])
        assert focused["ring"] or focused["tag"] == "BODY", f"no ring around {focused}"
        if re.fullmatch(name, focused["name"]):
            return passed
    raise AssertionError(f"{name} cannot be reached: {passed}")


async def test_from_the_address_into_a_game_by_tab_and_enter(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url)
    await page.locator("[data-lobby=up]").wait_for()
    passed = await tab_to(page, "Your name")
    assert passed[0] == "Skip to content"
    await page.keyboard.type("Ada")
    await tab_to(page, "Create a room")
    await page.keyboard.press("Enter")
    await page.locator("dialog select").wait_for()
    await tab_to(page, "Create the room")
    await page.keyboard.press("Enter")
    await at_table(page, status="waiting")
    await page.get_by_role("button", name="Stand up").wait_for()
    free = page.get_by_role("button", name="Add a bot", exact=True)
    for left in (1, 0):
        await tab_to(page, "Add a bot")
        await page.keyboard.press("Enter")
        await tab_to(page, "Add a bot: Easy")
        await page.keyboard.press("Enter")
        await expect(free).to_have_count(left)
    await tab_to(page, "Start the game")
    await page.keyboard.press("Enter")
    await at_table(page)
    await Player(page, "keys").play(2)


async def test_the_board_can_be_walked_by_tab_and_arrows(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=3, until=is_building)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    seq = await at_table(page)
    card = page.locator("[data-fit=now]").first
    await card.focus()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Shift+Tab")
    await expect(card).to_be_focused()
    assert (await page.evaluate(FOCUSED))["ring"]
    where = "document.activeElement.dataset.stop"
    start = await page.evaluate(where)
    for arrow, back in (("ArrowRight", "ArrowLeft"), ("ArrowLeft", "ArrowRight")):
        await page.keyboard.press(arrow)
        moved = await page.evaluate(where)
        if moved != start:
            assert (await page.evaluate(FOCUSED))["ring"]
            await page.keyboard.press(back)
    for _ in range(12):
        if await page.locator("[data-build]:not(:disabled)").count():
            break
        lit = page.locator("[data-fit=now]")
        target = lit.first if await lit.count() else page.locator(".mine .razable").first
        await target.focus()
        await page.keyboard.press("Enter")
    build = page.locator("[data-build]")
    await build.focus()
    await page.keyboard.press("Enter")
    # The game may end by this build.
    await until(page, "(seq) => Number(document.documentElement.dataset.seq) > seq", seq)


async def test_the_question_mark_shows_the_rules_and_lists_all_keys(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url)
    await page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    # The rules come first; an arrow leads from tab to tab.
    await dialog.get_by_role("heading", name="Goal of the game").wait_for()
    await expect(dialog.get_by_role("tab").first).to_have_text("Rules")
    await dialog.get_by_role("tab", selected=True).focus()
    await page.keyboard.press("ArrowRight")
    await expect(dialog.get_by_role("tab", name="Keys")).to_be_focused()
    await dialog.get_by_text("0–5").wait_for()
    keys = await dialog.locator("kbd").all_inner_texts()
    for key in ("0–5", "P", "B", "Enter", "?", ",", "Esc", "M", "C", "L"):
        assert key in keys
    await dismiss(page)
    # Whoever writes a name writes, and opens nothing.
    await page.get_by_label("Your name").fill("")
    await page.keyboard.type("a?,mcl")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_label("Your name")).to_have_value("a?,mcl")


async def test_keys_of_the_room_open_what_they_say(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    await at_table(page)
    await page.locator("[data-bid]").first.wait_for()
    await page.keyboard.press("m")
    await expect(page.get_by_role("dialog", name="Menu")).to_be_visible()
    # A number in a dialog is no bid.
    await page.keyboard.press("1")
    await dismiss(page)
    await page.keyboard.press("c")
    field = page.get_by_role("textbox", name="Message")
    await field.focus()
    await page.keyboard.type("5 p b m")
    await page.keyboard.press("Enter")
    await expect(page.locator(".bubble > p:last-child")).to_have_text("5 p b m")
    assert await page.evaluate("document.documentElement.dataset.seq") == str(table.seq)


async def test_whose_turn_it_is_stands_in_the_title_and_in_the_icon(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    await expect(page).to_have_title(re.compile("● Your turn"))
    icon = page.locator("link[rel=icon]")
    await expect(icon).to_have_attribute("href", re.compile("icon-turn"))
    made = await room_of(shared.url, await Service(shared.url).guest("Host"))
    await page.evaluate("(code) => { location.hash = `#/r/${code}` }", made.code)
    await expect(page).to_have_title(re.compile(f"^Room {made.code}"))
    await expect(icon).not_to_have_attribute("href", re.compile("icon-turn"))
