"""Every history of a small log holds together, and the explorer finds bugs that are put in."""

from functools import partial
from typing import Final

import pytest

from tests.eventlog.explorer.exploring import Explored, explore
from tests.eventlog.explorer.laws import is_end
from tests.eventlog.explorer.model import Budget, Rules, begin, following
from tests.eventlog.explorer.script import MOVE_TEXT, TEXT, compiled
from tests.examples import examples, is_long

BRIEF: Final = {
    "a lost reply and a lost tail": (Budget(replies=1, tails=1), 3, True),
    "a lost reply, a lost tail and a crash": (Budget(replies=1, tails=1, crashes=1), 2, True),
    "a lost reply, a late request and a crash": (Budget(replies=1, crashes=1, late=1), 2, True),
    "a lost tail and a crash without moves": (Budget(replies=1, tails=1, crashes=1), 2, False),
}
"""Accidents, commands, and whether commands are asked for as moves."""
FULL: Final = {
    "a late request, three commands": (Budget(replies=1, crashes=1, late=1), 3, True),
    "a lost tail, three commands": (Budget(replies=1, tails=1, crashes=1), 3, True),
    "a lost tail, three commands without moves": (Budget(replies=1, tails=1, crashes=1), 3, False),
    "all accidents, two commands": (Budget(replies=2, tails=1, crashes=1, late=1), 2, True),
}
HISTORIES: Final = BRIEF | (FULL if is_long() else {})


def changed(old: str, new: str) -> Rules:
    """The rules with a bug in the whole script, which gets every request."""
    assert TEXT.count(old) == 1
    return Rules(compiled(TEXT.replace(old, new)), moves=False)


def moved(old: str, new: str) -> Rules:
    """The rules with a bug in the script of moves."""
    assert MOVE_TEXT.count(old) == 1
    return Rules(compiled(move_text=MOVE_TEXT.replace(old, new)))


def explored(rules: Rules, budget: Budget, commands: int) -> Explored:
    first = begin(rules, budget, commands)
    return explore(first, partial(following, rules), partial(is_end, rules))


@pytest.mark.timeout(examples(300, 3600))
@pytest.mark.parametrize("name", HISTORIES)
def test_every_history_holds_together(name: str) -> None:
    budget, commands, moves = HISTORIES[name]
    found = explored(Rules(compiled(), moves=moves), budget, commands)
    print(f"\n{name}: {found.states} states, {found.steps} steps, {found.ends} ends")
    assert found.broken == ""
    assert found.ends > found.states / 10, "most histories come to an end"


REPLY: Final = Budget(replies=1)
REPLY_AND_TAIL: Final = Budget(replies=1, tails=1)
SEEDED: Final = {
    "the seq alone is compared": (
        changed("top_seq ~= expected or top.c ~= previous)", "top_seq ~= expected)"),
        REPLY_AND_TAIL,
        "the log is forked",
    ),
    "nothing is compared": (
        changed("  return {'CONFLICT', top_seq, top.c}\n", ""),
        REPLY_AND_TAIL,
        "an id of a stream",
    ),
    "a move looks at the seq alone": (
        moved(" or top[2][4] ~= ARGV[2]", ""),
        REPLY_AND_TAIL,
        "the log is forked",
    ),
    "a move that changed nothing counts as done": (
        moved("then return 0 end", "then return 1 end"),
        REPLY,
        "the log",
    ),
    "any commit is taken for the own one": (
        changed("if found and found.i == commit_id then", "if found then"),
        REPLY,
        "an acknowledged command is not in the log",
    ),
    "a reader does not look at its own entry": (
        Rules(compiled(), reads_own=False),
        REPLY_AND_TAIL,
        "a command is decided again and again",
    ),
    "a node takes its tail for healed whatever the store answers": (
        Rules(compiled(), heal_looks=False),
        REPLY_AND_TAIL,
        "a node goes on with a tail that the log does not hold",
    ),
    "a tail is given up": (
        Rules(compiled(), heals=False),
        REPLY_AND_TAIL,
        "a tail that a node holds is not put back",
    ),
    "a command that stands in the log is decided again": (
        Rules(compiled(), looks_up=False),
        REPLY_AND_TAIL,
        "a rejected command is in the log",
    ),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_seeded_bug_is_found(name: str) -> None:
    rules, accidents, broken = SEEDED[name]
    found = explored(rules, accidents, commands=2)
    assert broken in found.broken
