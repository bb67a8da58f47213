"""Takes a picture of each screen at each size, light and dark, and one sheet for each size.

    python -m tests.programs.screens [SCREEN ...] [--size 360x640 ...] [--into FOLDER]

Games are shuffled anew each time, so no two runs give the same pictures.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from playwright.async_api import Browser

from tests.browser.axe import SETTLED
from tests.browser.chromium import DRAWING, FLAGS, Visitors, launched
from tests.end_to_end.servers import running
from tests.programs.screens.scenes import SCENES, Scene
from tests.programs.screens.sheet import write_sheet

FOLDER: Final = Path(__file__).resolve().parents[3] / "build" / "screens"
SIZES: Final = ("360x640", "844x390", "1280x800", "1920x1080", "2560x1440")
COLOURS: Final = ("light", "dark")
PATIENCE_MS: Final = 120_000
"""Large boards are drawn in software."""
DEPTH: Final = 4


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.programs.screens", description=__doc__)
    parser.add_argument("screens", nargs="*", metavar="SCREEN", help=f"of {', '.join(SCENES)}")
    parser.add_argument("--size", action="append", help=f"default: {', '.join(SIZES)}")
    parser.add_argument("--into", type=Path, default=FOLDER, help="folder for the pictures")
    wanted = parser.parse_args(given)
    scenes = {name: SCENES[name] for name in wanted.screens or SCENES}
    wanted.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, running(Path(data) / "data", "--sandbox") as server:
        asyncio.run(take(server.url, scenes, wanted.size or SIZES, wanted.into))


async def take(url: str, scenes: Mapping[str, Scene], sizes: Sequence[str], folder: Path) -> None:
    # To draw in software what is drawn in three dimensions makes all else slow.
    for flags, is_drawn in ((FLAGS, False), (DRAWING, True)):
        chosen = {n: each for n, each in scenes.items() if n.startswith("nikitin") == is_drawn}
        if chosen:
            async with launched(flags) as browser:
                for name, scene in chosen.items():
                    await take_one(browser, url, name, scene, sizes, folder)
    async with launched() as browser:
        for size in sizes:
            pictures = [folder / f"{name}-{size}-{c}.png" for name in scenes for c in COLOURS]
            await write_sheet(browser, pictures, folder / f"sheet-{size}.png")
    print(f"{len(scenes)} screens are in {folder}")


async def take_one(
    browser: Browser, url: str, name: str, scene: Scene, sizes: Sequence[str], folder: Path
) -> None:
    visitors = Visitors(browser)
    page = await scene(url, visitors, {"width": 1280, "height": 800})
    for size in sizes:
        width, height = map(int, size.split("x"))
        await page.set_viewport_size({"width": width, "height": height})
        for colours in COLOURS:
            await page.emulate_media(color_scheme=colours)
            # A colour that comes from another one that changes changes after it.
            for _ in range(DEPTH):
                await page.evaluate(SETTLED)
            picture = folder / f"{name}-{size}-{colours}.png"
            await page.screenshot(path=picture, timeout=PATIENCE_MS)
    if visitors.complaints:
        raise SystemExit(f"{name} complains: {visitors.complaints}")
    await visitors.leave()
    print(name, flush=True)


if __name__ == "__main__":
    main()
