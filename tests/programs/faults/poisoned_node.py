"""`towerhall serve` with faults put into the rules: what is run in place of a node, for one part.

`POISON_DECIDE` is the share of a game's decisions that raise. `POISON_REPLAY` is one of how many
rooms cannot be followed by this node after their first commits.
"""

import os
import sys
from hashlib import blake2b
from random import Random
from typing import Any

from towerhall_server.cli.main import main
from towerhall_server.eventlog.entry import Entry
from towerhall_server.game import discover
from towerhall_server.live.fan_out import Change
from towerhall_server.live.replica import Replica

FIRST_SEQ = 20


class PoisonError(Exception):
    """Thrown on purpose."""


def is_poisoned(code: str, one_of: int) -> bool:
    """Known to the node and to whoever judges it."""
    return one_of > 0 and blake2b(code.encode(), digest_size=4).digest()[0] % one_of == 0


def poison_decisions(share: float) -> None:
    chance = Random(1)
    for game in discover().values():
        decide = game.decide

        def throwing(state: Any, seat: Any, command: object, decide: Any = decide) -> Any:
            if chance.random() < share:
                raise PoisonError("in a decision")
            return decide(state, seat, command)

        object.__setattr__(game, "decide", throwing)
        object.__setattr__(game, "advance", None)


def poison_replay(one_of: int) -> None:
    follow = Replica.follow

    def throwing(self: Replica, entry: Entry) -> Change:
        if entry.seq > FIRST_SEQ and is_poisoned(self.room.table.code, one_of):
            raise PoisonError("in a replay")
        return follow(self, entry)

    Replica.follow = throwing  # type: ignore[method-assign]


if __name__ == "__main__":
    poison_decisions(float(os.environ.get("POISON_DECIDE", "0")))
    poison_replay(int(os.environ.get("POISON_REPLAY", "0")))
    sys.exit(main(["serve", *sys.argv[1:]]))
