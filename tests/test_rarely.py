"""What is rarely run is there, and something else of its kind is always run."""

import re
from collections.abc import Iterable
from typing import Final

import pytest

from tests.browser.catalogues import LANGUAGES
from tests.browser.rarely import GIVING_UP
from tests.browser.rarely import RARELY as RARE_IN_BROWSERS
from tests.browser.test_accessibility import ON_PHONES, SCREENS
from tests.browser.toys_server import TOYS
from tests.conftest import HERE, ON_BOTH_ENGINES, ON_ONE_ENGINE
from tests.eventlog.several import test_same
from tests.examples import LONG
from tests.programs.faults.__main__ import PARTS
from tests.rarely import FAULTS, ON_SEVERAL, RARELY, is_left_out

THERE = {
    "test_axe_finds_nothing": {screen.__name__ for screen in SCREENS},
    "test_axe_finds_nothing_on_a_phone": {screen.__name__ for screen in ON_PHONES},
    "test_every_screen_speaks_the_language": set(LANGUAGES),
    "test_the_log_says_you_in_the_language": set(LANGUAGES),
    "test_axe_finds_nothing_on_the_board": {"light", "dark"},
    "test_turns_in_the_grid_by_keyboard": {"some", "all"},
    "test_turns_by_finger_on_a_phone": {"some", "all"},
    "test_a_changed_record_gets_a_cross": {
        "swap_first_cards-draws",
        "change_a_move-chain",
        "change_what_is_told-facts",
        "change_the_secret-commitment",
        "change_a_nonce-nonces",
        "change_the_result-result",
    },
    "test_a_move_that_the_network_swallowed_arrives_once": {"up", "down"},
    "test_a_hall_of_many_games_fits_every_screen": {"desk", "upright", "lying"},
    "test_the_table_stays_where_it_is_through_all_phases": {"desk", "upright", "lying"},
    "test_the_board_of_nikitin_towers_stays_where_it_is_and_is_in_reach": {
        "desk",
        "upright",
        "lying",
    },
    "test_a_game_without_pictures_is_played_replayed_and_checked": set(TOYS),
    "test_axe_finds_nothing_on_a_plain_board": {"desk", "phone"},
    **{test: {"five_towers", "nikitin_towers"} for test in GIVING_UP},
}
SIBLINGS: Final = {
    "test_a_collapse_tumbles_and_comes_to_rest":
        "nikitin/test_drawing.py::test_with_less_motion_a_block_is_where_it_belongs_at_once",
    "test_a_room_offers_the_levels_of_its_game":
        "test_games.py::test_the_chosen_game_is_played_at_once_and_by_quick_match_and_in_rooms",
    "test_another_link_and_another_tab_are_asked_about_as_well":
        "test_links.py::test_a_link_asks_before_it_replaces_somebody_and_names_both",
    "test_cards_fly_unless_somebody_wants_less_motion":
        "test_table.py::test_a_card_is_dragged_onto_its_tower_and_onto_no_other",
    "test_lists_name_the_game_of_each_room":
        "test_games.py::test_every_game_is_shown_with_a_picture_and_with_what_fits_it",
    "test_muting_goes_by_the_person_and_not_by_the_name":
        "test_people.py::test_somebody_is_muted_and_heard_again_by_one",
    "test_whoever_confirms_is_not_asked_again":
        "test_links.py::test_a_link_asks_before_it_replaces_somebody_and_names_both",
    "test_a_carried_seat_brings_the_key_of_its_private_room_along":
        "test_room.py::test_a_seat_is_carried_to_another_device",
    "test_a_network_that_is_away_for_a_while":
        "test_dropping_out.py::test_after_kill_9_of_the_server_the_page_is_back_by_itself",
    "test_a_die_that_was_changed_gets_a_cross":
        "test_proof.py::test_a_changed_record_gets_a_cross",
    "test_a_newcomer_learns_and_builds_a_first_tower":
        "test_newcomer.py::test_a_newcomer_learns_and_plays_a_first_game",
    "test_a_reload_while_a_block_is_held_shows_the_same_towers":
        "test_dropping_out.py::test_a_reload_shows_the_same_table_and_the_game_goes_on",
    "test_a_watcher_sees_each_block_and_is_asked_nothing":
        "test_dropping_out.py::test_somebody_without_a_seat_watches",
    "test_a_whole_game_by_mouse":
        "nikitin/test_mouse.py::test_a_block_is_placed_and_the_next_one_is_dragged_and_turned",
    "test_after_kill_9_of_the_server_the_builder_goes_on":
        "test_dropping_out.py::test_after_kill_9_of_the_server_the_page_is_back_by_itself",
    "test_both_games_are_played_from_one_hall":
        "test_games.py::test_the_chosen_game_is_played_at_once_and_by_quick_match_and_in_rooms",
    "test_checking_the_dice_shows_a_tick_for_everything":
        "test_proof.py::test_checking_the_draws_shows_a_tick_for_everything",
    "test_every_screen_of_nikitin_towers_speaks_the_language":
        "test_languages.py::test_every_screen_speaks_the_language",
    "test_fast_scrubbing_shows_the_cards_of_the_last_move_only":
        "test_replay.py::test_the_replay_at_each_move_equals_what_the_table_showed",
    "test_refusals_are_told_in_words":
        "test_table.py::test_an_impossible_bid_says_why",
    "test_the_grid_fits_a_phone":
        "test_touch.py::test_other_screens_fit_a_phone",
    "test_the_lesson_is_played_by_keys_as_its_texts_say":
        "test_lesson.py::test_the_lesson_is_played_by_keys_and_goes_on_after_a_break",
    "test_the_lesson_is_played_by_fingers_on_a_phone":
        "test_lesson.py::test_the_lesson_is_played_by_keys_and_goes_on_after_a_break",
    "test_the_lesson_of_blocks_is_played_by_fingers":
        "test_touch.py::test_create_and_play_by_taps",
    "test_the_replay_shows_at_each_move_what_the_record_says":
        "test_replay.py::test_the_replay_at_each_move_equals_what_the_table_showed",
    "test_the_view_turns_zooms_and_goes_from_tower_to_tower":
        "nikitin/test_touch.py::test_a_finger_drags_the_block_and_two_turn_and_zoom_the_view",
    "test_the_winners_tower_has_its_moment_without_motion_too":
        "test_moments.py::test_the_end_names_the_own_place_first_and_leaves_the_table",
    "test_two_people_play_a_whole_game_beside_bots":
        "test_newcomer.py::test_a_newcomer_learns_and_plays_a_first_game",
    "test_without_webgl_the_grid_is_shown_and_played":
        "nikitin/test_grid.py::test_turns_in_the_grid_by_keyboard",
}  # fmt: skip
"""What always runs in place of a rare test: the same with the other game, by another hand, or a
part of it."""


def test_of_each_kind_some_are_always_run() -> None:
    rare: dict[str, set[str]] = {}
    for name in (name for names in RARE_IN_BROWSERS.values() for name in names):
        kind, _, which = name.removesuffix("]").partition("[")
        rare.setdefault(kind, set()).add(which)
    assert rare.keys() == THERE.keys() | SIBLINGS.keys()
    for kind in THERE:
        assert rare[kind] < THERE[kind], kind
    for rare_one, sibling in SIBLINGS.items():
        file, _, name = sibling.partition("::")
        assert f"async def {name}(" in (HERE / "browser" / file).read_text(), rare_one
        assert name not in SIBLINGS, sibling


def test_what_one_engine_tries_is_there_and_the_log_is_tried_on_both() -> None:
    assert ON_BOTH_ENGINES.is_file()
    assert all((HERE / folder).is_dir() for folder in ON_ONE_ENGINE)
    assert not {"eventlog", "store"} & set(ON_ONE_ENGINE)


SEVERAL: Final = "tests/eventlog/several"


BESIDE: Final = {"regulars/test_stores.py": "regulars/test_consumer.py"}
"""For a file of which nothing else is there, a sibling of which all always runs."""


def written_in(file: str) -> set[str]:
    return set(re.findall(r"^(?:async )?def (test_\w+)", (HERE / file).read_text(), re.M))


def kinds_of(names: Iterable[str]) -> set[str]:
    return {name.partition("[")[0] for name in names}


def test_most_parts_of_the_fault_suite_run_in_it_alone() -> None:
    assert set(FAULTS) < set(PARTS)
    assert len(set(FAULTS)) == len(FAULTS)


@pytest.mark.parametrize("file", RARELY)
def test_what_runs_rarely_is_there_and_more_of_its_file_always_runs(file: str) -> None:
    written = written_in(file)
    assert kinds_of(RARELY[file]) <= written
    assert (written | written_in(BESIDE.get(file, file))) - set(RARELY[file])


def test_a_rare_test_runs_if_it_or_its_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LONG, raising=False)
    (rare,) = RARELY["programs/bench/test_nodes.py"]
    test = f"tests/programs/bench/test_nodes.py::{rare}"
    assert is_left_out(test, ["tests"])
    assert not is_left_out(f"tests/live/test_nodes.py::{rare}", ["tests"])
    assert not is_left_out(f"{test}_too", ["tests"])
    for argument in (test, "tests/programs", "tests/programs/bench"):
        assert not is_left_out(test, [argument])
    monkeypatch.setenv(LONG, "1")
    assert not is_left_out(test, ["tests"])


def test_a_single_case_or_all_of_a_test_may_be_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LONG, raising=False)
    slots, failover = f"{SEVERAL}/test_slots.py::", f"{SEVERAL}/test_failover.py::"
    heard = "test_a_shard_is_heard_at_its_new_primary"
    assert is_left_out(f"{slots}{heard}[paused-cluster]", ["tests"])
    assert not is_left_out(f"{slots}{heard}[killed-cluster]", ["tests"])
    assert is_left_out(f"{failover}test_a_listener_finds_the_new_primary[cluster]", ["tests"])


def test_of_the_log_on_several_engines_only_what_is_listed_always_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(LONG, raising=False)
    assert set(ON_SEVERAL) < set(vars(test_same))
    for name in (f"{ON_SEVERAL[0]}[cluster]", "test_a_deadline_is_kept_or_removed[cluster]"):
        test = f"{SEVERAL}/test_same.py::{name}"
        assert is_left_out(test, ["tests"]) == (not name.startswith(ON_SEVERAL[0]))
        assert not is_left_out(test, [SEVERAL])
