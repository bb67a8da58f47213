"""The browser of these tests, and everything about a page that nobody should have to complain of.

A `Visitors` gives out pages, each in a profile of its own like the browser of another person, and
keeps what the browser complains of: errors and warnings of the console (what the content policy
refuses is among them), exceptions, requests that fail. A test that causes trouble on purpose says
which complaints it means.
"""

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Literal, TypedDict, Unpack

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Request,
    Response,
    async_playwright,
)

from towerhall_client.http import Guest

WIDE: Final = {"width": 1280, "height": 800}
PHONE: Final = {"width": 360, "height": 740}
PATIENCE_MS: Final = 20_000
NAMES: Final = ("chromium-headless-shell", "chromium")
"""The first is the same browser without windows, and needs a third of the time."""
ADVICE: Final = (
    "There is no browser {names}: `make test` installs chromium where there is apt-get; elsewhere "
    "install it yourself, and name it by CHROMIUM=... if it is called otherwise."
)
FLAGS: Final = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--mute-audio",
    "--disable-gpu",
    "--in-process-gpu",
    "--renderer-process-limit=1",
)
"""Tests may run as root, in containers, on machines without a screen. The last two save processes:
each visitor still has one, which shows all of its pages."""
DRAWING: Final = (
    *(flag for flag in FLAGS if flag != "--disable-gpu"),
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)
"""Flags of a browser that draws WebGL in software."""

REMEMBERED: Final = """
(([origin, entries]) => {
  if (location.origin !== origin || localStorage.getItem("tests.remembered")) return;
  localStorage.setItem("tests.remembered", "1");
  for (const [name, value] of Object.entries(entries)) localStorage.setItem(name, value);
})(%s)
"""
"""Fills a new browser's storage before its first page looks there, and never again. Playwright's
`storage_state` opens one page more for that, which costs a third of a visit."""


BLOCKED: Final = "Service Worker registration blocked by Playwright"
LAST_VALUE: Final = "/e/derived_inert"
"""Svelte warns when a callback reads a value of a part of the page that was closed meanwhile. An
answer of the network may come then, and the last value is what its callback has to read."""


class MissingBrowserError(Exception):
    """Says what to do about it."""


def find_chromium() -> str:
    wanted = os.environ.get("CHROMIUM")
    names = (wanted,) if wanted else NAMES
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise MissingBrowserError(ADVICE.format(names=" or ".join(names)))
    return found


@asynccontextmanager
async def launched(flags: Sequence[str] = FLAGS) -> AsyncIterator[Browser]:
    path = find_chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(flags))
        try:
            yield browser
        finally:
            await browser.close()


class Wishes(TypedDict, total=False):
    """What somebody's browser is to be like."""

    guest: Guest | None
    """Whom it remembers."""
    settings: Mapping[str, object] | None
    """What was chosen in it before."""
    game: str | None
    """What it has chosen in the hall: Five Towers if left out, nothing yet if None."""
    phone: bool
    motion: bool
    """Whether things may move."""
    locale: str
    viewport: Mapping[str, int]
    color_scheme: Literal["light", "dark"]
    permissions: Sequence[str]
    service_workers: Literal["allow", "block"]
    """Blocked if left out: what one page keeps would answer the next one."""


class Visitors:
    """Opens pages, and keeps all complaints about them."""

    def __init__(
        self,
        browser: Browser,
        *,
        viewport: Mapping[str, int] = WIDE,
        scale: float = 1,
        script: str = "",
    ) -> None:
        """`viewport` is the size of a page unless a visit wishes another one, `scale` the number of
        drawn pixels to each of its own. `script` runs in each page before its own code."""
        self._browser = browser
        self._viewport = viewport
        self._scale = scale
        self._script = script
        self._contexts: list[BrowserContext] = []
        self._meant: list[re.Pattern[str]] = []
        self._complaints: list[str] = []

    async def visit(self, url: str, **wishes: Unpack[Wishes]) -> Page:
        """A browser of one's own, and in it the page at that address."""
        context = await self.context(url, **wishes)
        page = await context.new_page()
        await page.goto(url)
        return page

    async def context(self, url: str, **wishes: Unpack[Wishes]) -> BrowserContext:
        """Only the browser, for those who want something of it before the page is opened."""
        guest, phone = wishes.get("guest"), wishes.get("phone", False)
        settings = wishes.get("settings")
        kept: dict[str, object] = {}
        if guest is not None:
            kept["guest"] = {"token": guest.token, "id": guest.id, "name": guest.name}
        if settings is not None:
            kept["settings"] = dict(settings)
        if (game := wishes.get("game", "five_towers")) is not None:
            kept["opponents"] = {"game": game, "pace": "quick"}
        wanted: dict[str, Any] = {
            "device_scale_factor": self._scale,
            "locale": wishes.get("locale", "en-GB"),
            "viewport": wishes.get("viewport", PHONE if phone else self._viewport),
            "color_scheme": wishes.get("color_scheme", "light"),
            "permissions": wishes.get("permissions", ()),
            "service_workers": wishes.get("service_workers", "block"),
            "has_touch": phone,
            "is_mobile": phone,
            "reduced_motion": "no-preference" if wishes.get("motion") else "reduce",
        }
        context = await self._browser.new_context(**wanted)
        context.set_default_timeout(PATIENCE_MS)
        if kept:
            origin = "/".join(url.split("/")[:3])
            entries = {f"towerhall.{name}": json.dumps(value) for name, value in kept.items()}
            await context.add_init_script(REMEMBERED % json.dumps([origin, entries]))
        if self._script:
            await context.add_init_script(self._script)
        self._contexts.append(context)
        context.on("page", self._watch)
        return context

    def mean(self, *patterns: str) -> None:
        """Complaints that match are what the test wants to cause."""
        self._meant += [re.compile(pattern, re.DOTALL) for pattern in patterns]

    @property
    def complaints(self) -> list[str]:
        """What nobody meant."""
        return [each for each in self._complaints if not any(p.search(each) for p in self._meant)]

    async def leave(self) -> None:
        for context in self._contexts:
            # A browser that leaves while something loads has not failed.
            for page in context.pages:
                for event, listener in self._listeners().items():
                    page.remove_listener(event, listener)
            await context.close()
        self._contexts.clear()

    def _listeners(self) -> dict[str, Any]:
        return {
            "console": self._hear,
            "pageerror": self._throw,
            "requestfailed": self._fail,
            "response": self._answer,
            "dialog": self._ask,
        }

    def _watch(self, page: Page) -> None:
        for event, listener in self._listeners().items():
            page.on(event, listener)  # type: ignore[call-overload]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.text == BLOCKED or message.text.endswith(LAST_VALUE):
            return
        if message.type in ("error", "warning", "assert"):
            where = message.location.get("url", "")
            self._complaints.append(f"console {message.type}: {message.text} ({where})")

    def _throw(self, error: Error) -> None:
        self._complaints.append(f"exception: {error.message} {error.stack}")

    def _fail(self, request: Request) -> None:
        # Leaving a page ends what it still asks for.
        if request.failure != "net::ERR_ABORTED":
            self._complaints.append(f"failed: {request.method} {request.url} {request.failure}")

    def _answer(self, response: Response) -> None:
        if response.status >= 400:
            self._complaints.append(f"status {response.status}: {response.url}")

    async def _ask(self, dialog: Dialog) -> None:
        self._complaints.append(f"dialog: {dialog.message}")
        await dialog.dismiss()
