"""The proof of the shuffle in the browser, and the record that is kept."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.chromium import Visitors
from tests.browser.hands import at_table
from tests.browser.tables import Finished, drop_record
from tests.end_to_end.servers import ServerProcess

CHECKS = {"commitment", "deals", "nonces", "seed", "draws", "chain", "facts", "result"}


async def verdicts(page: Page) -> dict[str, bool]:
    await page.locator("[data-proof]").wait_for()
    found = await page.locator("[data-check]").evaluate_all(
        "(steps) => steps.map(({ dataset }) => [dataset.check, dataset.ok === 'true'])"
    )
    return dict(found)


async def test_check_the_shuffle_shows_a_tick_for_everything(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    page = await visitors.visit(f"{shared.url}#/r/{finished.code}")
    await page.get_by_role("button", name="Enter the room").click()
    await at_table(page, status="over")
    await page.get_by_role("button", name="Check the shuffle").click()
    found = await verdicts(page)
    assert found.keys() > CHECKS
    assert set(found.values()) == {True}
    await expect(
        page.get_by_text("Everything fits: nobody could choose these cards.")
    ).to_be_visible()
    # Each step can be opened, and says what it was judged by.
    first = page.locator("[data-check]").first
    await first.locator("summary").click()
    await expect(first.locator("dd").first).to_be_visible()


def other(text: str) -> str:
    """Of the same form, and not the same."""
    return ("B" if text[0] == "A" else "A") + text[1:]


def swap_first_cards(record: dict[str, Any]) -> None:
    drawn = record["draws"][0][-1]
    drawn[0], drawn[1] = drawn[1], drawn[0]


def change_a_move(record: dict[str, Any]) -> None:
    commit = record["commits"][20]
    last = commit[3][-1]
    commit[3] = commit[3][:-1] + ("A" if last != "A" else "Q")


def change_what_is_told(record: dict[str, Any]) -> None:
    bid = next(fact for frame in record["frames"] for fact in frame[4] if fact[0] == "bid_made")
    bid[2] += 1


def change_the_secret(record: dict[str, Any]) -> None:
    record["proof"]["secret"] = other(record["proof"]["secret"])


def change_a_nonce(record: dict[str, Any]) -> None:
    seat = record["proof"]["deals"][-1]["seats"][0]
    seat["nonce"] = other(seat["nonce"])


def change_the_result(record: dict[str, Any]) -> None:
    record["result"]["scores"][0] += 1


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (swap_first_cards, "draws"),
        (change_a_move, "chain"),
        (change_what_is_told, "facts"),
        (change_the_secret, "commitment"),
        (change_a_nonce, "nonces"),
        (change_the_result, "result"),
    ],
)
async def test_a_changed_record_gets_a_cross(
    shared: ServerProcess,
    visitors: Visitors,
    finished: Finished,
    change: Callable[[dict[str, Any]], None],
    wrong: str,
) -> None:
    record = deepcopy(finished.record)
    change(record)
    page = await visitors.visit(f"{shared.url}#/record")
    await drop_record(page, record)
    found = await verdicts(page)
    assert found[wrong] is False
    assert await page.locator("[data-proof]").get_attribute("data-proof") == "bad"
    await expect(page.locator(f"[data-check={wrong}] summary")).to_contain_text("wrong")


async def test_the_saved_record_verifies_on_the_command_line(
    shared: ServerProcess, visitors: Visitors, finished: Finished, tmp_path: Path
) -> None:
    page = await visitors.visit(f"{shared.url}#/r/{finished.code}")
    await page.get_by_role("button", name="Enter the room").click()
    async with page.expect_download() as started:
        await page.get_by_role("button", name="Save the record").click()
    download = await started.value
    assert download.suggested_filename == f"towerhall-{finished.code}.json"
    saved = tmp_path / download.suggested_filename
    await download.save_as(saved)
    assert json.loads(saved.read_text()) == finished.record
    command = [sys.executable, "-m", "towerhall_server", "verify", str(saved)]
    told = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=30
    )
    assert told.returncode == 0, told.stdout + told.stderr
