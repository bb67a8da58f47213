"""A game whose rules have changed: under the second version every tile that does not fall
stands one higher."""

from dataclasses import replace
from typing import Any

from tests.games import tile_duel as duel
from towerhall_server.game import AnyGame, Rejected, Seat


def _decide_higher(state: duel.State, seat: Seat, command: object) -> Any:
    events = duel.decide(state, seat, command)
    return events if isinstance(events, Rejected) else tuple(map(_one_higher, events))


def _one_higher(event: duel.Event) -> duel.Event:
    if isinstance(event, duel.Placed) and event.height:
        return duel.Placed(event.seat, event.column, event.height + 1)
    return event


V1: AnyGame = duel.GAME
V2: AnyGame = replace(V1, version=2, decide=_decide_higher, previous=V1)
ONLY_V1 = {V1.name: V1}
BOTH = {V2.name: V2}
ONLY_V2 = {V2.name: replace(V2, previous=None)}
