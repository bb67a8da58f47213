"""People who are not wanted, not heard, or not looking: and rooms that somebody else runs."""

import asyncio
import random
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.browser.begun import seat_taken
from tests.browser.chromium import PATIENCE_MS, Visitors
from tests.browser.hands import Player, at_table
from tests.browser.tables import room_of, set_table
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.operators.processes import ACME_KEY, OPERATORS
from tests.proxy.gate import Gate
from towerhall_client.bot import random_policy
from towerhall_client.connection import connect
from towerhall_client.http import Guest, Service
from towerhall_client.operator import Operator
from towerhall_client.operator import Player as Account

NETWORK_TROUBLE: Final = (r"WebSocket connection to", r"net::ERR_", r"^failed: GET .*/v1/")
NOTIFIED: Final = """
  // The page is where nobody looks, and what the browser is told to show is kept.
  Object.defineProperty(document, "hidden", { get: () => true });
  window.notified = [];
  const Real = window.Notification;
  window.Notification = class extends Real {
    // A browser without windows shows nothing, and says so whatever was granted.
    static get permission() {
      return "granted";
    }
    constructor(title, options) {
      super(title, options);
      window.notified.push([title, options.body]);
    }
  };
"""


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that knows operators."""
    folder = tmp_path_factory.mktemp("operated") / "data"
    with running(folder, limits=LIMITS | OPERATORS) as process:
        yield process


async def write(page: Page, text: str) -> None:
    await page.get_by_role("tab", name="Chat").click()
    await page.get_by_role("textbox", name="Message").fill(text)
    await page.keyboard.press("Enter")


async def host_and_other(
    shared: ServerProcess, visitors: Visitors, name: str = "Ben"
) -> tuple[Page, Page]:
    """Ada, the host, in seat 1, and another person, who has just sat down."""
    service = Service(shared.url)
    ada, ben = await service.guest("Ada"), await service.guest(name)
    room = await room_of(shared.url, ada)
    url = f"{shared.url}#/r/{room.code}"
    async with connect(shared.url, room.code, ada.token, retry=QUICK) as table:
        await table.sit(0)
    host, other = await visitors.visit(url, guest=ada), await visitors.visit(url, guest=ben)
    await other.get_by_role("button", name="Sit here").click()
    await expect(other.get_by_role("button", name="I am ready")).to_be_visible()
    return host, other


async def test_somebody_is_muted_and_heard_again_by_one(
    shared: ServerProcess, visitors: Visitors
) -> None:
    host, other = await host_and_other(shared, visitors)
    await host.get_by_role("button", name="Ben").click()
    await host.get_by_role("button", name="Mute Ben", exact=True).click()
    await host.get_by_role("button", name="Close").click()
    await write(other, "Nobody hears me")
    await expect(other.get_by_role("log", name="Chat")).to_contain_text("Nobody hears me")
    await write(host, "Quiet here")
    await expect(host.get_by_role("log", name="Chat")).to_contain_text("Quiet here")
    await expect(host.get_by_role("log", name="Chat")).not_to_contain_text("Nobody hears me")
    await host.get_by_text("1 person is muted").click()
    await host.get_by_role("button", name="Unmute Ben").click()
    await expect(host.get_by_role("log", name="Chat")).to_contain_text("Nobody hears me")


async def test_muting_goes_by_the_person_and_not_by_the_name(
    shared: ServerProcess, visitors: Visitors
) -> None:
    host, other = await host_and_other(shared, visitors)
    code = host.url.rpartition("/")[2]
    namesake = await Service(shared.url).guest("Ben")
    chat = host.get_by_role("log", name="Chat")
    async with connect(shared.url, code, namesake.token, retry=QUICK) as table:
        await table.chat("from the other Ben")
        await expect(chat).to_contain_text("from the other Ben")
        await chat.get_by_role("button", name="Options for this person").click()
        await host.get_by_role("button", name="Mute Ben", exact=True).click()
        await host.get_by_role("button", name="Close").click()
        await expect(chat).not_to_contain_text("from the other Ben")
        await table.chat("not heard either")
        await write(other, "I am another one")
        await expect(chat).to_contain_text("I am another one")
        await expect(chat).not_to_contain_text("not heard either")


async def test_the_host_silences_somebody_for_everybody(
    shared: ServerProcess, visitors: Visitors
) -> None:
    host, other = await host_and_other(shared, visitors)
    await host.get_by_role("button", name="Ben").click()
    await host.get_by_role("button", name="Mute Ben for everyone", exact=True).click()
    await expect(host.get_by_role("button", name="Unmute Ben for everyone")).to_be_visible()
    await write(other, "Nobody hears me")
    told = other.get_by_role("status", name="Messages")
    await expect(told).to_contain_text(
        "The host has muted you. The others do not see this message."
    )
    await host.get_by_role("button", name="Unmute Ben for everyone").click()
    await expect(
        host.get_by_role("button", name="Mute Ben for everyone", exact=True)
    ).to_be_visible()
    await write(other, "Thank you")
    await expect(host.get_by_role("log", name="Chat")).to_contain_text("Thank you")
    await expect(host.get_by_role("log", name="Chat")).not_to_contain_text("Nobody hears me")


async def test_somebody_is_sent_away_and_let_in_again(
    shared: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean(*NETWORK_TROUBLE)
    host, other = await host_and_other(shared, visitors)
    await host.get_by_role("button", name="Ben").click()
    await host.get_by_role("button", name="Remove").click()
    await host.get_by_role("dialog").get_by_role("button", name="Remove").click()
    shut = other.get_by_role("alert")
    await expect(shut).to_contain_text("The host removed you from the room")
    await shut.get_by_role("button", name="Try again").click()
    await expect(shut).to_contain_text("The host removed you from the room")
    away = host.get_by_role("region", name="Removed")
    await away.get_by_role("button", name="Let Ben back in").click()
    await expect(away).to_have_count(0)
    await shut.get_by_role("button", name="Try again").click()
    await other.get_by_role("button", name="Sit here").click()
    await expect(other.get_by_role("button", name="I am ready")).to_be_visible()


async def test_whoever_is_banned_is_told_so_and_shut_out(
    operated: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("status 403", "403")
    acme = Operator(operated.url, ACME_KEY)
    seat = await acme.token(Account("account 1", "Ada"))
    guest = Guest(token=seat.token, id=seat.id, name="Ada")
    room = await room_of(operated.url, await Service(operated.url).guest("Host"))
    page = await visitors.visit(f"{operated.url}#/r/{room.code}", guest=guest)
    await at_table(page, status="waiting")
    await acme.ban(external_id="account 1", reason="unkind")
    await expect(page.get_by_role("alert")).to_contain_text("You cannot play here at present.")
    await page.get_by_role("link", name="Go to the hall", exact=True).click()
    await page.get_by_role("button", name="Play now").click()
    await expect(page.get_by_role("status", name="Messages")).to_contain_text(
        "You cannot play here at present."
    )


async def test_a_seat_that_an_operator_keeps_is_taken_by_a_link(
    operated: ServerProcess, visitors: Visitors
) -> None:
    acme = Operator(operated.url, ACME_KEY)
    opened = await acme.open_room("five_towers", [Account("account 2", "Ben"), "easy"])
    url = f"{operated.url}#/r/{opened.code}"
    stranger = await visitors.visit(url, guest=await Service(operated.url).guest("Cyd"))
    await expect(stranger.get_by_text("Reserved")).to_be_visible()
    await stranger.get_by_role("button", name="Sit here").click()
    await expect(stranger.get_by_role("status", name="Messages")).to_contain_text(
        "That seat is reserved for another person."
    )
    link = await Service(operated.url).new_link(opened.seats[0].token, opened.code)
    page = await visitors.visit(operated.url.rstrip("/") + link.link)
    await page.get_by_role("button", name="Sit here").click()
    await page.get_by_role("button", name="I am ready").click()
    await at_table(page)
    await acme.close(opened.code, "server_moves")
    await at_table(page, status="over")
    await expect(page.get_by_text("closed the room: server moves.")).to_be_visible()


async def test_a_turn_is_notified_when_nobody_looks(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=2)
    url = f"{shared.url}#/r/{table.room.code}"
    context = await visitors.context(
        url, guest=table.guest, settings={"notifications": True}, permissions=["notifications"]
    )
    await context.add_init_script(NOTIFIED)
    page = await context.new_page()
    await page.goto(url)
    await at_table(page)
    said = ["Your turn", f"The others at table {table.room.code} are waiting for you."]
    # The page's policy forbids what Playwright's own waiting for a value needs.
    while not await page.evaluate("window.notified.length"):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert await page.evaluate("window.notified") == [said]


async def test_notifications_are_asked_for_when_somebody_wants_them(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url, permissions=["notifications"])
    await page.keyboard.press(",")
    switch = page.get_by_role("switch", name="Notify me of my turn")
    # By key: the dialog still moves in, so a click by place may miss.
    await switch.press("Space")
    kept = "JSON.parse(localStorage.getItem('towerhall.settings') ?? '{}').notifications"
    async with asyncio.timeout(PATIENCE_MS / 1000):
        # The browser is asked for its leave first.
        while await page.evaluate(kept) is not True:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_phone_that_slept_is_back_when_it_wakes(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """Its timers stood still, and its connection died without a word."""
    visitors.mean(*NETWORK_TROUBLE)
    table = await set_table(shared.url, moves=2)
    async with Gate(shared.port) as gate:
        page = await visitors.visit(f"{gate.url}#/r/{table.room.code}", guest=table.guest)
        await Player(page).decision()
        devtools = await page.context.new_cdp_session(page)
        await devtools.send("Page.setWebLifecycleState", {"state": "frozen"})
        gate.shut()
        async with connect(
            shared.url, table.room.code, table.guest.token, retry=QUICK
        ) as elsewhere:
            await elsewhere.turn()
            policy = random_policy(random.Random(5))
            await elsewhere.send(policy(elsewhere.view, elsewhere.offers))
            await elsewhere.until(lambda: elsewhere.seq > table.seq)
        await asyncio.sleep(1)
        gate.open()
        await devtools.send("Page.setWebLifecycleState", {"state": "active"})
        await at_table(page, seq=table.seq + 1)
        await Player(page).move()


async def test_giving_up_is_asked_twice_and_done_once(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await seat_taken(shared.url, visitors)
    await page.keyboard.press("m")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Resign").click()
    await expect(dialog).to_contain_text("Resign from this game?")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(dialog).to_have_count(0)
    await page.keyboard.press("m")
    await dialog.get_by_role("button", name="Resign").click()
    await dialog.get_by_role("button", name="Resign").click()
    await expect(page.get_by_role("button", name="You resigned")).to_be_visible()


async def test_a_bot_account_is_marked_beside_its_name_and_in_lists(
    shared: ServerProcess, visitors: Visitors
) -> None:
    service = Service(shared.url)
    ada, deep = await service.guest("Ada"), await service.guest("Deep", bot_account=True)
    room = await service.create_room(ada.token, "five_towers", seats=2, bot_accounts=True)
    async with connect(shared.url, room.code, deep.token, retry=QUICK) as table:
        await table.sit(0)
        page = await visitors.visit(f"{shared.url}#/r/{room.code}", guest=ada)
        seat = page.get_by_role("button", name="Deep Bot account: a program plays here")
        await expect(seat).to_be_visible()
        await page.goto(shared.url)
        await expect(page.get_by_text("Deep (bot account)").first).to_be_visible()
