"""How the page comes: small, at once, with a strict policy, kept for as long as it may be."""

import json
import re
from typing import Final

from playwright.async_api import Browser, Response, Route, WebSocket, WebSocketRoute, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.tables import set_table
from tests.end_to_end.servers import ServerProcess
from towerhall_client.http import Service

MOST_BYTES: Final = 120_000
"""Lobby and Five Towers together, packed: scripts and styles."""


async def test_lobby_and_five_towers_are_small(shared: ServerProcess, visitors: Visitors) -> None:
    table = await set_table(shared.url)
    context = await visitors.context(shared.url, guest=table.guest)
    page = await context.new_page()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    await page.goto(shared.url)
    await page.locator("[data-lobby=up]").wait_for()
    await page.evaluate("(code) => { location.hash = `#/r/${code}` }", table.room.code)
    await at_table(page)
    await page.locator("[data-bid]").first.wait_for()
    sizes = {}
    for answer in answers:
        if re.search(r"\.(js|css)$", answer.url):
            sizes[answer.url] = (await answer.request.sizes())["responseBodySize"]
            assert answer.headers["content-encoding"] == "gzip" or sizes[answer.url] < 1000
    assert len(sizes) > 5
    assert sum(sizes.values()) <= MOST_BYTES, sizes


async def test_the_first_paint_waits_for_no_socket_and_no_answer(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """Whatever is asked of the service, and said on a socket, is never answered."""
    guest = await Service(shared.url).guest("Ada")
    context = await visitors.context(shared.url, guest=guest)
    page = await context.new_page()
    asked, opened = list[str](), list[str]()

    def hold(line: WebSocketRoute) -> None:
        opened.append(line.url)

    async def ignore(route: Route) -> None:
        asked.append(route.request.url)

    await page.route_web_socket("**/*", hold)
    await page.route("**/v1/**", ignore)
    await page.goto(shared.url)
    await expect(page.get_by_role("button", name="Play now")).to_be_visible()
    await expect(page.get_by_text("Looking for rooms…")).to_be_visible()
    await page.wait_for_function(
        "() => performance.getEntriesByName('first-contentful-paint').length"
    )
    assert asked != []
    assert opened != []


async def test_the_policy_is_strict(shared: ServerProcess, visitors: Visitors) -> None:
    """What the header forbids does not happen: a script in the document, an address elsewhere."""
    visitors.mean("Content Security Policy", "TrustedScript", "TrustedHTML")
    context = await visitors.context(shared.url)
    page = await context.new_page()
    answer = await page.goto(shared.url)
    assert answer is not None
    header = answer.headers["content-security-policy"]
    policy = dict(part.strip().split(" ", 1) for part in header.split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in header
    assert answer.headers["x-content-type-options"] == "nosniff"
    tried = await page.evaluate(
        """async () => {
          const attempt = (deed) => (async () => deed())().then(() => "done", ({ name }) => name);
          const script = () => {
            const made = document.createElement("script");
            made.textContent = "window.didRun = true";
            document.head.append(made);
          };
          document.body.setAttribute("style", "opacity: 0.5");
          return {
            script: await attempt(script),
            markup: await attempt(() => { document.createElement("p").innerHTML = "<b>bold</b>" }),
            elsewhere: await attempt(() => fetch("http://127.0.0.1:1/")),
            didRun: window.didRun ?? false,
            opacity: getComputedStyle(document.body).opacity,
          };
        }"""
    )
    assert tried == {
        "script": "TypeError",
        "markup": "TypeError",
        "elsewhere": "TypeError",
        "didRun": False,
        "opacity": "1",
    }


async def test_browsers_keep_what_never_changes(shared: ServerProcess, visitors: Visitors) -> None:
    context = await visitors.context(shared.url)
    page = await context.new_page()
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    document = await page.goto(shared.url)
    assert document is not None
    assert document.headers["cache-control"] == "no-cache"
    await page.locator("[data-lobby=up]").wait_for()
    assets = [each for each in answers if "/assets/" in each.url]
    assert len(assets) > 2
    for asset in assets:
        assert asset.headers["cache-control"] == "public, max-age=31536000, immutable", asset.url
        await asset.finished()
    # Another visit asks the server for the document, and for none of them; or the one after it, for
    # a browser that has much to do keeps what it got a little later.
    for _ in range(3):
        answers.clear()
        other = await context.new_page()
        other.on("response", lambda answer: answers.append(answer))
        await other.goto(shared.url)
        await other.locator("[data-lobby=up]").wait_for()
        assert [each for each in answers if "/assets/" in each.url], "they were asked for"
        fresh = [
            each.url
            for each in answers
            if "/assets/" in each.url and (await each.request.sizes())["responseBodySize"] > 0
        ]
        if not fresh:
            break
    assert fresh == []


async def test_the_page_can_be_installed(shared: ServerProcess, visitors: Visitors) -> None:
    page = await visitors.visit(shared.url)
    session = await page.context.new_cdp_session(page)
    manifest = await session.send("Page.getAppManifest")
    assert manifest["errors"] == []
    content = json.loads(manifest["data"])
    assert content["name"] == "Towerhall"
    for icon in content["icons"]:
        answer = await page.request.get(f"{shared.url}{icon['src'].removeprefix('./')}")
        assert answer.ok, icon
        assert answer.headers["content-type"].startswith(icon["type"])
    errors = (await session.send("Page.getInstallabilityErrors"))["installabilityErrors"]
    # A profile that keeps nothing cannot install anything; all else is as it should be.
    assert [each for each in errors if each["errorId"] != "in-incognito"] == []


async def test_complaints_are_heard(shared: ServerProcess, chromium: Browser) -> None:
    """Otherwise no test here could say that there are none."""
    people = Visitors(chromium)
    page = await people.visit(shared.url)
    await page.evaluate(
        """async () => {
          console.error("an error");
          console.warn("a warning");
          setTimeout(() => { throw new Error("an exception") });
          await fetch("./no-such-file");
          await fetch("http://127.0.0.1:1/").catch(() => undefined);
          alert("a dialog");
        }"""
    )
    await page.close()
    told = "\n".join(people.complaints)
    await people.leave()
    for what in ("an error", "a warning", "an exception", "no-such-file", "Policy", "a dialog"):
        assert what in told
    people.mean(".")
    assert people.complaints == []


LEAVING: Final = """
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    if (location.hash === "") setTimeout(() => { location.hash = "#/rules/five_towers" });
  }
};
"""
"""Another page is opened as soon as the hall begins to connect."""


async def test_who_leaves_the_hall_before_it_is_connected_hears_of_no_failure(
    shared: ServerProcess, chromium: Browser
) -> None:
    visitors = Visitors(chromium, script=LEAVING)
    guest = await Service(shared.url).guest("Ada")
    context = await visitors.context(shared.url, guest=guest)
    page = await context.new_page()
    lines: list[WebSocket] = []
    page.on("websocket", lambda line: lines.append(line))
    await page.goto(shared.url)
    await page.locator("article h2").first.wait_for()
    (line,) = lines
    if not line.is_closed():
        await line.wait_for_event("close")
    assert visitors.complaints == []
    await visitors.leave()
