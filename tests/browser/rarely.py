"""Which browser tests `make test` leaves to `make browser`: more of what others try as well.

Whoever names a file or a test gets what was named.
"""

from pathlib import Path
from typing import Final

import pytest

SCREENS: Final = (
    "waiting",
    "creating",
    "settings",
    "keys",
    "rules",
    "invitation",
    "bidding",
    "result",
    "record",
    "nowhere",
    "replay",
)
PHONE_SCREENS: Final = ("lobby", "waiting", "bidding", "result", "replay")
LANGUAGES: Final = ("de", "en", "es", "fr", "it", "nl")
"""All but the one with other letters, in which English words stand out most."""
REPLAY: Final = "test_the_replay_shows_at_each_move_what_the_record_says"
SIZES: Final = ("lying", "desk")
GIVING_UP: Final = (
    "test_an_end_without_a_result_is_asked_for_and_then_told_at_the_table",
    "test_resigning_from_a_game_of_two_ends_it_and_the_other_player_wins",
)
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
            for language in ("bg", *LANGUAGES)
        ],
        f"{REPLAY}[all]",
        f"{REPLAY}[some]",
        "test_a_die_that_was_changed_gets_a_cross[change_a_die]",
        "test_a_die_that_was_changed_gets_a_cross[change_the_opening]",
        "test_a_reload_while_a_block_is_held_shows_the_same_towers",
        "test_a_watcher_sees_each_block_and_is_asked_nothing",
        "test_after_kill_9_of_the_server_the_builder_goes_on",
        "test_checking_the_dice_shows_a_tick_for_everything",
    ),
    "test_drawing.py": (
        "test_a_collapse_tumbles_and_comes_to_rest",
        "test_axe_finds_nothing_on_the_board[light]",
        "test_refusals_are_told_in_words",
        "test_the_winners_tower_has_its_moment_without_motion_too",
    ),
    "test_dropping_out.py": (
        "test_a_move_that_the_network_swallowed_arrives_once[up]",
        "test_a_network_that_is_away_for_a_while",
    ),
    "test_game.py": ("test_two_people_play_a_whole_game_beside_bots",),
    "test_games.py": (
        *[f"test_a_hall_of_many_games_fits_every_screen[{size}]" for size in SIZES],
        "test_a_room_offers_the_levels_of_its_game",
        "test_lists_name_the_game_of_each_room",
    ),
    "test_giving_up.py": tuple(f"{test}[nikitin_towers]" for test in GIVING_UP),
    "test_grid.py": (
        "test_turns_in_the_grid_by_keyboard[all]",
        "test_without_webgl_the_grid_is_shown_and_played",
    ),
    "test_identity.py": ("test_a_carried_seat_brings_the_key_of_its_private_room_along",),
    "test_lesson.py": (
        "test_the_lesson_is_played_by_fingers_on_a_phone",
        "test_the_lesson_is_played_by_keys_as_its_texts_say",
        "test_the_lesson_of_blocks_is_played_by_fingers",
    ),
    "test_links.py": (
        "test_another_link_and_another_tab_are_asked_about_as_well",
        "test_whoever_confirms_is_not_asked_again",
    ),
    "test_mouse.py": (
        "test_a_whole_game_by_mouse",
        "test_the_view_turns_zooms_and_goes_from_tower_to_tower",
    ),
    "test_newcomer_builds.py": ("test_a_newcomer_learns_and_builds_a_first_tower",),
    "test_people.py": ("test_muting_goes_by_the_person_and_not_by_the_name",),
    "test_plain_games.py": (
        "test_a_game_without_pictures_is_played_replayed_and_checked[tile_duel]",
        "test_axe_finds_nothing_on_a_plain_board[phone]",
    ),
    # What a check finds is tried by the client's own tests.
    "test_proof.py": (
        "test_a_changed_record_gets_a_cross[change_a_move-chain]",
        "test_a_changed_record_gets_a_cross[change_the_secret-commitment]",
        "test_a_changed_record_gets_a_cross[change_a_nonce-nonces]",
        "test_a_changed_record_gets_a_cross[change_the_result-result]",
    ),
    "test_replay.py": ("test_fast_scrubbing_shows_the_cards_of_the_last_move_only",),
    "test_screens.py": (
        *[f"test_the_table_stays_where_it_is_through_all_phases[{size}]" for size in SIZES],
        *[
            f"test_the_board_of_nikitin_towers_stays_where_it_is_and_is_in_reach[{size}]"
            for size in SIZES
        ],
    ),
    "test_side_by_side.py": ("test_both_games_are_played_from_one_hall",),
    "test_table.py": ("test_cards_fly_unless_somebody_wants_less_motion",),
    "test_telling.py": tuple(
        f"test_the_log_says_you_in_the_language[{language}]" for language in LANGUAGES
    ),
    "test_touch.py": ("test_turns_by_finger_on_a_phone[all]", "test_the_grid_fits_a_phone"),
}


def is_rare(nodeid: str) -> bool:
    path, _, name = nodeid.partition("::")
    return name in RARELY.get(Path(path).name, ())


def asked_for_all(config: pytest.Config) -> bool:
    """Whether nobody has named tests of the browser."""
    return not any("browser" in argument for argument in config.args)
