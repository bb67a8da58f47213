"""Games that this page has no folder for: played, watched, replayed, checked without pictures."""

import re
from typing import Any, Final

import pytest
from playwright.async_api import Page, expect

from tests.browser.axe import violations
from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.tables import drop_record, hurry
from tests.browser.toys_server import TOYS
from tests.browser.waiting import until
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import connect
from towerhall_client.http import Service

DECISION: Final = """
(after) => {
  const root = document.documentElement.dataset;
  if (Number(root.seq) <= after) return null;
  if (root.status === "over") return { over: true, seq: Number(root.seq) };
  if (root.status !== "playing" || root.state !== "up") return null;
  const ready = document.querySelector("[data-plain] .forms button:not(:disabled)");
  return ready && { over: false, seq: Number(root.seq) };
}
"""
PLAIN: Final = "[data-plain]"
HIDDEN_WORDS: Final = re.compile("Waiting for other players|has not begun|nobody could choose")


async def begin(page: Page, game: str) -> None:
    """Against one bot, from the hall."""
    await page.context.route("**/v1/rooms", hurry)
    await page.locator(f"[data-game={game}]").click()
    opponents = page.get_by_role("group", name="Opponents")
    await opponents.locator("label").first.click()
    await page.get_by_role("button", name="Play now").click()
    await at_table(page)


async def act_by_keys(page: Page) -> None:
    """Fill in the first form and send it, or press the first button, all by keyboard."""
    first = page.locator(f"{PLAIN} .forms > *").first
    numbers = first.locator("input")
    if await numbers.count() == 0:
        await first.get_by_role("button").first.press("Enter")
        return
    if await first.locator("select").count():
        await first.locator("select").press("End")
    for number in await numbers.all():
        await number.fill(await number.get_attribute("max") or "")
    await numbers.last.press("Enter")


async def play_out(page: Page) -> int:
    """Play to the end; how many commands that took."""
    seq, moves = -1, 0
    while True:
        found = await until(page, DECISION, seq)
        if found["over"]:
            return moves
        seq = found["seq"]
        await act_by_keys(page)
        moves += 1


def facts_of(record: dict[str, Any]) -> set[str]:
    return {fact[0] for frame in record["frames"] for fact in frame[4]}


@pytest.mark.parametrize("game", TOYS)
async def test_a_game_without_pictures_is_played_replayed_and_checked(
    toys: ServerProcess, visitors: Visitors, game: str
) -> None:
    page = await visitors.visit(toys.url)
    await begin(page, game)
    code, key = page.url.split("/")[5:]
    assert await play_out(page) >= 3

    # The end: places and points, and nothing to do any more.
    await expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
    await expect(page.get_by_text("Place 1").first).to_be_visible()
    await expect(page.locator(PLAIN)).to_have_count(0)
    # The log tells facts by their names.
    log = page.get_by_role("log").first
    await expect(log).to_contain_text(re.compile(r"Rolled: \d"))
    assert not HIDDEN_WORDS.search(await page.locator("body").inner_text())

    await page.get_by_role("button", name="Check the draws").click()
    await page.locator("[data-proof=good]").wait_for()
    told = await page.locator("[data-proof]").inner_text()
    assert told.startswith("All correct: the seed follows")
    assert "towerhall verify" in told
    await page.keyboard.press("Escape")

    await page.get_by_role("link", name="Watch the replay").click()
    await page.locator(f"[data-replay=ready] {PLAIN} pre").wait_for()
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator("[data-replay=ready] .words ul")).to_contain_text("Rolled: ")
    assert not HIDDEN_WORDS.search(await page.locator("body").inner_text())

    record = await Service(toys.url).record(code, key)
    assert "rolled" in facts_of(record)
    await page.goto(f"{toys.url}#/record")
    await drop_record(page, record)
    await page.locator(f"[data-replay=ready] {PLAIN} pre").wait_for()
    await expect(page.get_by_text("Place 1").first).to_be_visible()
    await page.locator("[data-proof=good]").wait_for()


async def test_a_number_out_of_range_is_explained_and_not_sent(
    toys: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(toys.url)
    await begin(page, "dice_duel")
    seq = (await until(page, DECISION, -1))["seq"]
    number = page.get_by_role("spinbutton", name="Number (1 – 6)")
    for wrong in ("99", "0", "", "2.5"):
        await number.fill(wrong)
        await number.press("Enter")
        await expect(page.locator(PLAIN).get_by_role("alert")).to_have_text(
            "Possible: number 1 – 6."
        )
        await expect(number).to_have_attribute("aria-invalid", "true")
    assert await at_table(page) == seq
    await number.fill("3")
    await page.get_by_role("button", name="Name").click()
    await at_table(page, seq=seq + 1)


async def test_a_watcher_sees_the_game_and_is_asked_nothing(
    toys: ServerProcess, visitors: Visitors
) -> None:
    service = Service(toys.url)
    ann = await service.guest("Ann")
    made = await service.create_room(ann.token, "dice_duel", seats=2, bot_delay_ms=0)
    async with connect(toys.url, made.code, ann.token, retry=QUICK) as table:
        await table.sit()
        await table.add_bot("easy")
        await table.start()
        await table.turn()
        watcher = await service.guest("Watcher")
        page = await visitors.visit(f"{toys.url}#/r/{made.code}", guest=watcher)
        await at_table(page)
        await expect(page.locator(f"{PLAIN} pre")).to_contain_text("scores:")
        await expect(page.locator(f"{PLAIN} .forms")).to_have_count(0)
        await page.keyboard.press("m")
        # There are no rules to be shown, so no button leads to them.
        await expect(page.get_by_role("dialog")).to_contain_text("Invite people")
        await expect(page.get_by_role("link", name="Rules")).to_have_count(0)


async def test_a_refusal_without_words_shows_the_hint_of_the_game(
    toys: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(toys.url)
    await begin(page, "tile_duel")
    while not (await until(page, DECISION, -1))["over"]:
        back = page.get_by_role("button", name="Give back (may be refused)")
        if await back.count():
            break
        await act_by_keys(page)
        await at_table(page)
    await page.get_by_role("button", name="Give back (may be refused)").click()
    messages = page.get_by_role("status", name="Messages")
    await expect(messages).to_contain_text("Some column would bear it.")


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
async def test_axe_finds_nothing_on_a_plain_board(
    toys: ServerProcess, visitors: Visitors, phone: bool
) -> None:
    page = await visitors.visit(toys.url, phone=phone)
    await begin(page, "tile_duel")
    await until(page, DECISION, -1)
    assert await violations(page) == []
    wide = "document.documentElement.scrollWidth - innerWidth"
    assert await page.evaluate(wide) <= 0
