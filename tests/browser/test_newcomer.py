"""People who open the page for the first time: what the hall shows, what a first game explains."""

from playwright.async_api import expect

from tests.browser.catalogues import catalogue
from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table
from tests.browser.newcomer import begin, learn
from tests.browser.tables import is_bidding, set_table
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import Table


def is_choosing(table: Table) -> bool:
    """Builds fewer cards than lie open, so that some stay grey."""
    builds = [
        each for offer in table.offers if offer.command == "build" for each in offer.commands()
    ]
    game = table.view["game"]
    assert isinstance(game, dict)
    return any(len(each["cards"]) < len(game["display"]) for each in builds)  # type: ignore[arg-type]


async def test_a_newcomer_learns_and_plays_a_first_game(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url, game=None)
    await learn(page, "Five Towers")
    await begin(page)
    await Player(page).play()
    await page.get_by_role("heading", name="The game is over").wait_for()


async def test_the_hall_shows_each_game_and_the_languages(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url, game=None)
    await page.locator("[data-lobby=up]").wait_for()
    facts = {
        "five_towers": ["2 to 5 players", "10 to 20 minutes"],
        "nikitin_towers": ["2 to 3 players", "15 to 25 minutes"],
    }
    for game, told in facts.items():
        card = page.locator(f".ticket [data-game={game}]")
        await expect(card.locator("svg")).to_be_visible()
        await expect(card.locator(".facts > span")).to_have_text(told)
        await card.click()
        learn = page.get_by_role("link", name="Learn it in two minutes")
        await expect(learn).to_have_attribute("href", f"#/learn/{game}")
    languages = page.get_by_role("combobox", name="Language")
    await expect(languages).to_be_in_viewport()
    await languages.select_option("Deutsch")
    await page.get_by_role("heading", name=catalogue("de")["home.title"][0]).wait_for()
    await page.reload()
    await page.get_by_role("heading", name=catalogue("de")["home.title"][0]).wait_for()


async def test_a_first_game_says_what_a_bid_means_before_it_is_made(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=is_bidding)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    seq = await at_table(page)
    why = page.locator(".deed .why")
    bids = page.locator("[data-bid]")
    await bids.first.wait_for()
    words = catalogue("en")
    for number in range(await bids.count()):
        bid = bids.nth(number)
        if number % 2:
            await bid.hover(force=True)
        else:
            # A table that still settles may move another bid below the mouse.
            await page.mouse.move(1, 1)
            await bid.focus()
        if await bid.get_attribute("aria-disabled") == "false":
            meaning = {0: "bid_none", 5: "bid_all"}.get(number, "bid")
            text = words[f"five_towers.tip.{meaning}"][0].replace("{n}", str(number))
        else:
            codes = ("bid_too_low", "bid_infeasible")
            starts = [words[f"five_towers.code.{code}"][0].split("{")[0] for code in codes]
            text = await why.inner_text()
            assert text.startswith(tuple(starts))
        await expect(why).to_have_text(text)
    await page.mouse.move(1, 1)
    await page.locator("h1").first.evaluate("() => document.activeElement.blur()")
    await expect(why).to_have_text("")
    # Nothing was sent by looking.
    assert await page.evaluate("document.documentElement.dataset.seq") == str(seq)


async def test_a_first_game_says_why_a_card_is_grey_before_it_is_pressed(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=3, until=is_choosing)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}", guest=table.guest)
    await at_table(page)
    why = page.locator(".deed .why")
    grey = page.locator("[data-fit=no], [data-fit=later]")
    for _ in range(12):
        if await page.locator("[data-build]:enabled").count():
            break
        lit = page.locator("[data-fit=now]")
        await (lit if await lit.count() else page.locator(".mine .razable")).first.click()
    await grey.first.focus()
    await expect(why).to_have_text(catalogue("en")["five_towers.why.enough"][0])
    await page.locator("[data-undo]").click()
    await expect(why).to_have_text("")
    if await grey.count():
        await grey.first.hover(force=True)
        await expect(why).not_to_have_text("")
    # A person who has finished a game knows this.
    await page.evaluate("""localStorage.setItem("towerhall.known", '{"five_towers": true}')""")
    await page.reload()
    await at_table(page)
    await page.locator("[data-fit=now]").first.wait_for()
    before = await why.inner_text()
    for card in await page.locator(".display button").all():
        await card.focus()
    assert before == await why.inner_text() == ""
