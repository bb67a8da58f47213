"""Other servers beside ours: that they play the same game, durably, and how ratios are judged."""

import json
import re
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest
from redis import Redis

from tests.games.lawbook import copied
from tests.programs.bench.alternating import Series
from tests.programs.bench.games.bid import GAME, BidMade, Options, State, start, view
from tests.programs.bench.load import Step, Window
from tests.programs.bench.peers.comparing import (
    COST_BAR,
    DURABLE,
    IN_MEMORY,
    OURS,
    PEERS,
    Peer,
    Plan,
    Run,
    figures,
    run_turns,
    served,
)
from tests.programs.bench.peers.installing import LOCK, NODE, SOURCES, installed
from tests.programs.bench.report import verdict
from towerhall_server.game import Seat

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="loads are pinned to cores and read /proc, which only Linux has"
)
INSTALL_SECONDS = 300
WAITED_SECONDS = 1.0
"""Players of a server that does not wait for its store would be done long before."""
NUMBERS = (345, 0, 999, 20, 7, 7, 13)
STEADY = Step("steady", moves=60, warm_up=20, rate=100)
SATURATED = Step("saturated", moves=120, warm_up=40)


def after_all() -> State:
    state = start(Options(), 4, bytes(32))
    return GAME.play(state, [BidMade(Seat(at % 4), number) for at, number in enumerate(NUMBERS)])


@pytest.mark.timeout(INSTALL_SECONDS)
@pytest.mark.parametrize("kind", ["colyseus", "boardgame_io"])
def test_each_peer_plays_the_same_game_as_its_own_clients_see_it(kind: str) -> None:
    (peer,) = (peer for peer in PEERS if peer.kind == kind and peer.durable)
    folder = installed()
    with served(peer, folder) as server, Redis.from_url(server.store_url) as redis:
        redis.client_pause(1000 * INSTALL_SECONDS, all=False)
        numbers = [str(number) for number in NUMBERS]
        command = [str(NODE), "visit.mjs", kind, server.addresses[0], *numbers]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as visit:
            while not redis.info("clients")["blocked_clients"]:
                assert visit.poll() is None, "players saw a bid before the store had it"
                sleep(0.01)
            with pytest.raises(subprocess.TimeoutExpired):
                visit.wait(timeout=WAITED_SECONDS)
            redis.client_unpause()
            seen, _ = visit.communicate()
        (stream,) = redis.scan_iter("room:*")
        stored = [fields[b"m"] for _, fields in redis.xrange(stream)]
        settings = redis.config_get("append*")
    assert json.loads(seen) == copied(view(after_all(), None))
    assert stored == [f"{at + 1} {at % 4} {n}".encode() for at, n in enumerate(NUMBERS)]
    assert (settings["appendonly"], settings["appendfsync"]) == ("yes", "always")


@pytest.mark.timeout(INSTALL_SECONDS)
def test_all_peers_are_measured_by_turns() -> None:
    warm_up = Step("warm-up", moves=40, warm_up=1)
    (turn,) = run_turns(Plan(3, 1, warm_up, Series(STEADY, 1), Series(SATURATED, 2)))
    assert turn.keys() == {peer.name for peer in PEERS}
    for peer in PEERS:
        run = turn[peer.name]
        assert (run.steady.moves, run.saturated.moves) == (40, 160)
        assert run.saturated.server_cpu > 0
        assert (run.saturated.store_cpu > 0) == peer.durable


def test_versions_are_exact_and_no_registry_is_named() -> None:
    wanted = json.loads((SOURCES / "package.json").read_text())["dependencies"]
    found = json.loads((SOURCES / LOCK).read_text())["packages"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    assert {name: found[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert all("integrity" in package for name, package in found.items() if name)
    assert not any("resolved" in package for package in found.values())


def window(us: float, latencies_us: tuple[int, ...] = (500,), others: float = 0.0) -> Window:
    return Window("any", 1000, 1.0, us / 1000, us / 4000, 0.5, others, latencies_us, 0)


def judged(ours: Window, durable: Window, memory: Window) -> dict[str, str]:
    windows = {OURS: ours, DURABLE: durable, IN_MEMORY: memory}
    turn = {peer.name: windows.get(peer.name, durable) for peer in PEERS}
    runs = {name: Run(window, window) for name, window in turn.items()}
    found = figures([runs])
    return {figure.name: verdict(figure) for figure in found if figure.unit == "x"}


def test_ours_is_judged_against_both_kinds_of_the_peer() -> None:
    slow, quick = window(100, (4000,)), window(70, (250,))
    good = judged(window(72, (300,)), slow, quick)
    assert good.pop("p99 / Colyseus, durable") == "ok"
    assert {told for told in good.values() if told} == {"ok"}
    bad = judged(window(101, (2400,)), slow, quick)
    assert {told for told in bad.values() if told} == {"MISSED"}
    assert COST_BAR == 1.0


def test_a_disturbed_run_has_no_verdict() -> None:
    found = judged(window(70, others=0.5), window(100, others=0.5), window(70, others=0.5))
    assert {told for told in found.values() if told} == {"VOID"}


def test_a_peer_runs_twice_and_ours_only_durable() -> None:
    durable = [(peer.kind, peer.durable) for peer in PEERS]
    assert len(set(durable)) == len(durable) == 5
    assert Peer(OURS, "towerhall") in PEERS
    assert all((SOURCES / peer.script).is_file() for peer in PEERS if peer.script)
    assert Path(SOURCES / "visit.mjs").is_file()
