"""A phone, 360 pixels wide: everything fits, every target is large enough for a finger."""

from typing import Final

from playwright.async_api import Page

from tests.browser.chromium import PHONE, Visitors
from tests.browser.hands import Player, add_bots, at_table, dismiss
from tests.browser.tables import Finished, hurry, is_building, set_table
from tests.end_to_end.servers import ServerProcess

FINGER: Final = 44

TOO_SMALL: Final = """
(size) => {
  const half = size / 2 - 1;
  const targets = "button, a[href], summary, select, textarea, [role=tab], [role=slider]"
    + ", input:not(.unseen, [type=file]), label:has(input.unseen)";
  const open = document.querySelector("dialog[open]") ?? document;
  const small = [];
  for (const element of open.querySelectorAll(targets)) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest(".unseen, .skip")) continue;
    // It says only why it cannot be torn down.
    if (element.matches("[data-stop^=tower][aria-disabled=true]")) continue;
    // Whoever wants the top below a card that is only planned takes that card away first.
    if (element.matches(".level:has(+ .level > [data-stop^=planned]) > *")) continue;
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const { left, top, width, height } = element.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    const under = (dx, dy) => document.elementFromPoint(x + dx, y + dy);
    const missed = [[-half, 0], [half, 0], [0, -half], [0, half]]
      .map(([dx, dy]) => [under(dx, dy), dx, dy])
      .find(([hit]) => !element.contains(hit) && !hit?.matches("label:has(.unseen)"));
    if (missed) {
      const [hit, dx, dy] = missed;
      const told = `${width.toFixed()}x${height.toFixed()} ${element.outerHTML.slice(0, 160)}`;
      small.push(`${told} at ${dx} ${dy} is ${hit?.outerHTML.slice(0, 80)}`);
    }
  }
  return small;
}
"""
"""Where a finger that is put on the middle of a target would touch something else as well."""

TOO_WIDE: Final = """
() => {
  const width = document.documentElement.clientWidth;
  const isScrolled = (element) => {
    for (let up = element.parentElement; up; up = up.parentElement)
      if (getComputedStyle(up).overflowX !== "visible") return true;
    return false;
  };
  const wide = [...document.body.querySelectorAll("*")].filter((element) => {
    const { left, right, width: own } = element.getBoundingClientRect();
    if (own === 0 || (left >= -1 && right <= width + 1)) return false;
    return element.checkVisibility() && !element.closest(".unseen, .skip") && !isScrolled(element);
  });
  const found = wide.map((element) => element.outerHTML.slice(0, 160));
  const whole = document.documentElement.scrollWidth;
  if (whole > width) found.push(`page: ${whole}`);
  return found;
}
"""


async def misfits(page: Page) -> dict[str, list[str]]:
    """What does not suit the screen or the finger."""
    found = {
        "wide": await page.evaluate(TOO_WIDE),
        "small": await page.evaluate(TOO_SMALL, FINGER),
    }
    return {name: elements for name, elements in found.items() if elements}


async def test_create_and_play_by_taps(shared: ServerProcess, visitors: Visitors) -> None:
    page = await visitors.visit(shared.url, phone=True)
    await page.context.route("**/v1/rooms", hurry)
    wrong = {}

    async def look(screen: str) -> None:
        if found := await misfits(page):
            wrong[screen] = found

    assert await page.evaluate("[innerWidth, innerHeight]") == list(PHONE.values())
    await page.locator("[data-lobby=up]").wait_for()
    await look("lobby")
    await page.get_by_role("button", name="Create a room").tap()
    await page.locator("dialog select").wait_for()
    await page.locator("dialog summary").tap()
    await look("new room")
    await page.get_by_role("group", name="Seats").locator("label", has_text="3").tap()
    await page.get_by_role("button", name="Create the room").tap()
    await at_table(page, status="waiting")
    await page.get_by_role("button", name="Stand up").wait_for()
    await look("waiting")
    await add_bots(page, "Easy", "Easy", taps=True)
    await page.get_by_role("button", name="Start the game").tap()
    player = Player(page, "taps")
    kinds = set[str]()
    while kinds < {"call", "build"} or player.moves < 6:
        found = await player.decision()
        if found["what"] not in kinds:
            await look(f"table, {found['what']}")
        kinds.add(found["what"])
        assert await player.move()
    assert wrong == {}


async def test_other_screens_fit_a_phone(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    table = await set_table(
        shared.url, moves=12, until=is_building, bots=("easy", "hard", "medium", "easy")
    )
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest, phone=True)
    await at_table(page)
    wrong = {}

    async def look(screen: str) -> None:
        if found := await misfits(page):
            wrong[screen] = found

    await page.locator("[data-fit=now]").first.tap()
    await look("five players, building")
    await page.keyboard.press("m")
    await page.locator("dialog[open]").wait_for()
    await look("menu")
    await page.get_by_role("button", name="Invite people").tap()
    await page.get_by_role("img", name="QR code for the link").wait_for()
    await look("invitation")
    await dismiss(page)
    await page.get_by_role("button", name="Chat").tap()
    await page.locator("dialog[open] form").wait_for()
    await look("chat")
    await dismiss(page)
    await page.get_by_role("button", name="Settings").tap()
    await page.locator("dialog[open]").wait_for()
    await look("settings")
    await dismiss(page)
    for hash_, ready in (
        (f"#/r/{finished.code}", ".result table"),
        (f"#/r/{finished.code}?at=40", "[data-replay=ready] .five-towers"),
        ("#/rules/five_towers", "article h2"),
        ("#/record", "input[type=file]"),
    ):
        await page.evaluate("(hash) => { location.hash = hash }", hash_)
        await page.locator(ready).first.wait_for(state="attached")
        await look(hash_)
    assert wrong == {}


async def test_what_is_too_wide_or_too_small_is_seen(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """Otherwise the tests above would say nothing."""
    page = await visitors.visit(shared.url, phone=True)
    await page.evaluate(
        """() => {
          const wide = document.createElement("div");
          wide.style.width = "400px"; wide.style.height = "1px";
          const small = document.createElement("button");
          small.style.width = "30px"; small.style.height = "60px";
          document.querySelector("#content").prepend(wide, small);
        }"""
    )
    found = await misfits(page)
    assert len(found["wide"]) >= 1
    assert any("30x60" in each for each in found["small"])
