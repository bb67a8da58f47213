"""Which tests `make test` leaves to other targets, because others of their kind always run.

A test that is named, by itself or by its folder, always runs: so seeded bugs may name rare ones.
With TOWERHALL_TEST_LONG all of them run.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.examples import is_long

FAULTS: Final = (
    "all_gone_back",
    "cluster_confirmed",
    "cluster_lag",
    "cluster_primary_killed",
    "connect_storm",
    "drops",
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
    "store_killed",
    "tail_lost",
    "timers",
)
"""Parts of the fault suite that `make faults` alone runs."""
SAME: Final = "eventlog/several/test_same.py"
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
KILLED: Final = "test_a_server_killed_in_mid_game_loses_nothing_and_clients_resume_by_themselves"
RARELY: Final[Mapping[str, Sequence[str]]] = {
    # That the commands are right, locked and complete is always read from the Dockerfile.
    "deploy/test_image.py": (
        "test_it_serves_by_itself_and_writes_to_its_data_folder_only",
        "test_it_serves_with_the_variables_of_the_compose_file",
        "test_without_a_key_it_says_how_to_make_one",
    ),
    # What suffices on one engine suffices on the other, and on several but for a few commands more.
    "deploy/test_store_rights.py": (
        "test_it_suffices_for_games_the_lobby_operators_and_quick_matches[redis]",
        "test_it_suffices_on_stores_of_several_engines",
    ),
    # A cluster, all of whose primaries are copied, is always tried.
    "cli/test_backup_of_several.py": ("test_a_store_behind_sentinels_is_copied_from_a_replica",),
    # That storage which is not durable is refused is always tried, with one such setting.
    "cli/test_store_promises.py": (
        "test_durable_storage_can_be_required[valkey-settings0-set appendonly yes]",
    ),
    # They need a program and a package that `make test` does not install.
    "deploy/test_kubernetes.py": ("test_the_schemas_of_kubernetes_take_every_document",),
    "deploy/test_watching.py": ("test_promtool_reads_every_expression",),
    # Servers that are killed in mid-game are always tried, and so are clients that come back.
    "end_to_end/test_survival.py": (f"{KILLED}[towerhall.v1.json]",),
    "end_to_end/test_topology.py": (
        "test_all_servers_restarted_one_by_one_lose_nothing_of_a_game",
    ),
    # A crew of workers is always tried, and so are search processes of one server.
    "end_to_end/test_searches.py": ("test_each_worker_of_a_crew_has_search_processes_of_its_own",),
    "end_to_end/test_workers.py": ("test_watchers_at_different_workers_see_and_count_the_same",),
    # A primary that is killed is always tried.
    "eventlog/several/test_failover.py": (
        "test_a_paused_primary_is_replaced_and_cannot_fork_a_log",
        "test_a_listener_finds_the_new_primary",
        "test_it_is_known_which_rooms_have_to_wait_and_seats_are_given_in_others",
    ),
    "eventlog/several/test_slots.py": (
        "test_a_shard_is_heard_at_its_new_primary[paused-cluster]",
        "test_slots_move_as_each_engine_does_it",
    ),
    # That all keys of a call share a slot is always tried.
    "regulars/test_stores.py": (
        "test_games_are_applied_rebuilt_and_erased_on_stores_of_several_engines",
    ),
    "programs/faults/test_short.py": tuple(f"test_a_short_run_is_clean[{part}]" for part in FAULTS),
    # Exact arithmetic takes long for high towers: lower ones are always tried, and so are these by
    # the fast solver.
    "games/nikitin_towers/test_nt5_collapse.py": (
        "test_nt5_worked_examples_are_those_of_exact_arithmetic[1]",
        "test_nt5_worked_examples_are_those_of_exact_arithmetic[5]",
    ),
    # `make bench` runs these before it measures.
    "programs/bench/test_bench.py": (
        "test_rooms_at_the_pace_of_people_are_measured_with_all_that_happens_meanwhile",
        "test_rooms_search_beside_a_load_and_only_when_they_are_told_to",
        "test_a_crowd_chats_beside_a_load_and_only_when_it_is_told_to",
        "test_a_repeat_plays_all_windows_on_both_servers",
        "test_frames_of_the_board_are_measured",
        "test_a_long_log_is_measured_against_a_short_one",
        "test_a_load_without_spare_tables_fails_when_a_game_ends",
        "test_moves_on_three_primaries_are_measured_against_one_engine",
    ),
    # This law asks for every command of long games. It always judges the games of the service, and
    # the other laws always judge this game.
    "programs/bench/test_bid_game.py": (
        "test_the_bid_game_keeps_the_law[accepted_commands_lead_where_an_offer_leads]",
    ),
    # They install packages by npm. `make bench peers` runs them before it measures.
    "programs/bench/test_peers.py": (
        "test_each_peer_plays_the_same_game_as_its_own_clients_see_it[colyseus]",
        "test_each_peer_plays_the_same_game_as_its_own_clients_see_it[boardgame_io]",
        "test_all_peers_are_measured_by_turns",
    ),
    "programs/bench/test_nodes.py": ("test_players_sit_on_one_process_or_across_both_as_wanted",),
}
"""By file, what runs if its folder is named: a test with all of its cases, or single cases."""


def is_left_out(nodeid: str, arguments: Sequence[str]) -> bool:
    """Whether a test does not run if pytest has these arguments."""
    file, _, name = nodeid.removeprefix("tests/").partition("::")
    folder = file.partition("/")[0]
    if is_long() or any(folder in each for each in arguments):
        return False
    kind = name.partition("[")[0]
    if file == SAME:
        return kind not in ON_SEVERAL
    return bool({kind, name} & set(RARELY.get(file, ())))
