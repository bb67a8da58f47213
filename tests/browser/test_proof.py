"""The proof of the draws in the browser, and the record that is kept."""

import asyncio
import json
import re
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
from tests.browser.tables import Finished, drop_record, set_table
from tests.end_to_end.games import QUICK, play_out
from tests.end_to_end.servers import ServerProcess
from towerhall_client.connection import connect
from towerhall_client.http import Service
from towerhall_protocol.chain import START, link, mark, seal
from towerhall_protocol.commands import base64url, from_base64url

CHECKS = {
    *("commitment", "deals", "nonces", "seed", "draws", "chain", "facts", "names", "result"),
    *("signature", "log", "seen"),
}


async def verdicts(page: Page) -> dict[str, bool]:
    await page.locator("[data-proof]").wait_for()
    found = await page.locator("[data-check]").evaluate_all(
        "(steps) => steps.map(({ dataset }) => [dataset.check, dataset.ok === 'true'])"
    )
    return dict(found)


async def test_checking_the_draws_shows_a_tick_for_everything(
    shared: ServerProcess, visitors: Visitors, finished: Finished
) -> None:
    page = await visitors.visit(f"{shared.url}#/r/{finished.code}")
    await page.get_by_role("button", name="Enter the room").click()
    await at_table(page, status="over")
    await page.get_by_role("button", name="Check the draws").click()
    found = await verdicts(page)
    assert found.keys() > CHECKS
    assert set(found.values()) == {True}
    await expect(
        page.get_by_text("All correct: the draws that you saw follow from the seed.")
    ).to_be_visible()
    # Each step says what was checked or why it was not, and can be opened for the hashes.
    for step in await page.locator("[data-check]").all():
        await expect(step.locator(".about")).to_have_text(re.compile(r"^\S.*\.$"))
    unseen = page.locator("[data-check=seen]")
    await expect(unseen).to_have_attribute("data-skipped", "no_evidence")
    await expect(unseen).to_contain_text("This device kept nothing of this game")
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


def another_game(record: dict[str, Any]) -> dict[str, Any]:
    """A record that holds together, of a game whose last commit but one has another id: what a
    server can write that has kept the commitment and the nonces."""
    forged, before = deepcopy(record), START
    # The proof of the public log may have come with the record, or not yet.
    forged.pop("log", None)
    commits, frames = forged["commits"], forged["frames"]
    commits[-2][1] = other(commits[-2][1])
    for commit, frame in zip(commits, frames, strict=True):
        _, commit_id, _, blob, wall_ms, served_ms = commit
        parts = from_base64url(commit_id), from_base64url(blob)
        before = link(before, wall_ms, served_ms, *parts)
        commit[2], frame[2] = base64url(before), mark(before)
    forged["chain"] = base64url(before)
    forged["seal"] = base64url(seal(before, forged))
    return forged


async def test_a_record_of_another_game_than_this_browser_saw_is_warned_of(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url)
    page = await visitors.visit(f"{shared.url}#/r/{table.room.code}")
    await page.get_by_role("button", name="Enter the room").click()
    await at_table(page)
    async with connect(shared.url, table.room.code, table.guest.token, retry=QUICK) as ada:
        await play_out((ada,), 1)
    await at_table(page, status="over")
    record = await Service(shared.url).record(table.room.code)
    # It was kept without being asked for, and stays when the page is loaded again.
    await page.goto(f"{shared.url}#/record")
    await page.reload()
    await drop_record(page, record)
    assert set((await verdicts(page)).values()) == {True}
    assert await page.locator("[data-check=seen]").get_attribute("data-skipped") is None
    assert await page.locator("[data-warning]").count() == 0
    await page.reload()
    await drop_record(page, another_game(record))
    found = await verdicts(page)
    # Nor has the server signed the end of that other game.
    assert {name for name, ok in found.items() if not ok} == {"seen", "signature"}
    warning = page.locator("[data-warning]")
    await expect(warning).to_contain_text(
        "the server showed a different fingerprint during the game"
    )
    await expect(warning).to_contain_text("the server has told two different stories")
    assert await page.locator("[data-proof]").get_attribute("data-proof") == "bad"
    # A browser that saw nothing of the game has only the signature to go by.
    stranger = await visitors.visit(f"{shared.url}#/record")
    await drop_record(stranger, another_game(record))
    found = await verdicts(stranger)
    assert {name for name, ok in found.items() if not ok} == {"signature"}


async def test_the_saved_record_verifies_on_the_command_line(
    shared: ServerProcess, visitors: Visitors, finished: Finished, tmp_path: Path
) -> None:
    page = await visitors.visit(f"{shared.url}#/r/{finished.code}")
    await page.get_by_role("button", name="Enter the room").click()
    async with page.expect_download() as started:
        await page.get_by_role("button", name="Save the game").click()
    download = await started.value
    assert download.suggested_filename == f"towerhall-{finished.code}.json"
    saved = tmp_path / download.suggested_filename
    await download.save_as(saved)
    # The proof of the public log is added as soon as it is there.
    in_file, in_hand = (
        {name: part for name, part in record.items() if name != "log"}
        for record in (json.loads(saved.read_text()), finished.record)
    )
    assert in_file == in_hand
    command = [sys.executable, "-m", "towerhall_server", "verify", str(saved)]
    told = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=30
    )
    assert told.returncode == 0, told.stdout + told.stderr
