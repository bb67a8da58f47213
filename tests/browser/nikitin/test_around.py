"""What the page offers around a game: replay, proof, watching, coming back, languages."""

import asyncio
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

import pytest
from playwright.async_api import Page, expect

from tests.browser.board import views
from tests.browser.catalogues import LANGUAGES, catalogue
from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.nikitin.player import Player, drawn, ghost
from tests.browser.nikitin.tables import in_phase, set_table
from tests.browser.tables import Finished, drop_record
from tests.browser.test_dropping_out import NETWORK_TROUBLE
from tests.browser.test_languages import go, left_over
from tests.browser.test_proof import verdicts
from tests.browser.waiting import until
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import connect
from towerhall_client.http import Service

SHOWN: Final = """
() => {
  const { towers, phase, turn } = document.querySelector(".nikitin")?.dataset ?? {};
  return towers === undefined ? null : { towers, phase, turns: Number(turn) };
}
"""
SHOWN_AT: Final = f"""
(seq) => document.querySelector(`[data-replay=ready][data-at="${{seq}}"]`)
  && {{ board: ({SHOWN})() }}
"""
FIRST: Final = 6


def told(view: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the board has to show of a view."""
    if (game := view.get("game")) is None:
        return None
    towers = [game["towers"][seat] for seat in sorted(game["towers"])]
    heights = " ".join(f"{tower['height']}/{tower['ring']}" for tower in towers)
    return {"towers": heights, "phase": game["phase"], "turns": game["turns"]}


@pytest.mark.parametrize("most", [4, 1000], ids=["some", "all"])
@pytest.mark.timeout(180)
async def test_the_replay_shows_at_each_move_what_the_record_says(
    shared: ServerProcess, visitors: Visitors, stacked: Finished, most: int
) -> None:
    """The first moves after the start and the last ones, and all of them."""
    truth = {seq: told(view) for seq, view in views(stacked.record["frames"]).items()}
    last = len(stacked.record["frames"])
    page = await visitors.visit(f"{shared.url}#/r/{stacked.code}?at={last}")
    await until(page, SHOWN_AT, last)
    await drawn(page)
    opening = next(seq for seq, board in truth.items() if board) - 1
    shown = {}
    for first in [1] if most > last else [opening, last - most]:
        await page.get_by_role("slider").fill(str(first))
        for seq in range(first, min(first + most, last) + 1):
            shown[seq] = (await until(page, SHOWN_AT, seq))["board"]
            await page.keyboard.press("ArrowRight")
    assert shown == {seq: truth[seq] for seq in shown}
    assert len(shown) == min(2 * (most + 1), last)
    assert sum(board is not None for board in shown.values()) > FIRST
    await page.get_by_role("slider").fill(str(last - FIRST))
    assert (await until(page, SHOWN_AT, last - FIRST))["board"] == truth[last - FIRST]


async def test_checking_the_dice_shows_a_tick_for_everything(
    shared: ServerProcess, visitors: Visitors, stacked: Finished
) -> None:
    page = await visitors.visit(f"{shared.url}#/r/{stacked.code}")
    await page.get_by_role("button", name="Enter the room").click()
    await at_table(page, status="over")
    await page.get_by_role("button", name="Check the draws").click()
    found = await verdicts(page)
    assert found.keys() > {"seed", "draws", "chain", "dice", "result"}
    assert set(found.values()) == {True}
    assert "cards" not in await page.locator("[data-proof]").inner_text()


def change_a_die(record: dict[str, Any]) -> None:
    facts = (fact for frame in record["frames"] for fact in frame[4])
    rolled = next(fact for fact in facts if fact[0] == "die_rolled")
    rolled[3] = rolled[3] % 6 + 1


def change_the_opening(record: dict[str, Any]) -> None:
    facts = (fact for frame in record["frames"] for fact in frame[4])
    rolls = next(fact for fact in facts if fact[0] == "game_started")[3]
    rolls[0][0] = rolls[0][0] % 6 + 1


@pytest.mark.parametrize("change", [change_a_die, change_the_opening])
async def test_a_die_that_was_changed_gets_a_cross(
    shared: ServerProcess,
    visitors: Visitors,
    stacked: Finished,
    change: Callable[[dict[str, Any]], None],
) -> None:
    record = deepcopy(stacked.record)
    change(record)
    page = await visitors.visit(f"{shared.url}#/record")
    await drop_record(page, record)
    found = await verdicts(page)
    assert found["dice"] is False
    assert await page.locator("[data-proof]").get_attribute("data-proof") == "bad"


async def test_a_watcher_sees_each_block_and_is_asked_nothing(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=in_phase("place"), bots=2)
    page = await visitors.visit(
        table.address(shared.url), guest=await Service(shared.url).guest("Watcher")
    )
    await drawn(page)
    async with connect(shared.url, table.room.code, table.guest.token, retry=QUICK) as ada:
        for _ in range(4):
            # Until Ada has acted nothing changes.
            await ada.turn()
            await at_table(page, seq=ada.seq)
            assert await page.evaluate(SHOWN) == told(ada.view)
            await ada.send(next(iter(ada.offers[0].commands())))
    board = page.locator(".nikitin")
    await expect(board.locator("[data-place-now], [data-roll], [data-block]")).to_have_count(0)
    await expect(board).to_have_attribute("data-ghost", "")


async def test_a_reload_while_a_block_is_held_shows_the_same_towers(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, until=in_phase("place"), moves=4)
    page = await visitors.visit(table.address(shared.url), guest=table.guest)
    await drawn(page)
    before, first = await page.evaluate(SHOWN), await ghost(page)
    await page.keyboard.press("ArrowLeft")
    held = await ghost(page)
    assert held != first
    await page.reload()
    await drawn(page)
    assert await page.evaluate(SHOWN) == before
    assert await ghost(page) == held
    assert await Player(page).by_keys()
    await at_table(page, seq=table.seq + 1)


async def test_after_kill_9_of_the_server_the_builder_goes_on(
    server: ServerProcess, visitors: Visitors
) -> None:
    visitors.mean(*NETWORK_TROUBLE)
    table = await set_table(server.url, until=in_phase("place"), moves=2)
    page = await visitors.visit(table.address(server.url), guest=table.guest)
    await drawn(page)
    before = await page.evaluate(SHOWN)
    server.kill()
    await at_table(page, state="away")
    await asyncio.to_thread(server.start)
    assert await at_table(page) == table.seq
    assert await page.evaluate(SHOWN) == before
    assert await Player(page).by_keys()
    await at_table(page, seq=table.seq + 1)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_screen_of_nikitin_towers_speaks_the_language(
    shared: ServerProcess, visitors: Visitors, stacked: Finished, language: str
) -> None:
    table = await set_table(shared.url, until=in_phase("choose"), bots=2, moves=2)
    words = catalogue(language)
    left: dict[str, list[str]] = {}

    async def look(screen: str) -> None:
        if wrong := await left_over(page, language):
            left[screen] = wrong

    page = await visitors.visit(table.address(shared.url), guest=table.guest, locale=language)
    await drawn(page)
    await look("choose")
    player = Player(page)
    while (await player.decision())["what"] != "place":
        await player.by_keys()
    await drawn(page)
    await look("place")
    await page.locator("[data-give-back] button").click()
    await expect(page.locator(".why")).not_to_be_empty()
    await look("refusal")
    await page.keyboard.press("v")
    await page.locator(".grid table").wait_for()
    await look("grid")
    await _other_screens(page, stacked, look, words)
    assert left == {}


async def _other_screens(
    page: Page, stacked: Finished, look: Callable[[str], Any], words: dict[str, list[str]]
) -> None:
    await go(page, "#/rules/nikitin_towers")
    await page.locator("article h2").first.wait_for()
    await look("rules")
    await go(page, f"#/r/{stacked.code}")
    await page.locator(".result table").wait_for()
    await look("result")
    await page.get_by_role("button", name=words["over.check"][0]).click()
    await page.locator("[data-proof=good]").wait_for()
    await look("proof")
    await go(page, f"#/r/{stacked.code}?at=30")
    await page.locator("[data-replay=ready] .nikitin").wait_for()
    await look("replay")
