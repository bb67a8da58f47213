"""`towerhall verify` as a person at a prompt meets it."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.room.record_games import SMALL, STORIES, record_of_story
from towerhall_server.cli import verify
from towerhall_server.cli.main import build_parser, main
from towerhall_server.room.findings import KINDS, Finding

FIVE = STORIES[1]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    file = tmp_path / "record.json"
    file.write_bytes(record_of_story(FIVE))
    return file


def test_a_true_record_is_ok(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(record)]) == 0
    shown = capsys.readouterr()
    *lines, last = shown.out.splitlines()
    assert last == "OK"
    text = "\n".join(lines)
    assert "five_towers, rules 1, room ABCDEF: 3 seats, ended with a result" in text
    assert "86 commits, last mark " in text
    assert "86 decided again by the rules: 61 by persons, 22 by bots, 3 by the room" in text
    assert "3 deals, 2 of them cancelled, 4 nonces opened" in text
    assert "the nonces of seats 0, 1" in text
    assert "chain ok" in text
    assert "3 draws ok" in text
    assert shown.err == "", "nothing took long"


def test_a_changed_record_is_not(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record.write_bytes(record.read_bytes().replace(b"tree:9", b"tree:8", 1))
    assert main(["verify", str(record)]) == 1
    *_, finding, last = capsys.readouterr().out.splitlines()
    assert finding.startswith("frame: What spectators are said to have seen is not what happened.")
    assert "First seen at frame 49:" in finding
    assert last == "NOT OK: 1 finding"


def test_a_dash_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(record_of_story(FIVE))))
    assert main(["verify", "-"]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert main(["verify", "-"]) == 1
    assert "unreadable: The file is no record." in capsys.readouterr().out


@pytest.mark.parametrize("name", ["missing.json", ".", "\0"])
def test_a_file_that_cannot_be_read_is_a_mistake_of_usage(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("towerhall verify: ")
    assert "cannot be read" in error


def test_a_game_that_is_not_installed_is_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "dice.json"
    file.write_bytes(record_of_story(SMALL))
    assert main(["verify", str(file)]) == 1
    assert "dice_duel, rules 1, is not installed here" in capsys.readouterr().out


def test_names_in_a_record_do_not_talk_to_the_terminal(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record.write_bytes(record.read_bytes().replace(b"ABCDEF", b"\\u001b[2J", 1))
    assert main(["verify", str(record)]) == 1
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "room ?[2J" in shown


def test_work_that_takes_long_shows_progress(
    record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ticking() -> Iterator[float]:
        now = 0.0
        while True:
            yield now
            now += 0.3

    monkeypatch.setattr(verify, "monotonic", ticking().__next__)
    assert main(["verify", str(record)]) == 0
    assert "82/82" in capsys.readouterr().err


def test_every_finding_has_words() -> None:
    for code in KINDS:
        line = verify.complaint(Finding(code, "commit 3", "it is odd"))
        assert line.endswith(". First seen at commit 3: it is odd.")


def test_help_shows_examples_that_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    lines = capsys.readouterr().out.splitlines()
    examples = [line.split("towerhall ", 1)[1].split() for line in lines if " verify " in line]
    assert len(examples) > 2
    for example in examples[1:]:
        build_parser().parse_args(example)
