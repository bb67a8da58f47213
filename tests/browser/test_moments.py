"""What is heard and seen of the moments of a game, and how a game ends on the page."""

from typing import Final

from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table, dismiss
from tests.browser.tables import is_bidding, set_table
from tests.browser.waiting import until
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import Table

LISTEN: Final = """
(() => {
  window.heard = window.noises = 0;
  for (const name of ["OscillatorNode", "AudioBufferSourceNode"]) {
    const Node = window[name];
    window[name] = class extends Node {
      constructor(...given) {
        super(...given);
        window.heard += 1;
        window.noises += Number(name === "AudioBufferSourceNode");
        document.documentElement.dataset.heard = String(window.heard);
      }
    };
  }
})()
"""
"""Counts the tones that a page makes."""
LAST_CARDS: Final = 10
SWITCHES: Final = (
    "A card is dealt or placed",
    "An auction is won",
    "A tower is finished",
    "The game is won",
    "A tower collapses",
)


def nearly_over(table: Table) -> bool:
    game = table.view["game"]
    assert isinstance(game, dict)
    return bool(game["lap"] == 2 and game["pile"] <= LAST_CARDS)


async def heard(page: Page) -> int:
    return int(await page.evaluate("window.heard"))


async def test_moments_are_heard_unless_each_of_them_is_switched_off(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=is_bidding)
    context = await visitors.context(shared.url, guest=table.guest)
    page = await context.new_page()
    await page.add_init_script(LISTEN)
    tones: list[str] = []
    page.on("request", lambda asked: tones.append(asked.url) if "/tones" in asked.url else None)
    await page.goto(f"{shared.url}#/r/{table.room.code}")
    await at_table(page)
    player = Player(page)
    await player.decision()
    assert tones == []
    await player.play(3)
    await until(page, "() => Number(document.documentElement.dataset.heard) > 0", None)
    assert len(tones) == 1
    # What is switched on again is heard at once; each is a switch of its own.
    await page.keyboard.press(",")
    for name in SWITCHES:
        switch = page.get_by_role("switch", name=name)
        await expect(switch).to_be_checked()
        await switch.press("Space")
        before = await heard(page)
        await switch.press("Space")
        await until(
            page, "(least) => Number(document.documentElement.dataset.heard) > least", before
        )
        await switch.press("Space")
        await expect(switch).not_to_be_checked()
    silent = await page.evaluate("JSON.parse(localStorage['towerhall.settings']).silent")
    assert sorted(silent) == ["card", "collapse", "gavel", "spire", "win"]
    await dismiss(page)
    await page.reload()
    await at_table(page)
    await page.keyboard.press("Shift")
    player = Player(page)
    await player.play(3)
    await player.decision()
    # Cards would be noise; the chime of a turn, which has a switch of its own, is none.
    assert await page.evaluate("window.noises") == 0
    assert len(tones) == 1


async def test_the_end_names_the_own_place_first_and_leaves_the_table(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(
        shared.url,
        bots=("easy",),
        until=nearly_over,
    )
    page = await visitors.visit(
        f"{shared.url}#/r/{table.room.code}",
        guest=table.guest,
        viewport={"width": 360, "height": 640},
    )
    await at_table(page)
    await Player(page).play()
    own = page.locator(".own")
    await expect(own).to_contain_text("Your place:")
    await expect(own).to_contain_text("Your best tower:")
    await expect(page.locator(".five-towers")).to_have_count(0)
    again = page.get_by_role("button", name="Play again")
    await expect(again).to_be_in_viewport()
    first = page.locator(".over :is(button, a)").first
    await expect(first).to_have_text("Play again")
    await page.get_by_role("link", name="Watch the replay").click()
    await page.locator("[data-replay=ready] .five-towers").wait_for()
