"""Nikitin Towers: what a frame of the board costs while the view turns, three towers of 20 blocks.

Chromium draws without a graphics processor here, so the time of a whole frame says what the slowest
machine shows. The script's time is paid on every machine: it has to leave room in 1/60 s.
"""

import asyncio
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from playwright.async_api import CDPSession, Page

from tests.browser.chromium import DRAWING, Visitors, launched
from tests.browser.nikitin.harness import served_harness
from tests.browser.nikitin.player import drawn
from tests.programs.bench.report import Figure, span
from towerhall_server.cli.progress import progress

REPEATS: Final = 5
FRAMES: Final = 40
SMALL: Final = {"width": 640, "height": 480}
MOST_CALLS: Final = 60
MOST_SCRIPT_MS: Final = 8.0
"""Half of 1/60 s: the other half is left for the browser."""
TOWERS: Final = "seats=3&blocks=20&phase=place&seat=0"

TURN: Final = """
(wanted) => new Promise((done) => {
  const board = document.querySelector(".board3d");
  const key = new KeyboardEvent("keydown", { key: "ArrowLeft", shiftKey: true, bubbles: true });
  const first = Number(board.dataset.frames);
  const began = performance.now();
  function next() {
    const frames = Number(board.dataset.frames) - first;
    if (frames >= wanted) return done([frames, performance.now() - began]);
    document.body.dispatchEvent(key);
    requestAnimationFrame(next);
  }
  next();
})
"""
"""Turn the view until so many frames were drawn: how many, and milliseconds."""


class Turned(msgspec.Struct, frozen=True):
    """Milliseconds of a frame."""

    whole: float
    script: float


def measure(repeats: int = REPEATS, frames: int = FRAMES) -> list[Figure]:
    """The time of a frame, and its draw calls."""
    with tempfile.TemporaryDirectory() as folder, served_harness(Path(folder) / "dist") as url:
        runs, calls = asyncio.run(_turn(f"{url}?{TOWERS}", repeats, frames))
    size = f"{SMALL['width']} x {SMALL['height']}, {frames} frames"
    scripts = [run.script for run in runs]
    wholes = [run.whole for run in runs]
    return [
        Figure("draw calls of a frame", calls, "", at_most=MOST_CALLS, note="three towers of 20"),
        Figure("script of a frame", median(scripts), "ms", MOST_SCRIPT_MS, note=span(scripts)),
        Figure(
            "a frame, drawn by the processor",
            median(wholes),
            "ms",
            note=f"{span(wholes)}, {size}",
        ),
    ]


async def _turn(url: str, repeats: int, frames: int) -> tuple[list[Turned], int]:
    async with launched(DRAWING) as browser:
        visitors = Visitors(browser)
        page = await visitors.visit(url, viewport=SMALL, motion=True)
        await drawn(page)
        devtools = await page.context.new_cdp_session(page)
        await devtools.send("Performance.enable")
        await page.evaluate(TURN, frames)
        runs = []
        for _ in progress(range(repeats), repeats, "frames"):
            runs.append(await _turned(page, devtools, frames))
        calls = int(await page.locator(".board3d").get_attribute("data-calls") or 0)
        await visitors.leave()
    return runs, calls


async def _turned(page: Page, devtools: CDPSession, frames: int) -> Turned:
    before = await _script_seconds(devtools)
    done, milliseconds = await page.evaluate(TURN, frames)
    script = await _script_seconds(devtools) - before
    return Turned(milliseconds / done, 1000 * script / done)


async def _script_seconds(devtools: CDPSession) -> float:
    found = await devtools.send("Performance.getMetrics")
    (seconds,) = (each["value"] for each in found["metrics"] if each["name"] == "ScriptDuration")
    return float(seconds)
