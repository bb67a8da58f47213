"""`towerhall verify` as a person at a prompt meets it."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tests.record.record_games import SMALL, STORIES, Tape, record_of_story, told, written
from towerhall_protocol.commands import base64url
from towerhall_protocol.evidence import view_hash
from towerhall_protocol.merge_patch import apply
from towerhall_protocol.statements import CHAIN_BYTES
from towerhall_server.cli import verify
from towerhall_server.cli.main import build_parser, main
from towerhall_server.eventlog.entry import mark
from towerhall_server.record.findings import KINDS, Finding

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
    assert "87 commits, last mark " in text
    assert "87 derived again by the rules: 65 by persons, 19 by bots, 3 by the room" in text
    assert "3 deals, 2 of them cancelled, 4 nonces opened" in text
    assert "the nonces of seats 0, 1" in text
    assert "ok: chain of 87 commits" in lines
    assert "ok: moves of bots, chosen again" in lines
    assert "ok: 3 draws and all deals" in lines
    assert not any(line.startswith("NOT ok") for line in lines)
    assert [line[:40] for line in lines if line.startswith("not checked")] == [
        "not checked: signature of the end (the r",
        "not checked: proof that the public log h",
        "not checked: whether this is the game th",
        "not checked: who the people were, and wh",
    ]
    assert shown.err == "", "nothing took long"


def test_a_changed_record_is_not(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record.write_bytes(record.read_bytes().replace(b"tree:9", b"tree:8", 1))
    assert main(["verify", str(record)]) == 1
    *_, seal, finding, last = capsys.readouterr().out.splitlines()
    assert seal.startswith("chain: ")
    assert "First seen at the seal:" in seal
    assert finding.startswith("frame: The spectators' frames do not agree with the commits.")
    assert "First seen at frame 41:" in finding
    assert last == "NOT OK: 2 findings"


def test_where_the_rules_lead_no_further_the_rest_is_called_unchecked(
    record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tape = told(FIVE)
    shorter = written(record.read_bytes(), tape.entries[:-1])
    record.write_bytes(shorter)
    assert main(["verify", str(record)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert {"NOT ok: end", "not checked: head", "not checked: result"} <= set(lines)
    assert "ok: commits, derived again" in lines


def view_at(tape: Tape, seq: int) -> str:
    """What a spectator keeps of the view after a commit."""
    view: dict[str, object] = {}
    for frame in msgspec.json.decode(tape.record())["frames"][:seq]:
        view = apply(view, frame[5])
    return view_hash(view)


def kept_of(tape: Tape, **changes: object) -> dict[str, object]:
    """What the client of a player kept."""
    nonce = next(iter(tape.nonces.values()))
    entry = tape.entries[40]
    kept = {
        "uid": base64url(tape.room.table.uid),
        "code": tape.room.table.code,
        "commitment": base64url(tape.room.table.commitment),
        "nonces": {"3": base64url(nonce)},
        "places": [{"seq": 41, "chain": base64url(entry.chain), "view": view_at(tape, 41)}],
    }
    return {**kept, **changes}


OTHER = base64url(bytes(CHAIN_BYTES))
CHAIN = base64url(told(FIVE).entries[40].chain)
MINE = base64url(next(iter(told(FIVE).nonces.values())))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ""),
        ({"uid": base64url(bytes(16))}, "other_room"),
        ({"commitment": base64url(bytes(32))}, "other_commitment"),
        ({"nonces": {"1": base64url(bytes(32))}}, "other_nonce"),
        ({"places": [{"seq": 41, "chain": OTHER}]}, "other_mark"),
        ({"places": [{"seq": 4100, "chain": OTHER}]}, "other_mark"),
        ({"places": [{"seq": 41, "chain": CHAIN, "why": "end"}]}, "other_mark"),
        ({"places": [{"seq": 41, "chain": CHAIN, "view": OTHER}]}, "other_view"),
        ({"code": "QJXKZB"}, "other_room"),
        ({"nonces": {"2": MINE}}, "other_nonce"),
    ],
)
def test_a_record_is_held_against_what_a_client_kept(
    record: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object], code: str
) -> None:
    evidence = record.with_name("evidence.json")
    evidence.write_text(json.dumps(kept_of(told(FIVE), **changes)))
    assert main(["verify", str(record), "--evidence", str(evidence)]) == (1 if code else 0)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines if "First seen" in line] == [code][: len(code)]
    assert ("NOT ok: " if code else "ok: ") + "your evidence" in lines


RECORDS = Path(__file__).parents[2] / "protocol/vectors/records"
SIGNED = ("ok: signature of the end", "ok: proof that the public log has the record")


def test_with_its_keys_a_signed_record_is_shown_to_be_the_servers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = tmp_path / "keys.json"
    known = json.loads((RECORDS / "keys.json").read_text())
    published = [{"key": name, "public": public} for name, public in known.items()]
    keys.write_text(json.dumps({"origin": "towers.example", "keys": published, "more": 1}))
    command = ["verify", str(RECORDS / "signed.json"), "--keys", str(keys)]
    evidence = str(RECORDS / "evidence.json")
    assert main([*command, "--evidence", evidence]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {*SIGNED, "ok: your evidence"} <= set(lines)
    assert main(command[:2]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "not checked: signature of the end (its key was not given: --keys)" in lines
    changed = json.loads((RECORDS / "signed.json").read_text())
    changed["signed"]["signature"] = base64url(bytes(64))
    changed["log"]["index"] += 1
    command[1] = str(tmp_path / "changed.json")
    Path(command[1]).write_text(json.dumps(changed))
    assert main(command) == 1
    lines = capsys.readouterr().out.splitlines()
    assert {line.replace("ok:", "NOT ok:") for line in SIGNED} <= set(lines)
    assert any("hashes do not lead" in line for line in lines)


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"keys": [{"key": "AAAAAAAAAAA", "public": "AAAA"}]}']
)
def test_what_holds_no_keys_is_a_mistake_of_usage(record: Path, text: str) -> None:
    keys = record.with_name("keys.json")
    keys.write_text(text)
    assert main(["verify", str(record), "--keys", str(keys)]) == 2


@pytest.mark.parametrize("seq", ["41:", ""])
def test_a_mark_may_be_short_or_whole_and_with_or_without_its_place(record: Path, seq: str) -> None:
    entry = told(FIVE).entries[40]
    for text in (mark(entry.chain), base64url(entry.chain)):
        assert main(["verify", str(record), "--mark", seq + text]) == 0
        other = ("A" if text[0] != "A" else "B") + text[1:]
        assert main(["verify", str(record), "--mark", seq + other]) == 1
    assert main(["verify", str(record), "--mark", f"40:{mark(entry.chain)}"]) == 1


@pytest.mark.parametrize("option", ["nonce", "commitment"])
def test_a_kept_nonce_or_commitment_is_looked_for(record: Path, option: str) -> None:
    tape = told(FIVE)
    kept = {
        "nonce": next(iter(tape.nonces.values())),
        "commitment": tape.room.table.commitment,
    }[option]
    assert main(["verify", str(record), f"--{option}={base64url(kept)}"]) == 0
    assert main(["verify", str(record), f"--{option}={base64url(bytes(32))}"]) == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--mark", "nonsense"],
        ["--mark", "0:Zz0_-aaaaaa"],
        ["--mark", "x:Zz0_-aaaaaa"],
        ["--mark", "41:Zz0_-aaaaa!!"],
        ["--evidence", "missing.json"],
        ["--evidence", "."],
    ],
)
def test_what_is_no_mark_and_no_evidence_is_a_mistake_of_usage(
    record: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert main(["verify", str(record), *options]) == 2
    assert capsys.readouterr().err.startswith("towerhall verify: ")


def test_evidence_that_is_none_is_a_mistake_of_usage(record: Path) -> None:
    evidence = record.with_name("evidence.json")
    known: dict[str, object] = {"uid": "u", "code": "c", "commitment": "p"}
    files: tuple[dict[str, object], ...] = (
        {},
        {"places": []},
        known | {"uid": ""},
        known | {"places": [{"seq": 1, "chain": "short"}]},
        known | {"places": [{"seq": 0, "chain": OTHER}]},
    )
    for kept in files:
        evidence.write_text(json.dumps(kept))
        assert main(["verify", str(record), "--evidence", str(evidence)]) == 2


def test_a_dash_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(record_of_story(FIVE))))
    assert main(["verify", "-"]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert main(["verify", "-"]) == 1
    assert "unreadable: The file is not a record." in capsys.readouterr().out


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
    assert "tile_duel, rules 1, is not installed here" in capsys.readouterr().out


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
    assert "83/83" in capsys.readouterr().err


def test_every_finding_has_words() -> None:
    for code in KINDS:
        line = verify.complaint(Finding(code, "commit 3", "it is odd"))
        assert line.endswith(". First seen at commit 3: it is odd.")
    assert verify.complaint(Finding("frame", "frame 3", "odd", 4)).endswith(" found 4 times.")


def test_help_shows_examples_that_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    lines = capsys.readouterr().out.splitlines()
    examples = [line.split("towerhall ", 1)[1].split() for line in lines if " verify " in line]
    assert len(examples) > 2
    for example in examples[1:]:
        build_parser().parse_args(example)
