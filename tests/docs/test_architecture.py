"""ARCHITECTURE.md is one page, its paths exist, and it answers what newcomers ask."""

import re
from pathlib import Path
from xml.etree import ElementTree

from tests.docs.pages import ROOT, chapter, rows, spans, text

PAGE = text("ARCHITECTURE.md")
QUESTIONS = text("docs/questions.md")
SERVER = ROOT / "server/towerhall_server"
LINES_MAX = 90
MOVE = "One move in ten files"
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+|\w+\.(?:py|md|lua)")


def paths(page: str) -> list[str]:
    return [span for span in spans(page) if PATH.fullmatch(span)]


def exists(path: str) -> bool:
    return (ROOT / path).exists() or (SERVER / path).exists()


def test_it_is_one_page_with_one_picture() -> None:
    assert len(PAGE.splitlines()) <= LINES_MAX
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE)
    drawing = ElementTree.parse(ROOT / picture).getroot()
    assert drawing.find("{*}title") is not None


def test_every_path_exists() -> None:
    found = paths(PAGE) + paths(QUESTIONS)
    assert len(found) > 50
    assert [path for path in found if not exists(path)] == []


def test_a_move_takes_ten_files_at_most() -> None:
    steps = re.findall(r"^\d+\. `([^`]+)`", chapter(PAGE, MOVE), re.MULTILINE)
    assert 5 <= len(steps) == len(set(steps)) <= 10
    assert all(Path(step).suffix in (".py", ".lua") for step in steps)


def test_every_package_of_the_server_is_named() -> None:
    named = " ".join(spans(chapter(PAGE, "Packages"))).split()
    packages = {path.parent.name for path in SERVER.glob("*/__init__.py")}
    assert packages - {*named} == set()


def test_twenty_rows_say_where_to_change_what() -> None:
    assert len(rows(chapter(PAGE, "Where to change what"))) == 20


def test_twelve_questions_are_answered_by_paths_and_packages_of_that_page() -> None:
    questions = rows(QUESTIONS)
    assert len(questions) == 12
    known = set(spans(PAGE))
    for question, answer in questions:
        assert question.endswith("?")
        assert spans(answer)
        assert set(spans(answer)) <= known, question
