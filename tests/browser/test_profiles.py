"""A browser that others have used is like a new one, or it is not used again."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from playwright.async_api import Browser, Page

from tests.browser.chromium import PATIENCE_MS, WIDE, Visitors
from tests.browser.profiles import Profiles
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

LEAVE: Final = """async () => {
  localStorage.setItem("left", "1");
  sessionStorage.setItem("left", "1");
  document.cookie = "left=1; max-age=1000";
  await new Promise((done) => { indexedDB.open("left").onsuccess = done; });
  await caches.open("left");
  history.pushState(null, "", "#/left");
  window.left = true;
}"""
FIND: Final = """async () => [
  Object.entries(localStorage).sort(),
  Object.keys(sessionStorage),
  document.cookie,
  await indexedDB.databases(),
  await caches.keys(),
  history.length,
  location.hash,
  typeof window.left,
]"""


async def test_no_visitor_finds_what_another_one_left(
    shared: ServerProcess, chromium: Browser
) -> None:
    alone, people = Visitors(chromium), Visitors(chromium, profiles=Profiles(chromium))
    clean = await (await alone.visit(shared.url)).evaluate(FIND)
    guest = await Service(shared.url).guest("Ada")
    used = await people.visit(shared.url, guest=guest, settings={"sound": False})
    await used.evaluate(LEAVE)
    await used.context.new_page()
    assert sum(map(str.__ne__, map(str, await used.evaluate(FIND)), map(str, clean))) == 8
    await people.leave()
    again = await people.visit(shared.url)
    assert again is used
    assert again.context.pages == [again]
    assert await again.evaluate(FIND) == clean
    # Who comes at the same time has another browser, and so has who wants another look.
    other, small = await people.visit(shared.url), await people.visit(shared.url, phone=True)
    assert len({again, other, small}) == 3
    for visitors in (alone, people):
        await visitors.leave()
        assert visitors.complaints == []


async def nothing(*_: object) -> None:
    pass


CHANGES: Final[dict[str, Callable[[Page], Awaitable[Any] | None]]] = {
    "a route": lambda page: page.route("**/*", nothing),
    "a route of all pages": lambda page: page.context.route("**/*", nothing),
    "no network": lambda page: page.context.set_offline(True),
    "a permission": lambda page: page.context.grant_permissions(["notifications"]),
    "a script": lambda page: page.add_init_script("1"),
    "tools of developers": lambda page: page.context.new_cdp_session(page),
    "colours": lambda page: page.emulate_media(color_scheme="dark"),
    "a size": lambda page: page.set_viewport_size({"width": 100, "height": 100}),
    "a listener": lambda page: page.on("request", nothing),
    "a clock": lambda page: page.clock.install(),
    "an end": lambda page: page.close(),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_browser_that_a_test_has_changed_is_not_used_again(
    change: str, profiles: Profiles
) -> None:
    wanted = {"viewport": WIDE, "locale": "en-NZ"}
    profile = await profiles.take(wanted, PATIENCE_MS)
    await profile.begin("http://127.0.0.1:1/", {})
    done = CHANGES[change](profile.page)
    if done is not None:
        await done
    await profiles.give_back(profile)
    next_one = await profiles.take(wanted, PATIENCE_MS)
    assert next_one is not profile
    await next_one.begin("http://127.0.0.1:1/", {})
    await profiles.give_back(next_one)
