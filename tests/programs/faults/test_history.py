"""Histories have one order over all clients, and can be written down."""

from pathlib import Path

import msgspec

from tests.programs.faults.history import Ack, Entry, Fault, History, Invoke


def test_ticks_order_all_clients_and_faults() -> None:
    history = History()
    one, other = history.client("ABCDEF", "one"), history.client("ABCDEF", "other")
    one.invoke(1, tagged=True)
    tick = history.fault("kill", 1)
    other.invoke(1, tagged=False)
    one.ack(1, 2)
    assert [entry.tick for entry in one.entries] == [1, 4]
    assert [entry.tick for entry in other.entries] == [3]
    assert tick == 2
    assert history.count(Invoke) == 2
    assert history.count(Ack) == 1


def test_a_written_history_reads_the_same(tmp_path: Path) -> None:
    history = History()
    client = history.client("ABCDEF", "one")
    client.sync(1, "mark", "view", lost=2, whole=False)
    client.invoke(1, tagged=True)
    client.unknown(1)
    client.recv(2, "mark", "view")
    client.reject(1, "stale")
    client.gone()
    history.fault("kill", 3)
    history.write(tmp_path)
    lines = (tmp_path / "ABCDEF-one.jsonl").read_bytes().splitlines()
    assert [msgspec.json.decode(line, type=Entry) for line in lines] == client.entries
    (line,) = (tmp_path / "faults.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(line, type=Fault) == history.faults[0]
