"""The playground: any seat of a sandbox room, messages in three forms, breaks, and programs."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.axe import violations
from tests.browser.catalogues import catalogue
from tests.browser.chromium import Visitors
from tests.browser.playground import choose, entered, messages
from tests.browser.test_languages import left_over
from tests.end_to_end.servers import ServerProcess, running
from tests.typescript.node import CLIENTS, npm

GO_PACKAGES = Path(os.sep, "usr", "share", "gocode")
"""Where Debian installs libraries of Go."""
SECONDS = 30


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("playground") / "data"
    with running(folder, "--sandbox", limits={}) as process:
        yield process


async def shown(page: Page, name: str, form: str) -> str:
    """The last message of that name, in that form."""
    await messages(page, name).last.click()
    return await page.locator(f"[data-shown={form}]").inner_text()


async def document(page: Page, name: str) -> Any:
    return json.loads(await shown(page, name, "json"))


async def seq(page: Page) -> int:
    text = await page.locator("[data-line]").inner_text()
    return int("".join(filter(str.isdigit, text)))


async def test_messages_are_bytes_json_and_view_and_commands_come_from_offers_and_by_hand(
    sandbox: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{sandbox.url}playground")
    await entered(page)
    welcome = await document(page, "welcome")
    assert json.loads(await shown(page, "welcome", "view")) == welcome[1]["view"]
    assert welcome[1]["view"]["room"]["sandbox"] == 1000
    assert (await shown(page, "welcome", "bytes")).startswith("0000  92 a7 77 65 6c 63 6f 6d 65")
    # From offers, first on trial.
    await messages(page, "offers").first.wait_for()
    await page.get_by_role("checkbox", name="Only try").check()
    await page.locator("[data-offer]").first.click()
    await messages(page, "accepted").first.wait_for()
    before = await seq(page)
    await page.get_by_role("checkbox", name="Only try").uncheck()
    await page.locator("[data-offer]").first.click()
    await expect(page.locator("[data-line]")).not_to_contain_text(f"commit {before}")
    # By hand, also what is no message, and what the server does not know.
    hand = page.get_by_role("textbox", name="By hand")
    for text, answer in (('["ping", 7]', "pong"), ('["dance"]', "error")):
        await hand.fill(text)
        await hand.press("Tab")
        await page.get_by_role("button", name="Send").click()
        await messages(page, answer).first.wait_for()
    for text in ('["ping"', '["ping", 0.5]'):
        await hand.fill(text)
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_role("alert")).to_contain_text("This is not a message")
    assert await violations(page) == []


async def test_a_break_is_resumed_from_a_chosen_place_and_trouble_comes_on_request(
    sandbox: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{sandbox.url}playground", phone=True, color_scheme="dark")
    await entered(page, "Me")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    assert await violations(page) == []
    first = await seq(page)
    connect, line = page.get_by_role("button", name="Connect"), page.locator("[data-line]")
    # Another seat acts on its own connection.
    await page.get_by_role("combobox", name="Connect as").select_option(label="Seat 2, Ben")
    await expect(line).to_have_attribute("data-line", "closed")
    await choose(page, "json")
    await connect.click()
    await messages(page, "welcome").wait_for()
    assert (await shown(page, "welcome", "bytes")).startswith("0000  5b 22")
    assert (await document(page, "welcome"))[1]["seat"] == 1
    await page.get_by_role("textbox", name="By hand").fill(
        '["command", 1, "", {"command": "want_end"}]'
    )
    await page.get_by_role("button", name="Send").click()
    await messages(page, "frame").wait_for()
    # The tail is lost for those who are here.
    await page.get_by_role("button", name="Lose the tail").click()
    assert (await document(page, "reset"))[3] == 1
    assert await seq(page) == first
    # A pause delays the answer of what is sent in it.
    await page.get_by_role("spinbutton", name="Milliseconds").fill("300")
    await page.get_by_role("button", name="Pause me").click()
    await page.get_by_role("textbox", name="By hand").fill('["ping", 9]')
    await page.get_by_role("button", name="Send").click()
    await messages(page, "pong").wait_for()
    await page.get_by_role("button", name="Drop me").click()
    assert (await document(page, "close"))[1] == 1006
    # From the lost commit: the server tells the loss.
    places = page.get_by_role("combobox", name="Resume from")
    lost = await places.locator("option", has_text=f"commit {first + 1} ").first.inner_text()
    await places.select_option(label=lost)
    await connect.click()
    await expect(messages(page, "welcome")).to_have_count(2)
    assert (await document(page, "welcome"))[1]["lost"] == 1
    # From a commit that is in the log: the view is kept.
    await page.get_by_role("button", name="Cut").click()
    await messages(page, "cut").wait_for()
    here = await places.locator("option", has_text=f"commit {first} ").first.inner_text()
    await places.select_option(label=here)
    await connect.click()
    await expect(messages(page, "welcome")).to_have_count(3)
    assert "view" not in (await document(page, "welcome"))[1]
    kept = json.loads(await shown(page, "welcome", "view"))
    assert kept["room"]["status"] == "playing"


@asynccontextmanager
async def printed(command: list[str], text: str, **more: Any) -> AsyncIterator[list[Any]]:
    """The messages that a program prints up to the answer to its command."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, **more
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text.encode())
    process.stdin.close()
    found: list[Any] = []
    try:
        async with asyncio.timeout(SECONDS):
            while not found or found[-1][0] not in ("rejected", "accepted", "error"):
                found.append(json.loads(await process.stdout.readline()))
        yield found
    finally:
        process.kill()
        await process.wait()


async def tried(page: Page) -> Page:
    """A page on which a command was tried, so programs try it too."""
    await entered(page)
    await page.get_by_role("checkbox", name="Only try").check()
    await page.locator("[data-offer]").first.click()
    await messages(page, "accepted").first.wait_for()
    return page


async def text_of(page: Page, language: str) -> str:
    await choose(page, language)
    return await page.locator(f"[data-program={language.lower()}]").inner_text()


async def test_the_same_step_runs_as_a_program(sandbox: ServerProcess, visitors: Visitors) -> None:
    page = await visitors.visit(
        f"{sandbox.url}playground", permissions=["clipboard-read", "clipboard-write"]
    )
    await tried(page)
    text = await text_of(page, "Python")
    await page.get_by_role("button", name="Copy").click()
    assert await page.evaluate("navigator.clipboard.readText()") == text
    async with printed([sys.executable, "-"], text) as found:
        assert [found[0][0], found[-1][:2]] == ["welcome", ["accepted", 1]]
    # The program has taken the seat over.
    await expect(page.locator("[data-line]")).to_have_attribute("data-line", "closed")
    text = await text_of(page, "JavaScript")
    _, environment = npm()
    node = Path(environment["PATH"].split(os.pathsep)[0], "node")
    command = [str(node), "--input-type=module", "-"]
    async with printed(command, text, cwd=CLIENTS) as found:
        assert [found[0][0], found[-1][:2]] == ["welcome", ["accepted", 1]]


@pytest.mark.timeout(240)
async def test_the_same_step_runs_as_a_program_in_go(
    sandbox: ServerProcess, visitors: Visitors, tmp_path: Path
) -> None:
    go = shutil.which("go")
    if go is None or not (GO_PACKAGES / "src/github.com/gorilla/websocket").is_dir():
        pytest.skip("Go and gorilla/websocket cannot be installed here: `make test` tried apt-get")
    page = await tried(await visitors.visit(f"{sandbox.url}playground"))
    source, built = tmp_path / "main.go", tmp_path / "program"
    source.write_text(await text_of(page, "Go"))
    environment = os.environ | {
        "GO111MODULE": "off", "GOPATH": str(GO_PACKAGES), "GOCACHE": str(tmp_path / "cache"),
        "GOFLAGS": "-p=1",
    }  # fmt: skip
    building = await asyncio.create_subprocess_exec(
        go, "build", "-o", str(built), str(source), env=environment
    )
    assert await building.wait() == 0
    async with printed([str(built)], "") as found:
        assert [found[0][0], found[-1][:2]] == ["welcome", ["accepted", 1]]


async def test_a_server_without_sandbox_says_so_in_every_language(
    shared: ServerProcess, sandbox: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(f"{shared.url}playground", locale="fr")
    await page.get_by_text(catalogue("fr")["playground.none.title"][0]).wait_for()
    assert await left_over(page, "fr") == []
    page = await visitors.visit(f"{sandbox.url}playground", locale="bg")
    words = catalogue("bg")
    await page.get_by_role("button", name=words["playground.make"][0]).click()
    await page.get_by_role("button", name=words["playground.connect"][0]).click()
    await messages(page, "welcome").wait_for()
    assert await left_over(page, "bg") == []
