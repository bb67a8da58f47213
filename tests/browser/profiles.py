"""Browsers that serve one visitor after the other: a new one costs more than most pages do.

What a visitor leaves behind is removed before the next one comes. A browser that a test has changed
in ways that last (routes, scripts, listeners, sizes, a cut network and the like) is not used again.
"""

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Frame, Page

KEPT: Final = 4
"""Each holds a process and its memory, used or not."""
BLANK: Final = "about:blank"
HARMLESS: Final = frozenset(
    """
    aria_snapshot bounding_box bring_to_front click content evaluate evaluate_handle
    expect_download expect_event expect_page expect_popup expect_request expect_response fill
    focus frame_locator get_attribute get_by_alt_text get_by_label get_by_placeholder get_by_role
    get_by_test_id get_by_text get_by_title go_back go_forward goto hover inner_text is_closed
    is_visible locator new_page press query_selector query_selector_all reload remove_listener
    screenshot tap text_content title wait_for_event wait_for_function wait_for_load_state
    wait_for_selector wait_for_timeout wait_for_url
    """.split()  # noqa: SIM905
)
"""What ends with the page that it was done to. All other methods may change the browser."""
REMEMBERED: Final = """
(([origin, entries]) => {
  if (location.origin !== origin || localStorage.getItem("tests.remembered")) return;
  localStorage.setItem("tests.remembered", "1");
  for (const [name, value] of Object.entries(entries)) localStorage.setItem(name, value);
})(%s)
"""
"""Fills the storage before the first page of a visit looks there, and never again. Playwright's
`storage_state` opens one page more for that, which costs a third of a visit."""


class Script(Protocol):
    """Runs at the start of each page."""

    async def close(self) -> None: ...


async def remember(context: BrowserContext, url: str, entries: Mapping[str, str]) -> Script:
    """Let the first page find these entries; the result ends that."""
    script = REMEMBERED % json.dumps(["/".join(url.split("/")[:3]), dict(entries)])
    # Not as a method of the context, whose profile would take that for a change by the test.
    return await BrowserContext.add_init_script(context, script)


class Profile:
    """One browser with one page."""

    def __init__(self, look: str, page: Page, devtools: CDPSession) -> None:
        self.look = look
        self.page = page
        self.context = page.context
        self.is_changed = False
        self._devtools = devtools
        self._remembering: Script | None = None
        self._origins: set[str] = set()
        page.on("framenavigated", self._note)
        for thing in (page, page.context, page.clock):
            self._notice_changes(thing)

    async def begin(self, url: str, entries: Mapping[str, str]) -> None:
        self._remembering = await remember(self.context, url, entries)

    async def forget(self) -> bool:
        """Remove the traces of a visit; False if the browser has to be closed."""
        if self.is_changed or self.page.is_closed():
            return False
        try:
            for page in self.context.pages:
                if page is not self.page:
                    self._note(page.main_frame)
                    await Page.close(page)
            await self.page.goto(BLANK)
            if self._remembering is not None:
                await self._remembering.close()
            for origin in self._origins:
                wanted = {"origin": origin, "storageTypes": "all"}
                await self._devtools.send("Storage.clearDataForOrigin", wanted)
            await self._devtools.send("Page.resetNavigationHistory")
            await self.page.mouse.up()
            await self.page.mouse.move(0, 0)
        except Error:
            return False  # it has crashed, for example
        self._origins.clear()
        return True

    def _note(self, frame: Frame) -> None:
        if frame.url.startswith("http"):
            self._origins.add("/".join(frame.url.split("/")[:3]))

    def _notice_changes(self, thing: Any) -> None:
        for name, _ in inspect.getmembers(type(thing), inspect.isfunction):
            if not name.startswith("_") and name not in HARMLESS:
                setattr(thing, name, self._noticing(getattr(thing, name)))

    def _noticing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            self.is_changed = True
            return method(*arguments, **more)

        return call


class Profiles:
    """The browsers that wait for their next visitor."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: list[Profile] = []

    async def take(self, wanted: Mapping[str, Any], patience_ms: int) -> Profile:
        """One that looks like that: a free one, or a new one."""
        look = json.dumps(wanted, sort_keys=True)
        for profile in self._free:
            if profile.look == look:
                self._free.remove(profile)
                return profile
        context = await self._browser.new_context(**wanted)
        context.set_default_timeout(patience_ms)
        page = await context.new_page()
        return Profile(look, page, await context.new_cdp_session(page))

    async def give_back(self, profile: Profile) -> None:
        if await profile.forget():
            self._free.append(profile)
            old = self._free[:-KEPT]
            del self._free[:-KEPT]
            await asyncio.gather(*(BrowserContext.close(each.context) for each in old))
        else:
            await BrowserContext.close(profile.context)
