"""Which tests `make test` leaves to other targets, because others of their kind always run.

A test that is named, by itself or by its folder, always runs. So do all with TOWERHALL_TEST_LONG.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.examples import is_long

FAULTS: Final = (
    "all_gone_back",
    "cluster_confirmed",
    "cluster_lag",
    "cluster_primary_killed",
    "connect_storm",
    "hostile_frames",
    "hung_command",
    "log_gone",
    "node_paused",
    "poison",
    "replica_failover",
    "rolling_restart",
    "sentinel_confirmed",
    "sentinel_failover",
    "slow_connections",
    "slow_readers",
    "store_cut",
    "store_full",
    "tail_lost",
    "timers",
)
"""Parts of the fault suite that `make faults` alone runs."""
IN_PROGRAMS: Final = {
    "test_short.py": tuple(f"test_a_short_run_is_clean[{part}]" for part in FAULTS),
    # `make bench` runs these before it measures.
    "test_bench.py": (
        "test_rooms_search_beside_a_load_and_only_when_they_are_told_to",
        "test_a_crowd_chats_beside_a_load_and_only_when_it_is_told_to",
        "test_a_repeat_plays_all_windows_on_both_servers",
        "test_frames_of_the_board_are_measured",
        "test_a_long_log_is_measured_against_a_short_one",
        "test_a_load_without_spare_tables_fails_when_a_game_ends",
        "test_moves_on_three_primaries_are_measured_against_one_engine",
    ),
    # They install packages by npm. `make bench peers` runs them before it measures.
    "test_peers.py": (
        "test_each_peer_plays_the_same_game_as_its_own_clients_see_it[colyseus]",
        "test_each_peer_plays_the_same_game_as_its_own_clients_see_it[boardgame_io]",
        "test_all_peers_are_measured_by_turns",
    ),
    "test_nodes.py": ("test_players_sit_on_one_process_or_across_both_as_wanted",),
}

SEVERAL: Final = "eventlog/several/"
ON_SEVERAL: Final = (
    "test_commits_are_numbered_without_gaps_and_stamped_in_order",
    "test_a_repeated_append_gets_its_first_answer_even_after_later_ones",
    "test_of_two_moves_for_one_seq_one_conflicts",
    "test_a_move_repeated_after_a_lost_answer_is_appended_once",
    "test_the_lobby_shows_the_rooms_of_all_shards",
    "test_a_room_ends_with_all_that_belongs_to_it",
    "test_a_lost_tail_is_healed_with_its_original_stamps",
    "test_closing_waits_for_what_is_under_way",
    "test_other_servers_hear_each_entry_with_all_that_the_log_holds",
    "test_other_servers_hear_chat_and_hints_and_who_watches",
)
"""Tests of the log that `make test` also runs on stores of several engines."""
FAILOVERS: Final = (
    "test_a_paused_primary_is_replaced_and_cannot_fork_a_log",
    "test_a_listener_finds_the_new_primary",
    "test_a_shard_is_heard_at_its_new_primary[paused-cluster]",
    "test_slots_move_as_each_engine_does_it",
    "test_it_is_known_which_rooms_have_to_wait_and_seats_are_given_in_others",
)
"""Tests of failovers that only run if they are named: a killed primary is always tried."""
RIGHTS: Final = (
    "deploy/test_store_rights.py",
    "test_it_suffices_on_stores_of_several_engines[sentinel]",
)
"""Rights behind sentinels are those on one engine, but for one command more."""


ENGINES: Final = (
    "regulars/test_stores.py",
    "test_games_are_applied_rebuilt_and_erased_on_stores_of_several_engines",
)
"""That all keys of a call share a slot is always tried."""
NEEDS_MORE: Final = {
    "deploy/test_watching.py": ("test_promtool_reads_every_expression",),
    "deploy/test_kubernetes.py": ("test_the_schemas_of_kubernetes_take_every_document",),
}
"""Tests that need a program or a package which `make test` does not install."""


def is_left_out(nodeid: str, arguments: Sequence[str]) -> bool:
    """Whether a test of the programs does not run if pytest has these arguments."""
    path, _, name = nodeid.partition("::")
    if is_long():
        return False
    kind = name.partition("[")[0]
    if SEVERAL in path and not any("eventlog" in each for each in arguments):
        if path.endswith("test_same.py"):
            return kind not in ON_SEVERAL
        return bool({kind, name} & set(FAILOVERS))
    if path.endswith(RIGHTS[0]) and name == RIGHTS[1]:
        return not any("deploy" in each for each in arguments)
    if path.endswith(ENGINES[0]) and kind == ENGINES[1]:
        return not any("regulars" in each for each in arguments)
    if name in NEEDS_MORE.get(path.removeprefix("tests/"), ()):
        return not any("deploy" in each for each in arguments)
    is_rare = "programs/" in path and name in IN_PROGRAMS.get(Path(path).name, ())
    return is_rare and not any("programs" in each for each in arguments)
