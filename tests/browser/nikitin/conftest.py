"""A browser that draws WebGL in software, and a page that shows towers which no game reaches."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.browser.chromium import DRAWING, MissingBrowserError, Visitors, launched
from tests.browser.nikitin.harness import served_harness
from tests.browser.nikitin.tables import finish
from tests.browser.tables import Finished
from tests.end_to_end.servers import ServerProcess

SMALL: Final = {"width": 640, "height": 480}
COARSE: Final = 0.5
"""Drawing in software costs CPU time for each pixel: of four only one is drawn."""
ONE_SAMPLE: Final = """
const plain = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, wanted) {
  return plain.call(this, kind, { ...wanted, antialias: false });
};
"""
"""Antialiasing would draw each pixel four times."""
HERE: Final = "tests/browser/nikitin/"
BUSY_SECONDS: Final = 180
"""For a test where others use the machine too: the first one waits until a page is bundled."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(HERE) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(BUSY_SECONDS))


@pytest_asyncio.fixture(loop_scope="session")
async def visitors(chromium: Browser) -> AsyncIterator[Visitors]:
    """As for the other tests, with pages that cost less to draw."""
    people = Visitors(chromium, viewport=SMALL, scale=COARSE, script=ONE_SAMPLE)
    yield people
    await people.leave()
    assert people.complaints == []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """In place of the browser of the other tests, which has no WebGL."""
    try:
        async with launched(DRAWING) as browser:
            asyncio.get_running_loop().set_debug(False)
            yield browser
    except MissingBrowserError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="session")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the board with made-up towers."""
    with served_harness(tmp_path_factory.mktemp("harness") / "dist") as address:
        yield address


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stacked(shared: ServerProcess) -> Finished:
    """A game of Nikitin Towers that is over, with its record. Nobody changes it."""
    return await finish(shared.url)
