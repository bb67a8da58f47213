"""The table in detail: one click into a game, explanations, undoing, dragging, motion."""

import asyncio
import re

from playwright.async_api import Locator, Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table, dismiss
from tests.browser.tables import is_bidding, is_building, room_of, set_table
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import connect
from towerhall_client.http import Guest, Service


async def test_play_now_leads_into_a_running_game_by_one_click(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url)
    await page.get_by_role("button", name="Play now").click()
    await at_table(page)
    await expect(page.locator(".five-towers .player")).to_have_count(2)
    assert await page.evaluate("document.documentElement.dataset.seat") == "0"
    assert (await Player(page).decision())["what"] in ("call", "build")
    # The name is remembered, and so is the game.
    name = await page.evaluate("JSON.parse(localStorage['towerhall.guest']).name")
    await page.get_by_role("link", name="Towerhall: Go to the hall").click()
    await expect(page.get_by_label("Your name")).to_have_value(name)
    await expect(page.get_by_role("region", name="My games")).to_contain_text(name)


async def test_quick_match_brings_two_people_to_one_table(
    shared: ServerProcess, visitors: Visitors
) -> None:
    pages = [await visitors.visit(shared.url) for _ in range(2)]
    for page in pages:
        await page.get_by_role("button", name="Quick match").click()
    await asyncio.gather(*(at_table(page) for page in pages))
    assert pages[0].url == pages[1].url


async def test_the_invitation_has_link_code_and_qr_code(
    shared: ServerProcess, visitors: Visitors
) -> None:
    host = await Service(shared.url).guest("Ada")
    made = await room_of(shared.url, host, private=True)
    url = f"{shared.url}#/r/{made.code}/{made.key}"
    page = await visitors.visit(url, guest=host)
    await at_table(page, status="waiting")
    await page.get_by_role("button", name="Invite people").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_label("Link", exact=True)).to_have_value(url)
    # The code of a private room leads no other person in.
    await expect(dialog.get_by_label("Room code")).to_have_count(0)
    picture = dialog.get_by_role("img", name="QR code for the link")
    await expect(picture).to_be_visible()
    modules = await picture.locator("path").get_attribute("d")
    assert modules is not None
    assert len(modules) > 1000
    box = await picture.bounding_box()
    assert box is not None
    assert box["width"] >= 150


async def test_an_impossible_bid_says_why(shared: ServerProcess, visitors: Visitors) -> None:
    table = await set_table(
        shared.url,
        moves=2,
        until=lambda table: (
            is_bidding(table)
            and not any(
                dict(command).get("number") == 5
                for offer in table.offers
                for command in offer.commands()
            )
        ),
    )
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    seq = await at_table(page)
    await page.locator("[data-bid='5']").click(force=True)
    await expect(page.locator(".why")).to_have_text(re.compile(r"\w+ .*\."))
    assert await page.evaluate("document.documentElement.dataset.seq") == str(seq)


async def test_bids_are_confirmed_if_somebody_wants_that(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url)
    page = await visitors.visit(
        f"{shared.url}#/r/{table.room.code}", guest=table.guest, settings={"confirmBids": True}
    )
    seq = (await Player(page).decision())["seq"]
    number = max((await Player(page).decision())["bids"])
    await page.keyboard.press(str(number))
    bid = page.locator(f"[data-bid='{number}']")
    await expect(bid).to_have_class(re.compile("armed"))
    assert await page.evaluate("document.documentElement.dataset.seq") == str(seq)
    await page.keyboard.press(str(number))
    await at_table(page, seq=seq + 1)


async def test_a_build_is_planned_undone_and_shows_its_score(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=2, until=is_building)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    seq = await at_table(page)
    ghosts = page.locator(".mine .ghost")
    card = page.locator("[data-fit=now]").first
    name = str(await card.get_attribute("data-stop"))
    await card.click()
    await expect(ghosts).to_have_count(1)
    await expect(page.locator(".builds .after strong")).to_have_text(re.compile(r"-?\d+"))
    await page.get_by_role("button", name="Undo").click()
    await expect(ghosts).to_have_count(0)
    await page.locator(f"[data-stop='{name}']").click()
    await ghosts.first.click()
    await expect(ghosts).to_have_count(0)
    await page.locator(f"[data-stop='{name}']").click()
    await page.keyboard.press("Backspace")
    await expect(ghosts).to_have_count(0)
    # Nobody else has seen anything of it.
    assert await page.evaluate("document.documentElement.dataset.seq") == str(seq)


async def drag(page: Page, card: Locator, onto: Locator) -> None:
    start, end = await card.bounding_box(), await onto.bounding_box()
    assert start is not None
    assert end is not None
    await page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    await page.mouse.down()
    for part in (0.3, 0.7, 1.0):
        await page.mouse.move(
            start["x"] + start["width"] / 2 + part * (end["x"] - start["x"]),
            start["y"]
            + start["height"] / 2
            + part * (end["y"] + end["height"] / 2 - start["y"] - start["height"] / 2),
        )
    await page.mouse.up()


async def test_a_card_is_dragged_onto_its_tower_and_onto_no_other(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=2, until=is_building)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    await at_table(page)
    card = page.locator("[data-fit=now]").first
    place = await card.locator("[data-place]").get_attribute("data-place")
    kind = str(place).split()[1].split(":")[0]
    other = "tree" if kind != "tree" else "sand"
    await drag(page, card, page.locator(f".mine [data-drop={other}]"))
    await expect(page.locator(".mine .ghost")).to_have_count(0)
    await expect(page.locator(".why")).not_to_be_empty()
    await drag(page, card, page.locator(f".mine [data-drop={kind}]"))
    await expect(page.locator(f".mine [data-drop={kind}] .ghost")).to_have_count(1)


async def flights(page: Page) -> int:
    """How many cards fly while one move is made."""
    await page.locator(".five-towers .layer").wait_for(state="attached")
    await page.evaluate(
        """() => {
          window.flights = 0;
          const count = (news) => {
            for (const { addedNodes } of news) window.flights += addedNodes.length;
          };
          const layer = document.querySelector(".five-towers .layer");
          new MutationObserver(count).observe(layer, { childList: true });
        }"""
    )
    player = Player(page)
    for _ in range(3):
        await player.move()
    await player.decision()
    return int(await page.evaluate("window.flights"))


async def test_cards_fly_unless_somebody_wants_less_motion(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=is_building)
    url = f"{shared.url}#/r/{table.room.code}"
    page = await visitors.visit(url, guest=table.guest, motion=True)
    await at_table(page)
    assert await flights(page) > 0
    await page.emulate_media(reduced_motion="reduce")
    assert await flights(page) == 0
    moving = """document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().duration > 1).length"""
    async with asyncio.timeout(5):
        # What moved before comes to its end.
        while await page.evaluate(moving):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await page.emulate_media(reduced_motion="no-preference")
    await page.keyboard.press(",")
    await page.get_by_role("switch", name="Reduce motion").press("Space")
    await dismiss(page)
    assert await flights(page) == 0


async def agree_to_end(url: str, code: str, ada: Guest, ben: Guest) -> None:
    """They begin a game there, and do not finish it."""
    lines = [connect(url, code, each.token, retry=QUICK) for each in (ada, ben)]
    async with lines[0] as one, lines[1] as other:
        for table in (one, other):
            if table.seat is not None:
                # The page has closed its nonce in, and is not here to open it.
                await table.stand()
            await table.sit()
            await table.ready()
        await one.start()
        await one.until(lambda: one.status == "playing")
        for table in (one, other):
            await table.want_end()
        await one.until(lambda: one.status == "over")


async def test_a_rematch_brings_both_to_a_new_table_as_long_as_it_can_be_played_there(
    shared: ServerProcess, visitors: Visitors
) -> None:
    service = Service(shared.url)
    ada, ben = await service.guest("Ada"), await service.guest("Ben")
    made = await room_of(shared.url, ada)
    await agree_to_end(shared.url, made.code, ada, ben)
    url = f"{shared.url}#/r/{made.code}"
    first = await visitors.visit(url, guest=ada)
    second = await visitors.visit(url, guest=ben)
    await at_table(second, status="over")
    await first.get_by_role("button", name="Play again").click()
    await at_table(first, status="waiting")
    assert made.code not in first.url
    await second.get_by_role("button", name="Go to the new table").click()
    await at_table(second, status="waiting")
    assert first.url == second.url
    new_url = second.url
    for page in (first, second):
        await page.goto(url)
        await at_table(page, status="over")
    await agree_to_end(shared.url, new_url.rpartition("/")[2], ada, ben)
    await second.get_by_role("button", name="Go to the new table").click()
    await at_table(second, status="waiting")
    assert second.url not in (url, new_url)
    await first.get_by_role("button", name="Go to the new table").click()
    await at_table(first, status="waiting")
    assert first.url == second.url


async def test_a_bot_plays_for_me_and_gives_the_seat_back(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, bots=("easy",), bot_delay_ms=1000)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    await at_table(page)
    await page.keyboard.press("m")
    await page.get_by_role("button", name="Let a bot play for me").click()
    await page.get_by_role("button", name="Take my seat back").click()
    await Player(page).move()
