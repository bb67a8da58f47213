"""The replay: at each move it shows what the table showed, and what the record says."""

import random
import re
from functools import partial
from typing import Any, Final

from playwright.async_api import Page, expect

from tests.browser.board import REMEMBER, SHOWN, expected, remembered, shown, views
from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table
from tests.browser.tables import Finished, drop_record, set_table
from tests.browser.waiting import until
from tests.end_to_end.games import seated
from tests.end_to_end.servers import ServerProcess
from towerhall_client.bot import random_policy
from towerhall_client.connection import Table
from towerhall_client.http import Service


async def at_move(page: Page, seq: int) -> None:
    await page.locator(f"[data-replay=ready][data-at='{seq}']").wait_for()


BOARD_AT = f"""
(seq) => document.querySelector(`[data-replay=ready][data-at="${{seq}}"]`)
  && {{ board: ({SHOWN})(), isThere: Boolean(document.querySelector(".five-towers")) }}
"""


SCRUB: Final = """
(slider, moves) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const go = (at) => {
    slider.value = at;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  };
  return (async () => {
    for (const at of moves) {
      go(at);
      await frame();
    }
    // One step lets cards fly, and the jump after it ends that.
    go(moves.at(-1) + 1);
    await frame();
    go(moves.at(-1));
    await frame();
    const board = document.querySelector(".five-towers");
    const running = board.getAnimations({ subtree: true });
    return {
      flying: board.querySelector(".layer").childElementCount,
      hidden: running.filter(({ effect }) => effect.getKeyframes?.()[0]?.opacity === "0").length,
    };
  })();
}
"""


async def walk(page: Page, last: int) -> dict[int, dict[str, Any]]:
    """Through the whole game by the arrow key; what the board shows at each move."""
    await shown(page)
    await page.keyboard.press("Home")
    boards = {}
    for seq in range(1, last + 1):
        found = await until(page, BOARD_AT, seq)
        if found["isThere"]:
            boards[seq] = found["board"] or await shown(page)
        await page.keyboard.press("ArrowRight")
    await at_move(page, last)
    return boards


def has_seen(table: Table, seq: int) -> bool:
    return table.seq >= seq


async def test_the_replay_at_each_move_equals_what_the_table_showed(
    shared: ServerProcess, visitors: Visitors
) -> None:
    service = Service(shared.url)
    async with seated(service, 2) as (made, tables):
        watcher = await service.guest("Watcher")
        url = f"{shared.url}#/r/{made.code}"
        context = await visitors.context(url, guest=watcher)
        await context.add_init_script(REMEMBER)
        page = await context.new_page()
        await page.goto(url)
        await at_table(page, status="waiting")
        # The board is loaded before the first move, so that it shows every one of them.
        await tables[0].start()
        await page.locator(".five-towers").wait_for()
        policy = random_policy(random.Random(7))
        while tables[0].status != "over":
            for table in tables:
                await at_table(page, status=table.status, seq=table.seq)
                if table.offers:
                    await table.send(policy(table.view, table.offers))
                    # The others may be behind the page now, and it does not go back for them.
                    break
            last = max(table.seq for table in tables)
            for table in tables:
                await table.until(partial(has_seen, table, last))
        await at_table(page, status="over", seq=tables[0].seq)
        live = await remembered(page)

    record = await service.record(made.code)
    truth = {seq: expected(view) for seq, view in views(record["frames"]).items()}
    last = len(record["frames"])
    await page.goto(f"{url}?at={last}")
    await at_move(page, last)
    replayed = await walk(page, last)
    assert replayed == {seq: board for seq, board in truth.items() if board is not None}
    started = min(replayed) + 1
    assert live.keys() >= set(range(started, last))
    assert {seq: replayed[seq] for seq in live} == live


async def test_keys_and_buttons_move_through_the_game(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    last = len(finished.record["frames"])
    page = await visitors.visit(f"{shared.url}#/r/{finished.code}?at=12")
    await at_move(page, 12)
    for key, seq in (
        ("ArrowRight", 13),
        ("ArrowLeft", 12),
        ("End", last),
        ("ArrowRight", last),
        ("Home", 1),
        ("ArrowLeft", 1),
    ):
        await page.keyboard.press(key)
        await at_move(page, seq)
        await expect(page).to_have_url(re.compile(rf"\?at={seq}$"))
    for name, seq in (("One move forward", 2), ("To the end", last), ("One move back", last - 1)):
        await page.get_by_role("button", name=name).click()
        await at_move(page, seq)
    await page.get_by_role("slider").fill("20")
    await at_move(page, 20)
    # Pages without TLS have no clipboard.
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await page.get_by_role("button", name="Copy link").click()
    await expect(page.get_by_role("status", name="Messages")).to_contain_text(
        "Copy the address of this page: it is the link."
    )


async def test_the_log_ends_at_the_move_and_its_lines_lead_to_moves(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    last = len(finished.record["frames"])
    url = f"{shared.url}#/r/{finished.code}"
    # Over, and looked at anew: the lines of the log lead into the replay.
    page = await visitors.visit(url, guest=await Service(shared.url).guest("Looker"))
    log = page.get_by_role("log", name="Log")
    await expect(log).to_contain_text("The game is over.")
    await log.get_by_role("link", name=re.compile("^Round 3:")).click()
    await page.locator("[data-replay=ready]").wait_for()
    third = int(page.url.rpartition("=")[2])
    await at_move(page, third)
    assert expected(views(finished.record["frames"])[third]) == await shown(page)
    await expect(log).not_to_contain_text("The game is over.")
    await expect(log).not_to_contain_text("Round 4:")
    current = log.locator("[aria-current]")
    await expect(current.last).to_contain_text("Round 3:")
    # The same lines as beside the buttons.
    lines = page.locator("[data-replay=ready] .words li")
    assert await current.all_inner_texts() == await lines.all_inner_texts()
    await page.keyboard.press("End")
    await at_move(page, last)
    await expect(log).to_contain_text("The game is over.")
    await page.go_back()
    await page.locator(".result table").wait_for()


async def test_fast_scrubbing_shows_the_cards_of_the_last_move_only(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    truth = views(finished.record["frames"])
    last = len(truth)
    context = await visitors.context(shared.url, motion=True)
    page = await context.new_page()
    await page.goto(f"{shared.url}#/r/{finished.code}?at={last}")
    await at_move(page, last)
    slider = page.get_by_role("slider")
    found = await slider.evaluate(SCRUB, [*range(last, 1, -1), *range(2, last - 4)])
    # Many more moves than a browser lets a page write addresses, and nothing is still under way.
    assert found == {"flying": 0, "hidden": 0}
    await at_move(page, last - 5)
    assert await shown(page) == expected(truth[last - 5])
    await expect(page).to_have_url(re.compile(rf"\?at={last - 5}$"))


async def test_the_replay_runs_by_itself_and_can_be_stopped(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    page = await visitors.visit(f"{shared.url}#/r/{finished.code}?at=8")
    await at_move(page, 8)
    speed = page.get_by_role("button", name="Speed")
    while await speed.get_attribute("data-speed") != "4":
        await speed.click()
    await page.get_by_role("button", name="Play", exact=True).click()
    await at_move(page, 10)
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


async def test_a_link_to_a_move_shows_that_move_to_somebody_else(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    page = await visitors.visit(
        f"{shared.url}#/r/{finished.code}?at=25", permissions=["clipboard-read", "clipboard-write"]
    )
    await at_move(page, 25)
    await page.keyboard.press("ArrowRight")
    await at_move(page, 26)
    await page.get_by_role("button", name="Copy link").click()
    await page.get_by_role("button", name="Link copied").wait_for()
    link = await page.evaluate("navigator.clipboard.readText()")
    other = await visitors.visit(link)
    await at_move(other, 26)
    assert await shown(other) == await shown(page)


async def test_looking_back_during_a_game_and_returning_to_it(
    shared: ServerProcess, visitors: Visitors
) -> None:
    """The table keeps its line: whoever looks back keeps the seat and hears what goes on."""
    table = await set_table(shared.url, moves=4)
    url = f"{shared.url}#/r/{table.room.code}"
    page = await (await visitors.context(url, guest=table.guest)).new_page()
    lines: list[str] = []
    page.on("websocket", lambda line: lines.append(line.url))
    await page.goto(url)
    seq = await at_table(page)
    before = await shown(page)
    await page.keyboard.press("m")
    await page.get_by_role("link", name="Look back").click()
    await at_move(page, seq)
    assert await shown(page) == before
    await page.keyboard.press("Home")
    await at_move(page, 1)
    news = page.get_by_role("status").filter(has_text="It is your turn.")
    await expect(news).to_be_visible()
    assert (await page.title()).startswith("● Your turn")
    assert await at_table(page) == seq
    await page.get_by_role("button", name="Back to the game").click()
    await Player(page).move()
    await at_table(page, seq=seq + 1)
    assert len(lines) == 1


async def test_whoever_looks_back_is_told_that_the_game_went_on(
    shared: ServerProcess, visitors: Visitors
) -> None:
    async with seated(Service(shared.url), 2) as (made, tables):
        await tables[0].start()
        watcher = await Service(shared.url).guest("Watcher")
        page = await visitors.visit(f"{shared.url}#/r/{made.code}?at=2", guest=watcher)
        await at_move(page, 2)
        await expect(page.get_by_text("The game went on")).to_have_count(0)
        seq = await at_table(page)
        policy = random_policy(random.Random(3))
        for table in tables:
            await table.until(partial(has_seen, table, seq))
            if table.offers:
                await table.send(policy(table.view, table.offers))
                break
        await at_table(page, seq=seq + 1)
        await expect(page.get_by_text("The game has moved on: 1 move")).to_be_visible()
        await at_move(page, 2)
        last = page.locator("[data-replay=ready]")
        await expect(last).to_have_attribute("data-last", str(seq + 1))
        await page.get_by_role("button", name="Back to the game").click()
        await page.locator(".five-towers .board").wait_for()


async def test_a_record_file_that_is_dropped_is_watched_without_a_server(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    page = await visitors.visit(shared.url)
    await page.get_by_role("link", name="Open a saved game").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await drop_record(page, finished.record)
    await page.locator("[data-replay=ready] .five-towers").wait_for()
    truth = views(finished.record["frames"])
    for key, seq in (("End", len(truth)), ("ArrowLeft", len(truth) - 1)):
        await page.keyboard.press(key)
        await at_move(page, seq)
        assert await shown(page) == expected(truth[seq])
    assert [url for url in asked if "/v1/" in url] == []


async def test_a_file_that_is_no_record_is_refused(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    page = await visitors.visit(f"{shared.url}#/record")
    for wrong in ("{}", "no record", '{"format": 99}', "[]"):
        await page.locator("input[type=file]").set_input_files(
            {"name": "record.json", "mimeType": "application/json", "buffer": wrong.encode()}
        )
        await expect(page.get_by_role("alert")).to_have_text("This file is not a saved game.")
    await drop_record(page, finished.record)
    await page.locator("[data-replay=ready]").wait_for()
    await expect(page.get_by_role("alert")).to_have_count(0)
