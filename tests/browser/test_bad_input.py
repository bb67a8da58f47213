"""What goes wrong outside the page: each has a clear message, and a way on that works."""

import asyncio
import os
import signal
import time
from pathlib import Path

import msgpack
from playwright.async_api import Page, WebSocketRoute, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table
from tests.browser.tables import room_of, set_table
from tests.end_to_end.games import QUICK, seated
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import connect
from towerhall_client.http import Guest, Service
from towerhall_server.access.token_keys import kept_keys
from towerhall_server.access.tokens import DAY_SECONDS, Tokens, new_person


async def back_to_the_hall(page: Page) -> None:
    await page.get_by_role("link", name="Go to the hall", exact=True).click()
    await expect(page.get_by_role("button", name="Play now")).to_be_visible()


async def test_an_unknown_room(shared: ServerProcess, visitors: Visitors) -> None:
    visitors.mean("404")
    guest = await Service(shared.url).guest("Ada")
    page = await visitors.visit(f"{shared.url}#/r/AAAAAA", guest=guest)
    for hash_ in ("#/r/AAAAAA", "#/r/AAAAAA/a-key"):
        await page.goto(f"{shared.url}{hash_}")
        await expect(page.get_by_role("alert")).to_contain_text("Room not found")
        await expect(page.get_by_role("alert")).to_contain_text("There is no room AAAAAA")
        await back_to_the_hall(page)


async def test_a_move_of_an_unknown_room(shared: ServerProcess, visitors: Visitors) -> None:
    visitors.mean("404")
    page = await visitors.visit(f"{shared.url}#/r/AAAAAA?at=3")
    await expect(page.get_by_role("alert")).to_contain_text("There is no room AAAAAA")
    await back_to_the_hall(page)


async def test_an_address_that_leads_nowhere(shared: ServerProcess, visitors: Visitors) -> None:
    visitors.mean("404", "410", "400")
    page = await visitors.visit(f"{shared.url}#/r/12")
    for hash_ in ("#/r/12", "#/nowhere", "#/rules/no_such_game", "#/l/used"):
        await page.goto(f"{shared.url}{hash_}")
        await expect(page.get_by_role("alert")).to_be_visible()
        await back_to_the_hall(page)


async def test_a_code_that_is_none_is_told_beside_the_field(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url)
    await page.get_by_label("Code or link").fill("no such thing")
    await page.get_by_role("button", name="Enter", exact=True).first.click()
    await expect(page.get_by_role("alert")).to_have_text("A room has six letters, such as QJXKZB.")
    room = await room_of(shared.url, await Service(shared.url).guest("Host"))
    await page.get_by_label("Code or link").fill(f"{shared.url}#/r/{room.code}")
    await page.keyboard.press("Enter")
    await at_table(page, status="waiting")


async def test_a_name_that_is_none_is_told_beside_the_field(
    shared: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("status 400", "400")
    page = await visitors.visit(shared.url)
    for name, problem in (("", "Enter a name for the others to see."), ("x" * 40, "1 to 24")):
        await page.get_by_label("Your name").fill(name)
        await page.get_by_role("button", name="Play now").click()
        await expect(page.get_by_role("alert")).to_contain_text(problem)
        await expect(page.get_by_label("Your name")).to_be_focused()


async def test_a_full_room_can_be_watched(shared: ServerProcess, visitors: Visitors) -> None:
    guest = await Service(shared.url).guest("Late")
    async with seated(Service(shared.url), 2) as (made, _):
        page = await visitors.visit(f"{shared.url}#/r/{made.code}", guest=guest)
        await at_table(page, status="waiting")
        await expect(page.get_by_text("All seats are taken. You can watch.")).to_be_visible()
        await expect(page.get_by_role("button", name="Sit here")).to_have_count(0)


async def test_a_seat_that_somebody_took_first(shared: ServerProcess, visitors: Visitors) -> None:
    """The page shows a free seat, which is gone when its command arrives."""
    service = Service(shared.url)
    host, late = await service.guest("Ada"), await service.guest("Late")
    made = await room_of(shared.url, host)
    url = f"{shared.url}#/r/{made.code}"
    page = await (await visitors.context(url, guest=late)).new_page()
    async with connect(shared.url, made.code, host.token, retry=QUICK) as table:
        await table.entered()

        def be_late(line: WebSocketRoute) -> None:
            server = line.connect_to_server()

            async def send(message: str | bytes) -> None:
                assert isinstance(message, bytes)
                said = [part for part in msgpack.unpackb(message) if isinstance(part, dict)]
                if any(part.get("command") == "sit" and part.get("seat") == 0 for part in said):
                    await table.sit(0)
                server.send(message)

            line.on_message(send)

        await page.route_web_socket("**/v1/rooms/**", be_late)
        await page.goto(url)
        await at_table(page, status="waiting")
        await page.get_by_role("button", name="Sit here").first.click()
        await expect(page.get_by_role("status", name="Messages")).to_contain_text(
            "That seat has just been taken."
        )
        await page.get_by_role("button", name="Sit here").click()
        await expect(page.get_by_role("button", name="I am ready")).to_be_visible()


async def test_a_wrong_key_of_a_private_room(shared: ServerProcess, visitors: Visitors) -> None:
    visitors.mean("404")
    service = Service(shared.url)
    host = await service.guest("Ada")
    made = await room_of(shared.url, host, private=True)
    guest = await service.guest("Ben")
    page = await visitors.visit(f"{shared.url}#/r/{made.code}/wrong-key", guest=guest)
    await expect(page.get_by_role("alert")).to_contain_text(
        "it is private and the link is incomplete"
    )
    await page.goto(f"{shared.url}#/r/{made.code}/{made.key}")
    await at_table(page, status="waiting")


def expired(folder: Path) -> Guest:
    """A token that the server signed long ago."""
    long_ago = time.time() - 10_000 * DAY_SECONDS
    person = new_person("Ada")
    token = Tokens(kept_keys(folder), 30, clock=lambda: long_ago).issue(person)
    return Guest(token=token, id=person.id, name=person.name)


async def test_an_expired_token_becomes_a_new_guest_of_the_same_name(
    server: ServerProcess, visitors: Visitors, tmp_path: Path
) -> None:
    visitors.mean("status 401", "401")
    guest = expired(tmp_path / "data")
    room = await room_of(server.url, await Service(server.url).guest("Host"))
    page = await visitors.visit(f"{server.url}#/r/{room.code}", guest=guest)
    await at_table(page, status="waiting")
    await expect(page.get_by_role("status", name="Messages")).to_contain_text(
        "You are here as a new guest, Ada."
    )
    await page.get_by_role("button", name="Sit here").first.click()
    await expect(page.get_by_role("button", name="I am ready")).to_be_visible()
    # In the hall as well.
    hall = await visitors.visit(server.url, guest=guest)
    await hall.locator("[data-lobby=up]").wait_for()
    # The list goes on as well: what is new comes, and what is gone goes.
    newer = await room_of(server.url, await Service(server.url).guest("Later"))
    await expect(hall.get_by_text(newer.code)).to_be_visible()
    await hall.get_by_role("button", name="Play now").click()
    await at_table(hall)


async def test_a_page_that_is_too_old_for_the_server(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """The page says an older level than it has; the refusal is the server's own."""
    table = await set_table(shared.url)
    url = f"{shared.url}#/r/{table.room.code}"
    context = await visitors.context(url, guest=table.guest)
    page = await context.new_page()
    is_old = True

    def age(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def send(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            said = msgpack.unpackb(message)
            if said[0] == "hello" and is_old:
                said[1]["level"] = 0
            server.send(msgpack.packb(said))

        line.on_message(send)

    await page.route_web_socket("**/v1/**", age)
    await page.goto(url)
    await expect(page.get_by_role("alert")).to_contain_text("There is a newer version")
    is_old = False
    await page.get_by_role("button", name="Reload the page").click()
    await at_table(page)


async def test_a_store_that_is_down_pauses_the_table(
    server: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("status 503", "503")
    table = await set_table(server.url, moves=2)
    page = await visitors.visit(f"{server.url}#/r/{table.room.code}", guest=table.guest)
    hall = await visitors.visit(server.url)
    await hall.get_by_label("Your name").fill("Ben")
    seq = await at_table(page)
    await page.locator("[data-bid]").first.wait_for()
    engine = server.engine_pid()
    os.kill(engine, signal.SIGSTOP)
    try:
        await expect(page.get_by_text("The service is paused for a moment.")).to_be_visible()
        await hall.get_by_role("button", name="Play now").click()
        await expect(hall.get_by_role("status", name="Messages")).to_contain_text(
            "cannot save anything at the moment"
        )
        await expect(hall.get_by_role("button", name="Play now")).to_be_enabled()
    finally:
        os.kill(engine, signal.SIGCONT)
    await expect(page.get_by_text("The service is paused for a moment.")).to_be_hidden()
    await Player(page).move()
    await at_table(page, seq=seq + 1)
    await hall.get_by_role("button", name="Play now").click()
    await at_table(hall)


async def test_a_server_that_is_away_leaves_the_hall_usable(
    server: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean("WebSocket connection to", "net::ERR_", "^failed: ")
    page = await visitors.visit(server.url)
    await page.locator("[data-lobby=up]").wait_for()
    server.kill()
    await page.locator("[data-lobby=away]").wait_for()
    await expect(page.get_by_text("The list is not updating at the moment.")).to_be_visible()
    await page.get_by_role("button", name="Play now").click()
    await expect(page.get_by_role("status", name="Messages")).to_contain_text(
        "The service cannot be reached."
    )
    # In vain, as long as nobody is there; later it comes back by itself, too.
    await page.get_by_role("button", name="Try again").click()
    await asyncio.to_thread(server.start)
    await page.locator("[data-lobby=up]").wait_for()
