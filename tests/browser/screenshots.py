"""Takes the pictures of the README: the hall, a table of each game, a collapse, a replay.

    python -m tests.browser.screenshots [FOLDER]

Games are shuffled anew each time, so no two runs give the same pictures.
"""

import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from playwright.async_api import Page

from tests.browser.chromium import DRAWING, Visitors, launched
from tests.browser.hands import at_table
from tests.browser.nikitin.pictures import take_blocks, take_collapse
from tests.browser.tables import Running, is_building, room_of, set_table
from tests.end_to_end.games import QUICK
from tests.end_to_end.servers import running
from towerhall_client.connection import Table, connect
from towerhall_client.http import Service

FOLDER: Final = Path(__file__).resolve().parents[2] / "clients" / "web" / "screenshots"
SIZE: Final = {"width": 1440, "height": 940}
PILE_IN_THE_MIDDLE: Final = 38
MOVES_BACK: Final = 9
PATIENCE_MS: Final = 120_000
"""Large boards are drawn in software."""


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, running(Path(data) / "data") as server:
        asyncio.run(take_all(server.url, folder))


async def take_all(url: str, folder: Path) -> None:
    async with launched() as browser:
        visitors = Visitors(browser)
        await take_lobby(url, visitors, folder / "lobby.png")
        table = await set_table(url, until=in_the_middle, bots=("hard", "medium", "hard"))
        await take_table(url, visitors, table, folder / "table.png")
        await take_replay(url, visitors, table, folder / "replay.png")
        await visitors.leave()
    async with launched(DRAWING) as browser:
        drawing = Visitors(browser)
        await take_blocks(url, drawing, folder / "blocks.png", save)
        await take_collapse(url, drawing, folder / "collapse.png", save)
        await drawing.leave()
    if complaints := [*visitors.complaints, *drawing.complaints]:
        raise SystemExit(f"the page complains: {complaints}")


def in_the_middle(table: Table) -> bool:
    game = table.view["game"]
    assert isinstance(game, dict)
    return game["pile"] <= PILE_IN_THE_MIDDLE and is_building(table)


async def save(page: Page, path: Path) -> None:
    picture = await page.screenshot(path=path, animations="disabled", timeout=PATIENCE_MS)
    print(f"{path.name}: {len(picture) // 1000} kB")


async def take_lobby(url: str, visitors: Visitors, path: Path) -> None:
    """A room of each game waits for people."""
    games = [str(game["name"]) for game in await Service(url).games()]
    async with AsyncExitStack() as stack:
        for name, game in zip(("Ben", "Chloé", "Dana"), games, strict=False):
            host = await Service(url).guest(name)
            made = await room_of(url, host, game, seats=3)
            line = connect(url, made.code, host.token, retry=QUICK)
            await (await stack.enter_async_context(line)).sit()
        ada = await Service(url).guest("Ada")
        page = await visitors.visit(url, guest=ada, viewport=SIZE, color_scheme="light")
        await page.locator("[data-lobby=up] article").nth(min(len(games), 3) - 1).wait_for()
        await save(page, path)


async def take_table(url: str, visitors: Visitors, table: Running, path: Path) -> None:
    """Ada has planned the first card of a build."""
    page = await visitors.visit(
        f"{url}#/r/{table.room.code}", guest=table.guest, viewport=SIZE, color_scheme="light"
    )
    await at_table(page)
    await page.locator("[data-fit=now]").first.click()
    await page.locator(".ghost").wait_for()
    await page.mouse.move(0, 0)
    await save(page, path)


async def take_replay(url: str, visitors: Visitors, table: Running, path: Path) -> None:
    page = await visitors.visit(
        f"{url}#/r/{table.room.code}?at={table.seq - MOVES_BACK}",
        guest=table.guest,
        viewport=SIZE,
        color_scheme="dark",
    )
    await page.locator("[data-replay=ready] .five-towers").wait_for()
    await save(page, path)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
