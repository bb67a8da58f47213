"""The words of the page, read from its sources."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Final

from towerhall_server.game import discover

SOURCES: Final = Path(__file__).resolve().parents[2] / "clients" / "web" / "src"
FOLDERS: Final = (
    "words",
    "away/words",
    "proof/words",
    "live/words",
    "learn/words",
    "account/words",
    "playground/words",
    "people/words",
    "games/*/words",
    "games/*/lesson",
)
LANGUAGES: Final = ("en", "de", "bg", "es", "fr", "it", "nl")

ENTRY: Final = re.compile(r'^  "?([\w.]+)"?: (.+),$', re.MULTILINE)
STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
PLACE: Final = re.compile(r"\\\{\w+\\\}")

NAMELESS: Final = frozenset(
    name.replace("_", " ").capitalize()
    for name in discover()
    if not (SOURCES / "games" / name).is_dir()
)
"""Games without a folder in the page are called by their identifiers, in every language."""


@cache
def catalogue(language: str) -> dict[str, list[str]]:
    """All texts of a language by key; a key with plurals has several."""
    found = {}
    sources = [path for each in FOLDERS for path in SOURCES.glob(f"{each}/{language}.ts")]
    for source in sources:
        for key, value in ENTRY.findall(source.read_text()):
            found[key] = [str(json.loads(text)) for text in STRING.findall(value)]
    assert len(found) > 300
    return found


@cache
def english_only(language: str) -> re.Pattern[str]:
    """Matches a whole text that is English and should not be in that language."""
    other = catalogue(language)
    wrong = {
        text
        for key, texts in catalogue("en").items()
        for text in texts
        if text not in other.get(key, ()) and re.search(r"[a-z]{3}", re.sub(r"\{\w+\}", "", text))
    } - {text for texts in other.values() for text in texts}
    return re.compile("|".join(PLACE.sub(".+", re.escape(text)) for text in sorted(wrong)))
