"""Every log and record that a released version wrote is read as it was meant."""

from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest

from tests.games.dice_duel import GAME as DICE_DUEL
from tests.games.tile_duel import GAME as TILE_DUEL
from tests.versions import golden
from tests.versions.golden import (
    FOLDER,
    Golden,
    ending,
    read_golden,
    retold,
    rooms_of,
    sums,
    wanted,
)
from towerhall_protocol.commands import from_base64url
from towerhall_server.eventlog.entry import START
from towerhall_server.game import AnyGame, Perspective, discover, option_fields, rules_of
from towerhall_server.games import five_towers
from towerhall_server.games.five_towers import GAME
from towerhall_server.games.five_towers.state import State
from towerhall_server.live.record_store import make_record
from towerhall_server.live.replica import Replica
from towerhall_server.record.verify import verify
from towerhall_server.room import steps
from towerhall_server.room.commits import Commit, decode_commit
from towerhall_server.room.events import PUBLIC_FIELDS

FILES = sorted(FOLDER.glob("*/*.json"))
every_file = pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}"
)


def complaints(path: Path) -> list[str]:
    """What is not as it was; nothing if all is well."""
    data = path.read_bytes()
    log = read_golden(data)
    secret, entries = from_base64url(log.secret), log.entries
    found = []
    for before, entry in zip((START, *(entry.point for entry in entries)), entries, strict=False):
        if not entry.follows(before):
            found.append(f"commit {entry.seq} is not linked to the one before")
    room, shown = retold(secret, entries)
    for seq, (then, now) in enumerate(zip(log.shown, shown, strict=True), start=1):
        if then != now:
            found.append(f"commit {seq} is shown otherwise")
    if ending(room) != log.ending:
        found.append(f"it ends with {ending(room)} instead of {log.ending}")
    loaded = Replica.load(discover(), secret, entries)
    if (loaded.room, loaded.point) != (room, entries[-1].point):
        found.append("a server that loads it has another room than one that follows it")
    record = (
        data if path.name.endswith(".record.json") else make_record(discover(), secret, entries)
    )
    found += [f"{each.code}: {each.where}: {each.detail}" for each in verify(record, discover())]
    return found


@every_file
def test_a_golden_log_is_read_as_it_was_meant(path: Path) -> None:
    assert complaints(path) == []


def test_no_released_file_is_missing_or_changed() -> None:
    found = {str(p.relative_to(FOLDER)): sha256(p.read_bytes()).hexdigest() for p in FILES}
    assert found == sums()


def test_this_version_has_golden_logs_of_all_that_it_can_play() -> None:
    missing = wanted(version("towerhall")).keys() - sums().keys()
    assert missing == set(), "run `make golden`"


def commits_of(log: Golden) -> list[Commit]:
    rules = rules_of(discover(), log.game, log.rules)
    return [decode_commit(entry.blob, None if entry.seq == 1 else rules) for entry in log.entries]


def test_the_golden_logs_show_what_rooms_can_go_through() -> None:
    logs = [read_golden(path.read_bytes()) for path in FILES]
    commits = [commit for log in logs for commit in commits_of(log)]
    room_events = {type(event) for commit in commits for event in (*commit.room, *commit.end)}
    assert room_events == set(PUBLIC_FIELDS)
    by_bots = [commit for commit in commits if commit.cause.seat >= 0 and not commit.cause.n]
    assert len(by_bots) > 20
    for name, game in discover().items():
        first = [commits_of(log)[0].room[0] for log in logs if log.game == name]
        options = [getattr(event, "options", {}) for event in first]
        assert {getattr(event, "seats", 0) for event in first} >= set(game.seats), (
            "run `make golden`"
        )
        assert all(msgspec.to_builtins(preset) in options for preset in game.presets.values())
        for option, field in option_fields(game.options_type).items():
            assert {each[option] for each in options} == set(field.values)


@pytest.mark.parametrize("seats", [range(1, 2), range(1, 4), range(2, 3), range(3, 4), range(2, 9)])
@pytest.mark.parametrize("rules", [DICE_DUEL, TILE_DUEL], ids=lambda rules: rules.name)
def test_rooms_of_a_game_for_any_number_of_players_can_be_written_down(
    rules: AnyGame, seats: range
) -> None:
    scripts = list(rooms_of(replace(rules, seats=seats)))
    rooms = [script.play().room for script in scripts]
    assert len({script.title for script in scripts}) == len(scripts)
    assert {len(room.table.seats) for room in rooms} == set(seats)
    assert all(room.table.status == "over" for room in rooms)


# These tests can fail


def test_rules_that_changed_without_a_new_version_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def view(state: State, viewer: Perspective) -> dict[str, object]:
        return {**GAME.view(state, viewer), "news": state.round}

    monkeypatch.setattr(five_towers, "GAME", replace(GAME, view=view))
    path = next(path for path in FILES if "printed" in path.name)
    assert "commit 15 is shown otherwise" in complaints(path)


def test_a_changed_fold_or_decision_of_the_room_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "OPEN_MS", steps.OPEN_MS + 60_000)
    path = next(path for path in FILES if "waiting" in path.name)
    assert any(said.startswith("early: ") for said in complaints(path))


def test_a_log_that_was_tampered_with_is_seen(tmp_path: Path) -> None:
    path = next(path for path in FILES if "waiting" in path.name)
    log = read_golden(path.read_bytes())
    rows = list(log.commits)
    rows[3] = msgspec.structs.replace(rows[3], wall_ms=rows[3].wall_ms + 1)
    changed = tmp_path / "changed.json"
    changed.write_bytes(msgspec.json.encode(msgspec.structs.replace(log, commits=tuple(rows))))
    assert "commit 4 is not linked to the one before" in complaints(changed)


def test_what_is_pinned_is_never_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(golden, "FOLDER", tmp_path)
    monkeypatch.setattr(golden, "SUMS", tmp_path / "SHA256SUMS")
    assert golden.main() == 0
    made = {path: path.read_bytes() for path in tmp_path.glob("*/*.json")}
    assert len(made) == len(wanted(version("towerhall")))
    first = next(iter(made))
    first.write_bytes(b"changed")
    pinned = (tmp_path / "SHA256SUMS").read_text()
    assert golden.main() == 0
    assert first.read_bytes() == b"changed", "what is there is left alone, whatever it is"
    first.unlink()
    assert golden.main() == 1
    assert not first.exists()
    assert "restore it" in capsys.readouterr().err
    assert (tmp_path / "SHA256SUMS").read_text() == pinned
