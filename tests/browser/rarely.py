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
REPLAY: Final = "test_the_replay_shows_at_each_move_what_the_record_says"
RARELY: Final = {
    "test_accessibility.py": (
        *[f"test_axe_finds_nothing[{screen}]" for screen in SCREENS],
        *[f"test_axe_finds_nothing_on_a_phone[{screen}]" for screen in PHONE_SCREENS],
    ),
    "test_languages.py": tuple(
        f"test_every_screen_speaks_the_language[{language}]" for language in LANGUAGES
    ),
    "test_around.py": (
        *[
            f"test_every_screen_of_nikitin_towers_speaks_the_language[{language}]"
            for language in ("de", *LANGUAGES)
        ],
        f"{REPLAY}[all]",
        "test_a_die_that_was_changed_gets_a_cross[change_a_die]",
        "test_a_reload_while_a_block_is_held_shows_the_same_towers",
    ),
    "test_drawing.py": ("test_axe_finds_nothing_on_the_board[light]",),
    "test_grid.py": (
        "test_turns_in_the_grid_by_keyboard[all]",
        "test_without_webgl_the_grid_is_shown_and_played",
    ),
    "test_lesson.py": ("test_the_lesson_of_blocks_is_played_by_fingers",),
    "test_mouse.py": ("test_a_whole_game_by_mouse",),
    "test_newcomer_builds.py": ("test_a_newcomer_learns_and_builds_a_first_tower",),
    "test_playground.py": ("test_the_same_step_runs_as_a_program_in_go",),
    "test_side_by_side.py": ("test_both_games_are_played_from_one_hall",),
    "test_telling.py": tuple(
        f"test_the_log_says_you_in_the_language[{language}]" for language in LANGUAGES
    ),
    "test_touch.py": ("test_turns_by_finger_on_a_phone[all]",),
}


def is_rare(nodeid: str) -> bool:
    path, _, name = nodeid.partition("::")
    return name in RARELY.get(Path(path).name, ())


def asked_for_all(config: pytest.Config) -> bool:
    """Whether nobody has named tests of the browser."""
    return not any("browser" in argument for argument in config.args)
