"""Dry runs of games that foresee: the answer is theirs, and nothing is decided for it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.games import tile_duel as duel
from tests.live.judging import to_move
from tests.live.live_rooms import GAMES, FakeViewer, LiveNode, begin, live_node
from towerhall_protocol.document import Document
from towerhall_protocol.messages import ServerAccepted, ServerFrame, ServerRejected
from towerhall_server.game import Rejected, Seat

TELLING = {"would": "rest"}


def decide(state: duel.State, seat: Seat, command: Any) -> Any:
    """Fails for commands of which only the foresight may be asked."""
    if isinstance(command, dict) and command.get("command") == "place":
        raise AssertionError("a dry run was decided")
    return duel.decide(state, seat, command)


def foresee(state: duel.State, seat: Seat, command: Any) -> Document | Rejected | None:
    match command:
        case {"command": "choose"}:
            return None
        case {"command": "place", "column": 0}:
            return TELLING
        case {"command": "run_out"}:
            raise AssertionError("a command of the clock was foreseen")
    return duel.rejected("out_of_range", columns=0, tilt=0)


def always(state: duel.State, seat: Seat, command: object) -> bool:
    return True


async def dry(viewer: FakeViewer, **body: Any) -> object:
    command = viewer.replay.command(body, dry=True)
    viewer.hand_over(command)
    return await viewer.answer(command.n)


@pytest.fixture(params=[False, True], ids=["quick", "slow"])
def rules(request: pytest.FixtureRequest) -> Any:
    slow = always if request.param else duel.GAME.slow
    clock = frozenset({"run_out"})
    return replace(duel.GAME, decide=decide, foresee=foresee, clock_commands=clock, slow=slow)


async def in_a_place(node: LiveNode, rules: Any) -> FakeViewer:
    """Somebody who has to place a tile."""
    ann = await FakeViewer("ann").enter(await node.found(rules))
    bob = await FakeViewer("bob").enter(ann.room)
    await begin(ann, bob)
    if to_move(ann, bob).replay.offers[0].command == "choose":
        assert isinstance(await to_move(ann, bob).move(), ServerFrame)
    return to_move(ann, bob)


async def test_the_rules_answer_a_dry_run_and_nothing_is_decided(url: str, rules: Any) -> None:
    async with live_node(url, games={**GAMES, "tile_duel": rules}) as node:
        mover = await in_a_place(node, rules)
        searched = node.directory.node.searches.begun
        answer = await dry(mover, command="place", side="flat", column=0, tilt=0)
        assert isinstance(answer, ServerAccepted)
        assert answer.effect == TELLING
        refused = await dry(mover, command="place", side="flat", column=1, tilt=0)
        assert isinstance(refused, ServerRejected)
        assert (refused.code, refused.rule) == ("out_of_range", "3")
        assert node.directory.node.searches.begun == searched


async def test_rules_that_do_not_foresee_a_command_decide_it(url: str, rules: Any) -> None:
    async with live_node(url, games={**GAMES, "tile_duel": rules}) as node:
        ann = await FakeViewer("ann").enter(await node.found(rules))
        bob = await FakeViewer("bob").enter(ann.room)
        await begin(ann, bob)
        mover = to_move(ann, bob)
        if mover.replay.offers[0].command == "choose":
            top = ann.replay.seq
            assert isinstance(await dry(mover, **await mover.offered()), ServerAccepted)
            bad = await dry(mover, command="choose", tile="c:9")
            assert isinstance(bad, ServerRejected)
            assert bad.code == "no_such_tile"
            assert ann.replay.seq == top


async def test_a_dry_run_is_refused_by_the_room_as_the_command_would_be(
    url: str, rules: Any
) -> None:
    async with live_node(url, games={**GAMES, "tile_duel": rules}) as node:
        mover = await in_a_place(node, rules)
        zoe = await FakeViewer("zoe").enter(mover.room)
        answer = await dry(zoe, command="place", side="flat", column=0, tilt=0)
        assert isinstance(answer, ServerRejected)
        assert answer.code == "not_seated"
        answer = await dry(mover, command="run_out")
        assert isinstance(answer, ServerRejected)
        assert answer.code == "bad_command"
        assert answer.params == {"detail": "run_out is given by the clock only"}
