"""What a client keeps of rooms in a folder, by itself (P-87)."""

import os
import stat
from pathlib import Path

import pytest

from towerhall_client import evidence_folder
from towerhall_client.evidence_folder import EvidenceFolder, default_folder
from towerhall_client.http import NewRoom
from towerhall_protocol.evidence import Evidence, Place, with_place

SEEN = Evidence("uid", "QJXKZB", "promise", {"1": "nonce"}, (Place(1, "chain"),))


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    folder = EvidenceFolder(tmp_path / "new" / "evidence")
    assert folder.find("uid") is None
    folder.keep(SEEN)
    assert EvidenceFolder(folder.path).find("uid") == SEEN
    more = with_place(SEEN, Place(16, "later", why="end"))
    folder.keep(more)
    assert folder.find("uid") == more
    assert [file.name for file in folder.path.iterdir()] == ["uid.json"]
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_the_creation_of_a_room_is_kept_with_its_signature(tmp_path: Path) -> None:
    folder = EvidenceFolder(tmp_path)
    signed = Place(1, "chain", "key", "signature")
    folder.keep_creation(NewRoom("QJXKZB", "uid", "promise", signed=signed))
    assert folder.find("uid") == Evidence("uid", "QJXKZB", "promise", places=(signed,))
    folder.keep_creation(NewRoom("QJXKZC", "other", "promise"))
    assert folder.find("other") == Evidence("other", "QJXKZC", "promise")


def test_a_file_that_is_damaged_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "uid.json").write_text("{")
    assert EvidenceFolder(tmp_path).find("uid") is None


def test_a_folder_that_cannot_be_written_stops_no_game(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    EvidenceFolder(tmp_path / "file" / "evidence").keep(SEEN)


def test_the_oldest_go_when_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence_folder, "MOST_FILES", 3)
    folder = EvidenceFolder(tmp_path)
    for number in range(5):
        folder.keep(Evidence(f"uid{number}", "QJXKZB", "promise"))
        os.utime(folder.file_of(f"uid{number}"), (number, number))
    assert sorted(file.stem for file in tmp_path.iterdir()) == ["uid2", "uid3", "uid4"]


def test_the_folder_is_that_for_data_of_the_user() -> None:
    assert default_folder({"XDG_DATA_HOME": "/data"}) == Path("/data/towerhall/evidence")
    assert default_folder({}) == Path.home() / ".local/share/towerhall/evidence"
