"""Commands that only the clock gives: refused from a person and from a bot, played for both."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.games import tile_duel as duel
from tests.room.pure_rooms import ADA, BEN, ZOE, PureRoom
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.game import AnyGame, Rejected, Seat
from towerhall_server.record.rederive import UndecidedError, decide_again
from towerhall_server.room import steps
from towerhall_server.room.commits import Cause, Commit

RUN_OUT: dict[str, Any] = {"command": "run_out"}


def decide(state: duel.State, seat: Seat, command: Any) -> Any:
    if command == RUN_OUT:
        command = duel.timeout(state, seat)
    return duel.decide(state, seat, command)


def choose(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    return dict(RUN_OUT)


CLOCKED: AnyGame = replace(
    duel.GAME,
    decide=decide,
    timeout=lambda state, seat: dict(RUN_OUT),
    clock_commands=frozenset({"run_out"}),
    bots={"easy": choose, "medium": duel.choose},
)


def started(*, turn_seconds: int = 0, bots: bool = False) -> PureRoom:
    people = (ADA,) if bots else (ADA, BEN)
    return PureRoom(CLOCKED, turn_seconds=turn_seconds).seat_people(*people).deal()


def refusal(body: Mapping[str, Any]) -> Rejected:
    name = body["command"]
    return Rejected("bad_command", "2", {"detail": f"{name} is given by the clock only"})


def test_a_person_cannot_give_it() -> None:
    pure = started()
    (seat,) = pure.room.to_act()
    assert pure.ask(pure.holder(seat), RUN_OUT) == refusal(RUN_OUT)
    assert pure.ask(pure.holder(1 - seat), RUN_OUT) == refusal(RUN_OUT)
    assert pure.ask(pure.holder(seat), RUN_OUT, tag="old") == Rejected("stale", "P-43")
    assert pure.refused(ZOE, "run_out") == "not_seated"


def test_the_clock_gives_it() -> None:
    pure = started(turn_seconds=20)
    (seat,) = pure.room.to_act()
    step = pure.wait()
    assert (step.commit.cause, step.commit.command) == (Cause(seat), RUN_OUT)
    assert decide_again(pure.rooms[-2], step.commit).step.commit == step.commit


def test_a_bot_that_chooses_it_is_refused() -> None:
    pure = started(bots=True)
    while (bot := steps.bot_to_act(pure.room)) is None:
        body = pure.offered(Seat(0), 0)
        pure.say(ADA, body.pop("command"), **body)
    assert steps.bot_step(pure.room, bot) == refusal(RUN_OUT)


def forged(pure: PureRoom, cause: Cause, body: dict[str, Any]) -> Commit:
    """A commit with the events that the rules make of a command, whoever may give it."""
    room = pure.room
    events = room.rules.decide(room.game, Seat(cause.seat), body)
    assert not isinstance(events, Rejected)
    return steps.play(room, cause, body, events).commit


def test_a_log_in_which_a_person_gave_it_is_a_lie() -> None:
    pure = started()
    (seat,) = pure.room.to_act()
    cause = Cause(seat, pure.holder(seat).id, "origin", 1)
    with pytest.raises(UndecidedError, match="bad_command"):
        decide_again(pure.room, forged(pure, cause, RUN_OUT))


def test_a_log_holds_it_for_a_bot_only_as_the_games_own_default() -> None:
    pure = started(bots=True)
    while (bot := steps.bot_to_act(pure.room)) is None:
        body = pure.offered(Seat(0), 0)
        pure.say(ADA, body.pop("command"), **body)
    stood_in = steps.stand_in_step(pure.room, bot)
    assert not isinstance(stood_in, Rejected)
    assert decide_again(pure.room, stood_in.commit).step.commit == stood_in.commit
    # The default of the rules is another one now: a bot gave a clock's command.
    other = replace(CLOCKED, timeout=duel.timeout)
    room = msgspec.structs.replace(pure.room, rules=other)
    with pytest.raises(UndecidedError, match="bad_command"):
        decide_again(room, stood_in.commit)
