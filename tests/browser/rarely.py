"""Which browser tests `make test` leaves to `make browser`: more of what others try as well.

Whoever names a file or a test gets what was named.
"""

from pathlib import Path
from typing import Final

import pytest

SCREENS: Final = (
    "creating",
    "settings",
    "keys",
    "rules",
    "invitation",
    "bidding",
    "result",
    "record",
    "nowhere",
)
PHONE_SCREENS: Final = ("lobby", "waiting", "bidding", "result", "replay")
LANGUAGES: Final = ("en", "es", "fr", "it", "nl")
RARELY: Final = {
    "test_accessibility.py": (
        *[f"test_axe_finds_nothing[{screen}]" for screen in SCREENS],
        *[f"test_axe_finds_nothing_on_a_phone[{screen}]" for screen in PHONE_SCREENS],
    ),
    "test_languages.py": tuple(
        f"test_every_screen_speaks_the_language[{language}]" for language in LANGUAGES
    ),
}


def is_rare(nodeid: str) -> bool:
    path, _, name = nodeid.partition("::")
    return name in RARELY.get(Path(path).name, ())


def asked_for_all(config: pytest.Config) -> bool:
    """Whether nobody has named tests of the browser."""
    return not any("browser" in argument for argument in config.args)
