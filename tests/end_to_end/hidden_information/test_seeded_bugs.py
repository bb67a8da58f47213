"""Bugs that were made on purpose are found: a search that never finds anything proves nothing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.end_to_end.hidden_information.scan import leaks
from tests.end_to_end.hidden_information.twins import (
    KEY_HASH,
    NAMES,
    TOWERS,
    Cast,
    improvise,
    twins,
)
from tests.end_to_end.in_process import Read, Stage
from towerhall_protocol.commands import base64url
from towerhall_server.game import Perspective, Rejected
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.live import fan_out as fan_out_module
from towerhall_server.room import decision, events, steps
from towerhall_server.room import view as view_module
from towerhall_server.room.events import PersonSat, RoomCreated
from towerhall_server.room.state import Room


def scanned(on: Stage) -> set[str]:
    """What the viewers of a room can read that they should not."""
    ids = {f"commit {entry.seq}": entry.commit_id for entry in on.log.entries}
    hidden = {"secret": on.log.kept, "seed": on.room.game.seed, "key": KEY_HASH} | ids
    found = set()
    for who, tap in on.taps.items():
        others = {other: on.taps[other].person.id.encode() for other in NAMES if other != who}
        found |= leaks(tap.data, hidden | others)
    return found


async def scan_of(cast: Cast) -> set[str]:
    async with cast.stage() as on:
        await improvise(on, cast, 40, 1)
        await on.perform(Read("zoe", 1, len(on.log.entries)))
        assert on.room.playing
        return scanned(on)


async def complaints_of(cast: Cast) -> list[str]:
    """Of the first twins that can be told apart."""
    for seed in (1, 2, 3):
        async for each in twins(cast, seed, (number / 10 for number in range(2, 10))):
            if each.complaints:
                return each.complaints
    return []


async def test_without_a_bug_neither_scan_nor_twins_complain() -> None:
    assert await scan_of(TOWERS) == set()
    assert await complaints_of(TOWERS) == []


async def test_a_secret_in_the_view_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(room: Room, name: str) -> dict[str, object]:
        seen = view_module.view(room, name)
        return {**seen, "hint": base64url(room.secret)}

    monkeypatch.setattr(fan_out_module, "view", leaking)
    assert await scan_of(TOWERS) == {"secret"}
    assert await complaints_of(TOWERS) != []


@pytest.mark.parametrize(
    ("event", "found"), [(PersonSat, {"ada", "ben"}), (RoomCreated, {"ada", "key"})]
)
async def test_an_event_that_is_not_redacted_is_found(
    monkeypatch: pytest.MonkeyPatch, event: Any, found: set[str]
) -> None:
    monkeypatch.setitem(events.PUBLIC_FIELDS, event, event.__struct_fields__)
    assert await scan_of(TOWERS) == found


async def test_a_seed_in_an_error_message_is_found() -> None:
    def decide(state: Any, seat: Any, command: object) -> Any:
        answer = FIVE_TOWERS.decide(state, seat, command)
        if isinstance(answer, Rejected):
            return msgspec.structs.replace(answer, params={"detail": f"seed {state.seed!r}"})
        return answer

    buggy = Cast(replace(FIVE_TOWERS, decide=decide, advance=None), bots=1)
    assert await scan_of(buggy) == {"seed"}
    assert await complaints_of(buggy) != []


async def test_a_view_whose_size_depends_on_the_next_card_is_found() -> None:
    """No scan can see that."""

    def view(state: Any, viewer: Perspective) -> dict[str, object]:
        seen = FIVE_TOWERS.view(state, viewer)
        return {**seen, "padding": "x" * (sum(map(ord, "".join(state.pile[:3]))) % 50)}

    buggy = Cast(replace(FIVE_TOWERS, view=view), bots=1)
    assert await scan_of(buggy) == set()
    assert await complaints_of(buggy) != []


async def test_a_dry_run_that_tells_the_next_card_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def effect_of(room: Room, seat: Any, body: Any) -> Mapping[str, object]:
        return {"next": list(room.game.pile[:1])}

    monkeypatch.setattr(decision, "effect_of", effect_of)
    assert await complaints_of(TOWERS) != []


async def test_a_chain_over_something_hidden_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks are for everybody: what they are made of must be known, or random."""

    sane = steps.play

    def play(room: Room, cause: Any, body: Mapping[str, Any], *rest: Any) -> steps.Step:
        step = sane(room, cause, body, *rest)
        if room.game is None:
            return step
        known = step.commit.command | {"card": room.game.pile[0]}
        commit = msgspec.structs.replace(step.commit, command=known)
        return msgspec.structs.replace(step, commit=commit)

    monkeypatch.setattr(steps, "play", play)
    assert await complaints_of(TOWERS) != []
