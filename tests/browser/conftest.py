"""One browser and one server for each process that runs tests; a profile for each visitor."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.browser.chromium import PATIENCE_MS, MissingBrowserError, Visitors, launched
from tests.browser.rarely import asked_for_all, is_rare
from tests.browser.tables import Finished, finish
from tests.end_to_end.servers import LIMITS, ServerProcess, running
from tests.examples import is_long
from towerhall_server.gateway.http.page import INDEX, find_page

HERE = "tests/browser/"
TALKATIVE = LIMITS | {"TOWERHALL_LIMIT_CHAT": "1000/s burst 1000"}

expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The browser lives as long as the session, so all that talks to it runs in one loop. With
    other tests beside it those of `rarely` are left out."""
    ours = [item for item in items if item.nodeid.startswith(HERE)]
    rare = {item for item in ours if is_rare(item.nodeid)}
    if rare and len(items) > len(ours) and not is_long() and asked_for_all(config):
        items[:] = [item for item in items if item not in rare]
        config.hook.pytest_deselected(items=list(rare))
    for item in ours:
        if item.get_closest_marker("asyncio"):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    try:
        async with launched() as browser:
            # Debugging the loop triples the time of each word with the browser.
            asyncio.get_running_loop().set_debug(False)
            yield browser
    except MissingBrowserError as error:
        pytest.fail(str(error))


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that nobody harms."""
    if not (find_page() / INDEX).is_file():
        pytest.fail("The page is not built: `make web` does it.")
    with running(tmp_path_factory.mktemp("shared") / "data", limits=TALKATIVE) as process:
        yield process


class ToysProcess(ServerProcess):
    """A server that has games more, which the page knows nothing of."""

    module = "tests.browser.toys_server"


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """All games of the service, and games without a folder in the page. Nobody harms it."""
    folder = tmp_path_factory.mktemp("toys") / "data"
    with running(folder, limits=TALKATIVE, kind=ToysProcess) as process:
        yield process


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server of one's own."""
    with running(tmp_path / "data") as process:
        yield process


@pytest_asyncio.fixture(loop_scope="session")
async def visitors(chromium: Browser) -> AsyncIterator[Visitors]:
    """Whoever opens the page. None of them may have anything to complain of in the end."""
    people = Visitors(chromium)
    yield people
    await people.leave()
    assert people.complaints == []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def finished(shared: ServerProcess) -> Finished:
    """A game that was played to its end, with its record. Nobody changes it."""
    return await finish(shared.url)
