"""What is rarely run in the browser is there, and something else of its kind is always run."""

from tests.browser.catalogues import LANGUAGES
from tests.browser.rarely import RARELY
from tests.browser.test_accessibility import ON_PHONES, SCREENS

THERE = {
    "test_axe_finds_nothing": {screen.__name__ for screen in SCREENS},
    "test_axe_finds_nothing_on_a_phone": {screen.__name__ for screen in ON_PHONES},
    "test_every_screen_speaks_the_language": set(LANGUAGES),
}


def test_of_each_kind_some_are_always_run() -> None:
    rare: dict[str, set[str]] = {}
    for name in (name for names in RARELY.values() for name in names):
        kind, _, which = name.removesuffix("]").partition("[")
        rare.setdefault(kind, set()).add(which)
    assert rare.keys() == THERE.keys()
    for kind, some in rare.items():
        assert some < THERE[kind], kind
