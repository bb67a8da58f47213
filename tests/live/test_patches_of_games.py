"""A game may tell how its shared view changes: viewers see the same as by comparing views."""

from dataclasses import replace

import pytest

from tests.games import tile_duel as duel
from tests.live.test_audience import sees_what_is_there
from tests.room.pure_rooms import ADA, BEN, SHARED_DUEL, ZOE, PureRoom, Stage
from towerhall_protocol.merge_patch import diff
from towerhall_server.game import AnyGame, Perspective

MOVES = 12


class Told:
    """What the room asked of its game."""

    views = 0
    patches = 0

    @property
    def game(self) -> AnyGame:
        def view(state: duel.State, viewer: Perspective) -> dict[str, object]:
            self.views += 1
            return duel.view(state, viewer)

        def patch(before: duel.State, after: duel.State, events: object) -> dict[str, object]:
            self.patches += 1
            return diff(duel.view(before, None), duel.view(after, None))

        return replace(SHARED_DUEL, view=view, patch=patch)


@pytest.fixture
def told() -> Told:
    return Told()


def at_play(rules: AnyGame, turn_seconds: int = 0) -> PureRoom:
    pure = PureRoom(rules, turn_seconds=turn_seconds)
    return pure.seat_people(ADA, BEN, sealed=False).deal()


async def test_ordinary_moves_make_no_view(told: Told) -> None:
    pure = at_play(told.game)
    began = pure.seq
    pure.play_on(MOVES)
    stage = Stage(pure, began)
    lookers = [stage.enter(person) for person in (ADA, BEN, ZOE)]
    told.views = told.patches = 0
    stage.follow()
    assert (told.views, told.patches) == (0, MOVES)
    for looker in lookers:
        sees_what_is_there(stage, looker)
    late = stage.enter(BEN)
    sees_what_is_there(stage, late)


async def test_where_more_than_the_game_changes_views_are_compared(told: Told) -> None:
    pure = at_play(told.game)
    began = pure.seq
    pure.play_on(2).say(BEN, "leave")
    pure.say(BEN, "take_back")
    pure.play_on(2).say(ADA, "want_end")
    pure.play_on()
    stage = Stage(pure, began)
    lookers = [stage.enter(person) for person in (ADA, ZOE)]
    told.patches = 0
    for seq in range(began + 1, pure.seq + 1):
        stage.follow(seq)
        for looker in lookers:
            sees_what_is_there(stage, looker)
    assert 0 < told.patches < pure.seq - began


async def test_a_clock_is_in_the_view_so_views_are_compared(told: Told) -> None:
    pure = at_play(told.game, turn_seconds=20)
    began = pure.seq
    pure.play_on(3)
    stage = Stage(pure, began)
    looker = stage.enter(ADA)
    told.patches = 0
    stage.follow()
    assert told.patches == 0
    sees_what_is_there(stage, looker)
