"""Names and chat that try to be more than text: they are shown as text, and nothing happens."""

import asyncio
from copy import deepcopy
from typing import Final

from playwright.async_api import Page, Request, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.tables import Finished, drop_record
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import Table, connect
from towerhall_client.http import Service
from towerhall_protocol.updates import ChatSaid

NAMES: Final = (
    "<img src onerror=hit()>",
    "<svg onload=hit()>",
    "'autofocus onfocus=hit()",
    "{{hit()}}${hit()}{@html}",
    "javascript:hit()//",
)
"""At most 24 characters each; longer ones are refused by the server."""

TEXTS: Final = (
    "<script>hit()</script>",
    "<script src='/hit.js'></script>",
    "<img src='/hit.png' onerror='hit()'>",
    "<svg><animate onbegin=hit() attributeName=x dur=1s></svg>",
    "<svg><script>hit()</script></svg>",
    "<iframe srcdoc='<script>parent.hit()</script>'></iframe>",
    "<iframe src='javascript:parent.hit()'></iframe>",
    "<details open ontoggle=hit()>",
    "<input autofocus onfocus=hit()>",
    "<video><source onerror=hit()></video>",
    "<style>@import '/hit.css'; * { background: url(/hit.png) }</style>",
    "<link rel=stylesheet href='/hit.css'>",
    "<base href='http://127.0.0.1:1/'>",
    "<meta http-equiv=refresh content='0;url=/hit'>",
    "<form action=/hit><button>x</button></form><script>document.forms[0].submit()</script>",
    "<a href='javascript:hit()'>click</a>",
    "<math><mtext></p><style><img src onerror=hit()></style></mtext></math>",
    "<template shadowrootmode=open><img src onerror=hit()></template>",
    "</p></div><img src onerror=hit()>",
    "--><img src onerror=hit()><!--",
    '"><img src onerror=hit()>',
    "'-hit()-'",
    "`${hit()}`",
    "{hit()} {{constructor.constructor('hit()')()}} {@html '<img src onerror=hit()>'}",
    "&lt;img src onerror=hit()&gt; &#60;script&#62;hit()&#60;/script&#62;",
    "javascript:hit()",
    "data:text/html,<script>hit()</script>",
    "%3Cscript%3Ehit()%3C/script%3E",
    "\\x3cscript\\x3ehit()\\u003c/script\\u003e",
    "__proto__ constructor toString {name} {n} %s $& $1",
)


class Alarm:
    """Rings if any of the texts did something."""

    def __init__(self, page: Page) -> None:
        self.rung: list[str] = []
        page.on("request", self._look)

    async def arm(self, page: Page) -> None:
        await page.context.expose_function("hit", lambda: self.rung.append("hit"))

    def _look(self, request: Request) -> None:
        if "hit" in request.url or request.resource_type in ("iframe", "media", "object"):
            self.rung.append(request.url)


async def texts_in(page: Page, selector: str) -> list[str]:
    elements = page.locator(selector)
    found: list[str] = await elements.evaluate_all("(all) => all.map((each) => each.textContent)")
    return found


async def say(table: Table, text: str) -> None:
    """Say it, and wait until it is heard: nobody may say much at once."""
    heard = aiter(table)
    await table.chat(text)
    while not isinstance(said := await anext(heard), ChatSaid) or said.text != text:
        pass


async def test_the_alarm_rings_if_a_text_becomes_markup(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """Otherwise the tests below would say nothing."""
    visitors.mean("404")
    page = await visitors.visit(shared.url)
    alarm = Alarm(page)
    await alarm.arm(page)
    # The page itself could not: its policy takes no text for markup.
    async with page.expect_event("requestfinished"):
        await page.evaluate("async () => { await hit(); new Image().src = '/hit.png' }")
    assert alarm.rung == ["hit", f"{shared.url}hit.png"]


async def test_hostile_names_and_chat_are_text(shared: ServerProcess, visitors: Visitors) -> None:
    service = Service(shared.url)
    people = [await service.guest(name) for name in NAMES]
    assert [person.name for person in people] == list(NAMES)
    made = await service.create_room(
        people[0].token, "five_towers", seats=len(people), bot_delay_ms=0
    )
    url = f"{shared.url}#/r/{made.code}"
    hall = await visitors.visit(shared.url)
    await hall.get_by_role("group", name="Show").locator("label", has_text="All").click()
    context = await visitors.context(url, guest=await service.guest(NAMES[0]))
    page = await context.new_page()
    alarms = [Alarm(hall), Alarm(page)]
    for alarm, each in zip(alarms, (hall, page), strict=True):
        await alarm.arm(each)
    await page.goto(url)
    await at_table(page, status="waiting")

    async def sit(number: int) -> None:
        async with connect(shared.url, made.code, people[number].token, retry=QUICK) as table:
            await table.sit(number)
            for text in TEXTS[number :: len(people)]:
                await say(table, text)
            await table.ready()
            if number == 0:
                await table.until(lambda: len(taken(table.view)) == len(people))
                await table.until(lambda: all_ready(table.view))
                await expect(
                    hall.get_by_role("article").filter(has_text=made.code)
                ).to_contain_text(NAMES[1])
                await table.start()
            await table.until(lambda: table.status == "playing")

    await asyncio.gather(*(sit(number) for number in range(len(people))))
    await at_table(page)
    await page.get_by_role("tab", name="Chat").click()
    bubbles = page.locator(".bubble > p:last-child")
    await expect(bubbles).to_have_count(len(TEXTS))
    assert sorted(await texts_in(page, ".bubble > p:last-child")) == sorted(TEXTS)
    assert await page.locator(".bubble :not(p, b, time)").count() == 0
    assert {name in await page.locator(".five-towers").inner_text() for name in NAMES} == {True}
    await page.get_by_role("tab", name="Log").click()
    log = await page.get_by_role("log").first.inner_text()
    assert all(f"{name} sits down." in log for name in NAMES)
    assert [alarm.rung for alarm in alarms] == [[], []]


def taken(view: object) -> dict[str, dict[str, object]]:
    assert isinstance(view, dict)
    found = view["room"]["seats"]
    assert isinstance(found, dict)
    return found


def all_ready(view: object) -> bool:
    return all(seat.get("ready") or number == "0" for number, seat in taken(view).items())


async def test_a_hostile_record_is_text(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    record = deepcopy(finished.record)
    record["code"] = TEXTS[2]
    record["seats"] = [{"name": TEXTS[0]}, {"name": TEXTS[1]}]
    for frame in record["frames"]:
        seats = frame[5].get("room", {}).get("seats", {})
        for number, seat in seats.items():
            if seat and "name" in seat:
                seat["name"] = TEXTS[int(number)]
    page = await visitors.visit(f"{shared.url}#/record")
    alarm = Alarm(page)
    await alarm.arm(page)
    await drop_record(page, record)
    await page.locator("[data-replay=ready]").wait_for()
    await page.keyboard.press("End")
    await page.locator("[data-proof=bad]").wait_for()
    text = await page.locator("main").inner_text()
    assert TEXTS[0] in text
    assert TEXTS[2] in text
    assert alarm.rung == []
