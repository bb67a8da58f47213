"""The texts of the documentation, for the tests that hold them to their word."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
COMMANDED: Final = ("README.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "docs/*.md")
"""Pages whose commands are for readers to type."""


def text(name: str) -> str:
    return (ROOT / name).read_text()


def commanded() -> dict[str, str]:
    """Pages with commands, by name."""
    paths = (path for pattern in COMMANDED for path in sorted(ROOT.glob(pattern)))
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}


def blocks(page: str, language: str = "") -> list[str]:
    """Fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def spans(page: str) -> list[str]:
    """Code inside lines, without fenced blocks."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", prose)


def chapter(page: str, title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def rows(page: str) -> list[list[str]]:
    """The rows of all tables, without heads and rulers."""
    lines = page.splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line, following in zip(lines, [*lines[1:], ""], strict=True)
        if line.startswith("|") and not line.startswith("|--") and not following.startswith("|--")
    ]


def targets() -> set[str]:
    """The targets of the Makefile."""
    heads = re.findall(r"^([a-z][a-z -]*):(?!=)", text("Makefile"), re.MULTILINE)
    return {name for head in heads for name in head.split()}
