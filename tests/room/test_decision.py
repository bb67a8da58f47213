"""What becomes of a command: each kind of decision, and that answers of the log come first."""

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from tests.games.tile_duel import GAME as TILE_DUEL
from tests.room.pure_rooms import ADA, BEN, HOST, PureRoom
from towerhall_protocol.messages import ClientCommand
from towerhall_server.game import Rejected
from towerhall_server.room.commits import Cause
from towerhall_server.room.decision import (
    Decision,
    InLog,
    KnownNeeded,
    Possible,
    Slow,
    decide,
)
from towerhall_server.room.pace import MOST_AT_ONCE, RETURNS_MS
from towerhall_server.room.seats import Known, Person
from towerhall_server.room.state import Done
from towerhall_server.room.steps import Step

ORIGIN = "origin"


def give(
    pure: PureRoom,
    person: Person,
    body: Mapping[str, object],
    *,
    n: int = 99,
    dry: bool = False,
    known: Known | None = None,
) -> Decision:
    asked = ClientCommand(n, pure.room.tag, dict(body), dry)
    return decide(pure.room, person, ORIGIN, asked, pure.now_ms, known=known)


def playing() -> tuple[PureRoom, Person]:
    """A room, and the person who is to act."""
    pure = PureRoom(TILE_DUEL).seat_people(ADA, BEN).deal()
    return pure, pure.holder(pure.room.to_act()[0])


def test_a_command_that_is_allowed_is_a_step_of_its_sender() -> None:
    step = give(PureRoom(), BEN, {"command": "sit"})
    assert isinstance(step, Step)
    assert step.commit.cause == Cause(-1, BEN.id, ORIGIN, 99)


def test_a_command_that_is_not_allowed_is_refused() -> None:
    refusal = give(PureRoom(), BEN, {"command": "start"})
    assert refusal == Rejected("not_host", "P-56")


def test_a_number_in_the_log_is_answered_for_its_command_and_refused_for_others() -> None:
    pure = PureRoom()
    step = give(pure, BEN, {"command": "sit"}, n=1)
    assert isinstance(step, Step)
    pure.append(step)
    assert give(pure, BEN, {"command": "sit"}, n=1) == InLog(Done(pure.seq))
    for body in ({"command": "rematch"}, {"command": "no such thing"}):
        assert give(pure, BEN, body, n=1) == InLog(Rejected("number_reused", "P-42"))
    dry = give(pure, BEN, {"command": "ready"}, n=1, dry=True)
    assert dry == Possible({})


def test_facts_are_asked_for_only_by_commands_that_need_them() -> None:
    pure, mover = playing()
    body: dict[str, object] = {"command": "call_bot", "seat": 0}
    assert isinstance(give(pure, mover, body), KnownNeeded)
    assert isinstance(give(pure, mover, body, known=Known(absent=(0,))), Step)
    assert isinstance(give(pure, mover, {"command": "resign"}), Step)


def test_a_dry_run_is_no_step() -> None:
    pure, mover = playing()
    body = pure.offered(pure.room.to_act()[0], 0)
    assert isinstance(give(pure, mover, body), Step)
    assert isinstance(give(pure, mover, body, dry=True), Possible)
    assert give(PureRoom(), BEN, {"command": "sit"}, dry=True) == Possible({})


def test_a_slow_command_is_left_to_a_search_if_the_room_allows_it() -> None:
    pure, mover = playing()
    other = ADA if mover == BEN else BEN
    seat = pure.room.to_act()[0]
    body = pure.offered(seat, 0)
    slow = replace(TILE_DUEL, slow=lambda *_: True)
    pure.rooms.append(msgspec.structs.replace(pure.room, rules=slow))
    assert give(pure, mover, body) == Slow(seat)
    assert isinstance(give(pure, other, body), Rejected)


def test_too_many_changes_are_refused_until_their_time() -> None:
    pure = PureRoom().seat_people(HOST, BEN, sealed=False)
    for number in range(MOST_AT_ONCE + 1):
        step = give(pure, BEN, {"command": "ready", "ready": False}, n=number + 1)
        if isinstance(step, Rejected):
            break
        assert isinstance(step, Step)
        pure.append(step)
    assert isinstance(step, Rejected)
    assert (step.code, step.rule) == ("too_many", "P-72")
    wait_ms = step.params["retry_ms"]
    assert isinstance(wait_ms, int)
    assert 0 < wait_ms <= RETURNS_MS
