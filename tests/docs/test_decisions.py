"""Decisions are one page each: the context, the choice, what it costs, and what would change it."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, spans
from tests.docs.test_architecture import PATH, exists

FOLDER = ROOT / "docs/decisions"
PAGES = sorted(FOLDER.glob("0*.md"))
LINES_MAX = 25
COLUMNS_MAX = 150
MODULE_OF_NPM = "towerhall-client/json"
PARTS = ("Context", "Choice", "Cost", "What would change our mind")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name[:4])
def test_a_page_is_short_and_says_all_four_things_in_order(page: Path) -> None:
    text = page.read_text()
    assert len(text.splitlines()) <= LINES_MAX
    assert max(map(len, text.splitlines())) <= COLUMNS_MAX
    said = re.findall(r"^\*\*([A-Z][\w ]+)\.\*\*|^## (.+)$", text, re.MULTILINE)
    said = [one or other for one, other in said]
    assert [each for each in said if each in PARTS] == list(PARTS)


def test_numbers_are_their_own_and_stand_in_the_title() -> None:
    numbers = [page.name[:4] for page in PAGES]
    assert len(numbers) == len(set(numbers)) > 40
    for page in PAGES:
        assert page.read_text().startswith(f"# {int(page.name[:4])}. "), page.name


def test_every_path_that_is_named_exists() -> None:
    named = {(page.name, path) for page in PAGES for path in spans(page.read_text())}
    paths = {(name, path) for name, path in named if PATH.fullmatch(path)}
    assert len(paths) > 30
    missing = sorted(path for _, path in paths if not exists(path))
    assert missing == [MODULE_OF_NPM]


def test_the_label_of_a_link_is_the_number_of_its_page() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    links = [
        (path.name, *found)
        for path in pages
        for found in re.findall(r"\[(\d{4})\]\([^)]*?(\d{4})-[^)]*\)", path.read_text())
    ]
    assert len(links) > 3
    assert [link for link in links if link[1] != link[2]] == []
