"""What is rarely run in the browser is there, and something else of its kind is always run."""

from tests.browser.catalogues import LANGUAGES
from tests.browser.rarely import RARELY
from tests.browser.test_accessibility import ON_PHONES

THERE = {
    "test_accessibility.py": {
        f"test_axe_finds_nothing_on_a_phone[{screen.__name__}]" for screen in ON_PHONES
    },
    "test_languages.py": {
        f"test_every_screen_speaks_the_language[{language}]" for language in LANGUAGES
    },
}


def test_of_each_kind_some_are_always_run() -> None:
    assert RARELY.keys() == THERE.keys()
    for file, names in RARELY.items():
        assert set(names) < THERE[file], file
