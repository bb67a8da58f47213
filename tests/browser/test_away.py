"""The page without a network and while it is closed: what its service worker keeps and shows."""

import asyncio
import json
import re
from typing import Any

from playwright.async_api import CDPSession, expect

from tests.browser.chromium import Visitors
from tests.browser.tables import Finished
from tests.end_to_end.raw import ask
from tests.end_to_end.servers import ServerProcess

NOTE = {"kind": "turn", "room": "QJXKZB", "game": "five_towers", "names": ["Ada"], "language": "de"}
TROUBLE = re.compile("push service of this browser|cannot show messages|blocks notifications")
WATCH = """() => {
  self.shown = new Promise((resolve) => {
    self.registration.showNotification = async (title, { body, tag, lang }) =>
      resolve({ title, body, tag, lang });
  });
}"""
"""The browser of tests has no place to show notifications."""


async def test_offline_the_hall_and_kept_records_are_shown_and_pushes_are_worded(
    shared: ServerProcess, finished: Finished, visitors: Visitors
) -> None:
    visitors.mean("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "WebSocket")
    manifest = ask(shared.url, "GET", "/manifest.webmanifest").document
    for icon in manifest["icons"]:
        assert ask(shared.url, "GET", icon["src"][1:]).status == 200
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}
    worker = ask(shared.url, "GET", "/sw.js")
    assert worker.headers["cache-control"] == "no-cache"
    assert worker.headers["content-type"].startswith("text/javascript")
    context = await visitors.context(
        shared.url, service_workers="allow", permissions=["notifications"]
    )
    page = await context.new_page()
    await page.goto(shared.url)
    await page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    await page.goto(f"{shared.url}#/record/{finished.code}")
    await expect(page.get_by_text(finished.code).first).to_be_visible()
    await context.set_offline(True)
    await page.goto(shared.url)
    await expect(page.get_by_text("You are offline. Games go on")).to_be_visible()
    await page.get_by_role("link", name=finished.code).click()
    await expect(page.get_by_role("slider")).to_be_visible()
    await context.set_offline(False)
    # The browser of tests has no push service: the switch says so, and stays off.
    await page.get_by_role("button", name="Settings").click()
    switch = page.get_by_role(
        "switch", name="Tell me when it is my turn, also with the page closed"
    )
    await switch.press("Space")
    await expect(page.get_by_text(TROUBLE).first).to_be_visible()
    await expect(switch).not_to_be_checked()
    # What the browser does with a push that came.
    session = await context.new_cdp_session(page)
    registration = await _registration(session)
    push = {"origin": shared.url.rstrip("/"), "registrationId": registration}
    (running,) = context.service_workers
    await running.evaluate(WATCH)
    await session.send("ServiceWorker.deliverPushMessage", push | {"data": json.dumps(NOTE)})
    assert await running.evaluate("() => self.shown") == {
        "title": "Fünf Türme: Du bist dran",
        "body": "Raum QJXKZB, mit Ada",
        "tag": "towerhall-QJXKZB",
        "lang": "de",
    }


async def _registration(session: CDPSession) -> str:
    """The id by which the browser knows the service worker of the page."""
    found: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def hear(event: dict[str, Any]) -> None:
        for each in event["registrations"]:
            if not found.done() and not each["isDeleted"]:
                found.set_result(each["registrationId"])

    session.on("ServiceWorker.workerRegistrationUpdated", hear)
    await session.send("ServiceWorker.enable")
    return await asyncio.wait_for(found, 10)
