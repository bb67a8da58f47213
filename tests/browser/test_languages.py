"""Each language, on every screen: nothing is left in English, and no key stands for its text."""

import re
from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.browser.catalogues import LANGUAGES, NAMELESS, catalogue, english_only
from tests.browser.chromium import Visitors
from tests.browser.hands import Player, at_table, dismiss
from tests.browser.tables import Finished, Running, is_building, set_table
from tests.end_to_end.servers import ServerProcess

SAID: Final = """
() => {
  const said = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  // Languages are called by their own names, and so are keys, what a record holds, and people
  // whose games are shown live.
  const people = "[data-live] .names, [data-live] .position";
  const own = `[lang]:not(html), noscript, kbd, [data-check] dd, ${people}`;
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (!parentElement.closest(own)) said.add(data.trim());
  }
  for (const name of ["aria-label", "title", "placeholder", "aria-valuetext"])
    for (const element of document.querySelectorAll(`[${name}]`))
      if (!element.closest(people)) said.add(element.getAttribute(name).trim());
  said.add(document.title);
  said.delete("");
  return [...said];
}
"""
CODE: Final = re.compile(r"[a-z_]+(\.[a-z_0-9]+)+|\w*_\w+|.*\{\w+\}.*")
"""A key in place of its text, or a text whose gaps are still open."""

OWN_NAMES: Final = {
    "en": "English",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "it": "Italiano",
    "nl": "Nederlands",
    "bg": "Български",
}

LATIN: Final = re.compile(r"\b(?!towerhall verify\b)[A-Za-z][a-z]+ [a-z]{2,}")


async def left_over(page: Page, language: str) -> list[str]:
    said = await page.evaluate(SAID)
    assert len(said) > 3
    english = english_only(language) if language != "en" else re.compile("(?!)")
    # A text of the language itself may look like an English one with a gap.
    own = {text for texts in catalogue(language).values() for text in texts}
    found = [
        text
        for text in said
        if CODE.fullmatch(text) or (english.fullmatch(text) and text not in own)
    ]
    if language == "bg":
        # Words that went past all catalogues are seen by their letters.
        found += [text for text in said if LATIN.search(text) and text not in NAMELESS]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_screen_speaks_the_language(
    shared: ServerProcess, visitors: Visitors, finished: Finished, language: str
) -> None:
    table = await set_table(shared.url, moves=4, until=is_building)
    page = await visitors.visit(shared.url, guest=table.guest, locale=language)
    words = catalogue(language)
    left: dict[str, list[str]] = {}

    async def look(screen: str) -> None:
        if wrong := await left_over(page, language):
            left[screen] = wrong

    await expect(page.locator("html")).to_have_attribute("lang", language)
    await page.get_by_role("heading", name=words["home.title"][0]).wait_for()
    await page.locator("[data-lobby=up]").wait_for()
    await look("lobby")
    await page.get_by_role("button", name=words["home.create"][0]).click()
    await page.locator("dialog select").wait_for()
    await look("new room")
    await dismiss(page)
    await page.keyboard.press("?")
    await page.locator("dialog h4").first.wait_for()
    await look("help")
    await page.get_by_role("tab", name=words["keys.title"][0]).click()
    await page.locator("dialog kbd").first.wait_for()
    await look("keys")
    await dismiss(page)
    await page.keyboard.press(",")
    await page.get_by_role("switch").first.wait_for()
    await look("settings")
    await page.get_by_role("button", name=words["settings.account.button"][0]).click()
    await page.locator("dialog summary").wait_for()
    await look("account")
    await dismiss(page)
    await go(page, "#/rules/five_towers")
    await page.locator("article h2").first.wait_for()
    await look("rules")
    await go(page, "#/learn/five_towers")
    await page.locator(".learn").wait_for()
    await look("lesson")
    await go(page, "#/me")
    await page.get_by_role("heading", name=words["people.privacy"][0]).wait_for()
    await look("profile")
    await page.get_by_role("button", name=words["people.erase"][0]).click()
    await look("erasure")
    await dismiss(page)
    await go(page, "#/friends")
    await page.get_by_role("heading", name=words["people.met"][0]).wait_for()
    await look("friends")
    await go(page, "#/leaderboards/nikitin_towers")
    await page.get_by_role("heading", name=words["people.board.title"][0]).wait_for()
    await look("leaderboard")
    await see_table(page, table)
    await look("table")
    await page.keyboard.press("m")
    await page.locator("dialog").wait_for()
    await look("menu")
    await dismiss(page)
    await page.keyboard.press("c")
    await look("chat")
    await go(page, f"#/r/{finished.code}")
    await page.locator(".result table").wait_for()
    await look("result")
    await page.get_by_role("button", name=words["over.check"][0]).click()
    await page.locator("[data-proof=good]").wait_for()
    await look("proof")
    await go(page, f"#/r/{finished.code}?at=30")
    await page.locator("[data-replay=ready] .five-towers").wait_for()
    await look("replay")
    assert left == {}


async def go(page: Page, hash_: str) -> None:
    await page.evaluate("(hash) => { location.hash = hash }", hash_)


async def see_table(page: Page, table: Running) -> None:
    await go(page, f"#/r/{table.room.code}")
    await at_table(page)
    await page.locator("[data-fit=now]").first.click()
    impossible = page.locator("[data-fit=no]")
    if await impossible.count():
        # It is greyed out, and says why when it is pressed all the same.
        await impossible.first.click(force=True)
        await expect(page.locator(".why")).not_to_be_empty()


async def test_a_language_is_chosen_at_once_and_remembered(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url)
    await page.get_by_role("button", name="Settings").click()
    assert sorted(OWN_NAMES) == sorted(LANGUAGES)
    for language, own_name in OWN_NAMES.items():
        await page.get_by_role("button", name=own_name).click()
        await expect(page.locator("html")).to_have_attribute("lang", language)
        title = catalogue(language)["settings.title"][0]
        await expect(page.locator("dialog h2")).to_have_text(title)
    await page.reload()
    await page.get_by_role("heading", name=catalogue(language)["home.title"][0]).wait_for()


async def test_the_log_of_a_running_game_changes_its_language(
    shared: ServerProcess, visitors: Visitors
) -> None:
    table = await set_table(shared.url, moves=2)
    page = await visitors.visit(
        f"{shared.url}#/r/{table.room.code}", guest=table.guest, settings={"language": "de"}
    )
    await Player(page).move()
    log = page.get_by_role("log").first
    await expect(log).to_contain_text(catalogue("de")["log.sealed"][0])
    await page.keyboard.press(",")
    await page.get_by_role("button", name="English").click()
    await dismiss(page)
    await expect(log).to_contain_text(catalogue("en")["log.sealed"][0])
    assert await left_over(page, "en") == []
    await expect(log).not_to_contain_text(catalogue("de")["log.sealed"][0])
