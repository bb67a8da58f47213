"""Which browser tests `make test` runs; `make browser` runs all of them, and takes its time.

One of each kind is here: whatever breaks the page as a whole is seen by every run of all tests.
Whoever names a file or a test gets what was named.
"""

from pathlib import Path

import pytest

ALWAYS = {
    "test_accessibility.py": (
        "test_axe_finds_nothing[lobby]",
        "test_axe_finds_nothing[building]",
        "test_axe_finds_nothing[replay]",
        "test_axe_sees_what_is_wrong",
    ),
    "test_bad_input.py": (
        "test_an_unknown_room[#/r/AAAAAA]",
        "test_a_full_room_can_be_watched",
        "test_an_expired_token_becomes_a_new_guest_of_the_same_name",
        "test_a_page_that_is_too_old_for_the_server",
        "test_a_store_that_is_down_pauses_the_table",
    ),
    "test_dropping_out.py": (
        "test_a_reload_shows_the_same_table_and_the_game_goes_on",
        "test_after_kill_9_of_the_server_the_page_is_back_by_itself",
        "test_a_move_that_the_network_swallowed_arrives_once[up]",
        "test_a_second_tab_takes_over_and_the_first_can_take_it_back",
    ),
    "test_game.py": ("test_two_people_play_a_whole_game_beside_bots",),
    "test_hostile_text.py": (
        "test_the_alarm_rings_if_a_text_becomes_markup",
        "test_hostile_names_and_chat_are_text",
    ),
    "test_keyboard.py": (
        "test_from_the_address_into_a_game_by_tab_and_enter",
        "test_the_question_mark_lists_all_keys",
    ),
    "test_languages.py": ("test_every_screen_speaks_the_language[bg]",),
    "test_loading.py": (
        "test_lobby_and_five_towers_are_small",
        "test_the_first_paint_waits_for_no_socket_and_no_answer",
        "test_the_policy_is_strict",
        "test_complaints_are_heard",
    ),
    "test_people.py": ("test_giving_up_is_asked_twice_and_done_once",),
    "test_proof.py": (
        "test_check_the_shuffle_shows_a_tick_for_everything",
        "test_a_changed_record_gets_a_cross[swap_first_cards-draws]",
    ),
    "test_replay.py": ("test_a_link_to_a_move_shows_that_move_to_somebody_else",),
    "test_room.py": ("test_a_game_ends_when_all_who_play_want_it",),
    "test_table.py": (
        "test_play_now_leads_into_a_running_game_by_one_click",
        "test_a_build_is_planned_undone_and_shows_its_score",
    ),
    "test_touch.py": ("test_create_and_play_by_taps",),
}


def is_always(nodeid: str) -> bool:
    path, _, name = nodeid.partition("::")
    return name in ALWAYS.get(Path(path).name, ())


def asked_for_all(config: pytest.Config) -> bool:
    """Whether nobody has named tests of the browser."""
    return not any("browser" in argument for argument in config.args)
