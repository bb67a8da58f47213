"""Somebody who plays Five Towers with what the page shows: by clicks, taps or keys.

What may be done is read from the page alone: numbers that are not greyed out, cards that are lit,
tops that may be torn down. So whoever plays a game to its end has seen that the page is enough.
"""

from typing import Any, Final, Literal, Protocol, TypeAlias

from playwright.async_api import Page, expect

from tests.browser.waiting import until

Way: TypeAlias = Literal["clicks", "keys", "taps"]

DECISION: Final = """
(after) => {
  const root = document.documentElement.dataset;
  if (Number(root.seq) <= after) return null;
  const seq = Number(root.seq);
  if (root.status === "over") return { what: "over", seq };
  if (root.status !== "playing" || root.state !== "up") return null;
  const all = (selector) => [...document.querySelectorAll(`.five-towers ${selector}`)];
  const can = (button) => button.getAttribute("aria-disabled") !== "true";
  // Something is under way.
  if (all("[aria-busy=true], [data-build][aria-disabled=true]").length) return null;
  const bids = all("[data-bid]").filter(can).map((button) => Number(button.dataset.bid));
  const pass = all("[data-pass]").some(can);
  if (bids.length || pass) return { what: "call", seq, bids, pass };
  const build = all("[data-build]")[0];
  if (!build) return null;
  const stop = (button) => button.dataset.stop;
  const kinds = all(".mine [data-drop]").map((tower) => tower.dataset.drop);
  return {
    what: "build", seq,
    ready: !build.disabled,
    lit: all("[data-fit=now]").map(stop),
    tops: all(".mine button.razable").map(stop),
    kinds,
  };
}
"""
"""What there is to decide, once the page shows more than that commit."""


class Hands(Protocol):
    """One way of doing things."""

    async def bid(self, number: int) -> None: ...
    async def decline(self) -> None: ...
    async def pick(self, stop: str) -> None: ...
    async def demolish(self, stop: str, place: int) -> None: ...
    async def build(self) -> None: ...


class Pointer:
    """By mouse, or by finger."""

    def __init__(self, page: Page, *, taps: bool = False) -> None:
        self._page = page
        self._taps = taps

    async def press(self, selector: str) -> None:
        target = self._page.locator(f".five-towers {selector}")
        await (target.tap() if self._taps else target.click())

    async def bid(self, number: int) -> None:
        await self.press(f"[data-bid='{number}']")

    async def decline(self) -> None:
        await self.press("[data-pass]")

    async def pick(self, stop: str) -> None:
        await self.press(f"[data-stop='{stop}']")

    async def demolish(self, stop: str, place: int) -> None:
        await self.press(f".mine [data-stop='{stop}']")

    async def build(self) -> None:
        await self.press("[data-build]")


class Keys:
    """By the keyboard alone."""

    def __init__(self, page: Page) -> None:
        self._page = page

    async def bid(self, number: int) -> None:
        await self._page.keyboard.press(str(number))

    async def decline(self) -> None:
        await self._page.keyboard.press("p")

    async def pick(self, stop: str) -> None:
        await self._page.keyboard.press(str(int(stop.split()[1]) + 1))

    async def demolish(self, stop: str, place: int) -> None:
        await self._page.keyboard.press(f"Shift+Digit{place + 1}")

    async def build(self) -> None:
        await self._page.keyboard.press("b")


class Player:
    """Decides, and does it by one of the ways."""

    def __init__(self, page: Page, way: Way = "clicks") -> None:
        self.page = page
        self._hands: Hands = Keys(page) if way == "keys" else Pointer(page, taps=way == "taps")
        self._seq = -1
        self.moves = 0

    async def decision(self) -> dict[str, Any]:
        """Wait until there is something to decide, or the game is over."""
        found = await until(self.page, DECISION, self._seq, 30_000)
        assert isinstance(found, dict)
        return found

    async def move(self) -> bool:
        """Make one move; whether the game goes on."""
        found = await self.decision()
        if found["what"] == "over":
            return False
        if found["what"] == "call":
            await self._call(found)
        else:
            await self._build(found)
        self._seq = found["seq"]
        self.moves += 1
        return True

    async def play(self, most: int = 10_000) -> None:
        """Play to the end, or so many moves."""
        while most > 0 and await self.move():
            most -= 1

    async def _call(self, found: dict[str, Any]) -> None:
        if found["bids"]:
            await self._hands.bid(max(found["bids"]))
        else:
            await self._hands.decline()

    async def _build(self, found: dict[str, Any]) -> None:
        for _ in range(20):
            if found["ready"]:
                return await self._hands.build()
            if found["lit"]:
                await self._hands.pick(found["lit"][0])
            else:
                top = found["tops"][0]
                await self._hands.demolish(top, found["kinds"].index(top.split()[1]))
            before, found = found, await self._changed(found)
        raise AssertionError(f"no build comes together: {before} {found}")

    async def _changed(self, before: dict[str, Any]) -> dict[str, Any]:
        look = f"""([after, before]) => {{
          const now = ({DECISION})(after);
          return now && JSON.stringify(now) !== JSON.stringify(before) && now;
        }}"""
        found = await until(self.page, look, [self._seq, before])
        assert isinstance(found, dict)
        return found


async def at_table(page: Page, *, status: str = "playing", state: str = "up", seq: int = 0) -> int:
    """Wait until the page is that far; the seq that it shows."""
    look = """([status, state, seq]) => {
      const root = document.documentElement.dataset;
      return root.status === status && root.state === state && Number(root.seq) >= seq && root.seq;
    }"""
    return int(await until(page, look, [status, state, seq]))


async def dismiss(page: Page) -> None:
    """Close the dialog by Escape. The page hears of it a moment after the browser has done it, and
    would close whatever the next key had opened meanwhile."""
    await page.keyboard.press("Escape")
    await expect(page.locator("dialog")).to_have_count(0)


async def add_bots(page: Page, *levels: str, taps: bool = False) -> None:
    """Seat bots on free seats of a room that waits, one after the other."""
    free = page.get_by_role("button", name="Add a bot", exact=True)
    for level in levels:
        await free.first.wait_for()
        before = await free.count()
        choice = page.get_by_role("button", name=f"Add a bot: {level}")
        for button in (free.first, choice):
            await (button.tap() if taps else button.click())
        await expect(free).to_have_count(before - 1)
