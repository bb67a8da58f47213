"""Both SDKs have the same names for the same things, and each reference says what its code says."""

import re
import subprocess
from pathlib import Path

import pytest

from docs.python_reference import written
from tests.typescript.node import SDK, npm
from towerhall_client import __all__ as offered

CLIENTS = Path(__file__).parents[2] / "clients"
PYTHON, TYPESCRIPT = CLIENTS / "python" / "API.md", SDK / "API.md"

ONLY_PYTHON = {
    # Events and answers are classes here, and objects with a `kind` there.
    **dict.fromkeys(
        ("Disconnected", "RefusedError", "TableClosedError", "TowerhallError"), "kinds"
    ),
    # Of programs without a page: bots, folders, terminals, servers of other lobbies.
    **dict.fromkeys(("EvidenceFolder", "Policy", "play_bot", "random_policy"), "programs"),
    **dict.fromkeys(("Ban", "OpenedRoom", "Operator", "Player", "Seat"), "operators"),
    "verify_signature": "operators",
    # A subprotocol is named here, and handed over as an object there.
    **dict.fromkeys(("JSON", "MSGPACK"), "codecs"),
    "Retry": "how patient a client is; pages wait for ever, and people press a button",
}
ONLY_TYPESCRIPT = {
    **dict.fromkeys(("Codec", "json", "msgpack"), "codecs"),
    **dict.fromkeys(("Keep", "kept_evidence"), "what a page keeps is in its storage"),
    **dict.fromkeys(("ConnectOptions", "LobbyOptions", "Known"), "named parameters"),
    "LEVEL": "programs that write messages by hand; in Python `towerhall_protocol.level` has it",
    "sandbox_speed": "pages show it beside the proof; in Python it is in the record's settings",
    "Timeline": "`Table.replay.view_at` in Python",
    "parse_record": "`check_record` reads the file in Python",
}
"""Types of documents besides, which are plain maps in Python."""

ONLY_IN_CLASS = {
    "Act": (set(), set()),
    "Service": ({"ask", "check_record", "url"}, {"origin", "record_text"}),
    "ServiceError": (set(), set()),
    "Lobby": (
        {"changes", "entered", "list", "run", "until", "up", "version", "wanted"},
        {"close", "ending", "on", "online", "reconnect_now", "retry_at", "state", "trouble"},
    ),
    "Table": (
        # Waiting by `await`; commands to the room, which TypeScript gives to `send`.
        {"__aiter__", "entered", "is_up", "replay", "run", "status", "turn", "until"}
        | {"add_bot", "admit", "call_bot", "invite", "kick", "leave", "mute", "rematch"}
        | {"remove_bot"}
        | {"rename", "resign", "set_options", "stand", "start", "take_back", "unmute", "want_end"},
        # Pages draw clocks and states, and hear of events.
        {"away_ms", "close", "ending", "level", "on", "reconnect_now", "retry_at", "state"}
        | {"time_left", "trouble", "use_token"},
    ),
}
"""By class: what only Python has, and what only TypeScript has."""


def plain(name: str) -> str:
    """A name as Python would write it. Classes and types are written alike."""
    return name if name[0].isupper() else re.sub("([A-Z])", r"_\1", name).lower()


def names(page: Path) -> set[str]:
    return {plain(name) for name in re.findall(r"^### (\w+)$", page.read_text(), re.M)}


def values(page: Path) -> set[str]:
    """Functions and classes, without types."""
    return {
        plain(name)
        for name in re.findall(r"^### (\w+)$", page.read_text().split("\n## Types")[0], re.M)
    }


def members(page: Path, kind: str) -> set[str]:
    """The members of a class; `new X(...)` and `X(...)` are none."""
    (text,) = re.findall(rf"^### {kind}$(.*?)(?=^##|\Z)", page.read_text(), re.M | re.S)
    rows = re.findall(r"^- `(?:async |def |readonly )*(\w+)", text, re.M)
    return {plain(name) for name in rows if name not in (kind, "new")}


def test_the_names_of_both_are_the_same_but_for_those_with_a_reason() -> None:
    ours, theirs = names(PYTHON), names(TYPESCRIPT)
    assert ours - theirs == set(ONLY_PYTHON)
    assert values(TYPESCRIPT) - ours <= set(ONLY_TYPESCRIPT)
    assert set(ONLY_TYPESCRIPT) <= theirs - ours
    assert len(ours & theirs) > 30


@pytest.mark.parametrize("kind", ONLY_IN_CLASS)
def test_the_members_of_a_class_are_the_same_but_for_those_with_a_reason(kind: str) -> None:
    ours, theirs = members(PYTHON, kind), members(TYPESCRIPT, kind)
    assert (ours - theirs, theirs - ours) == ONLY_IN_CLASS[kind]
    assert ours & theirs


def test_the_reference_of_python_says_what_the_code_says() -> None:
    assert PYTHON.read_text() == written(), "run `make reference`"
    assert names(PYTHON) == {plain(name) for name in offered}


@pytest.mark.timeout(240)  # packages may have to be fetched first
def test_the_reference_of_typescript_says_what_the_code_says(tmp_path: Path) -> None:
    _, environment = npm()
    node = Path(environment["PATH"].split(":")[0], "node")
    made = tmp_path / "API.md"
    done = subprocess.run(
        [str(node), "reference.mjs", str(made)],
        cwd=SDK, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert TYPESCRIPT.read_text() == made.read_text(), "run `make reference`"
