"""Of several connections of a person one has the seat, and nobody is locked out of it."""

import os
from functools import partial
from typing import Final

import pytest

from tests.eventlog.explorer.exploring import Explored, explore
from tests.examples import LONG
from tests.live.explorer.claims_laws import is_end
from tests.live.explorer.claims_model import Budget, Rules, begin, following

BRIEF: Final = {
    "the store goes back": Budget(back=1),
    "two come in the same moment, and the store goes back": Budget(2, ties=1, back=1),
    "messages are lost, and the store goes back": Budget(2, back=1, breaks=1),
    "a node crashes, and the store goes back": Budget(2, back=1, crashes=1),
}
FULL: Final = {"all of it": Budget(2, ties=1, back=1, breaks=1, crashes=1)}
HISTORIES: Final = BRIEF | (FULL if LONG in os.environ else {})


def explored(rules: Rules, budget: Budget) -> Explored:
    return explore(begin(budget), partial(following, rules), partial(is_end, rules))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", HISTORIES)
def test_every_history_leaves_one_connection(name: str) -> None:
    found = explored(Rules(), HISTORIES[name])
    print(f"\n{name}: {found.states} states, {found.steps} steps, {found.ends} ends")
    assert found.broken == ""
    assert found.ends > found.states / 10, "most histories come to an end"


SEEDED: Final = {
    "a claim is the clock of the store alone": (
        Rules(raised=lambda claim, known: claim),
        Budget(2, back=1),
        "a new connection is sent away as replaced",
    ),
    "equal claims both stay": (
        Rules(yields=lambda claim, node, other, there: claim < other),
        Budget(2, ties=1),
        "two connections of a seat both stay",
    ),
    "equal claims both go": (
        Rules(yields=lambda claim, node, other, there: claim <= other),
        Budget(2, ties=1),
        "each of the connections was replaced by another one",
    ),
    "the older connection stays": (
        Rules(yields=lambda claim, node, other, there: (claim, node) > (other, there)),
        Budget(2),
        "a new connection is sent away as replaced",
    ),
    "a break of the subscription is not made up for": (
        Rules(asks_after_breaks=False),
        Budget(2, breaks=1),
        "two connections of a seat both stay",
    ),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seeded_bug_is_found(name: str) -> None:
    rules, budget, broken = SEEDED[name]
    assert broken in explored(rules, budget).broken
