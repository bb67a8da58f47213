"""A server like any other with one more game, whose command `think` computes for as long as it
says. Run as a module. Its search processes find that game by `games`."""

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

from tests.games import dice_duel as duel
from towerhall_server import app
from towerhall_server.cli.main import main
from towerhall_server.game import AnyGame, Rejected, Seat, discover
from towerhall_server.live.search_process import start_search_process


def _decide(state: duel.State, seat: Seat, command: Any) -> Any:
    if not _is_slow(state, seat, command):
        return duel.decide(state, seat, command)
    end = time.thread_time() + command["ms"] / 1000
    while time.thread_time() < end:
        sum(range(1000))
    return Rejected("bad_command", "2", {"detail": "it was thought about"})


def _is_slow(state: duel.State, seat: Seat, command: object) -> bool:
    return isinstance(command, dict) and command.get("command") == "think"


THINKING: AnyGame = replace(duel.GAME, name="thinking", decide=_decide, slow=_is_slow)


def games() -> Mapping[str, AnyGame]:
    return {**discover(), THINKING.name: THINKING}


if __name__ == "__main__":
    start = partial(start_search_process, "tests.end_to_end.thinking_server:games")
    with patch.object(app, "discover", games), patch.object(app, "start_search_process", start):
        sys.exit(main())
