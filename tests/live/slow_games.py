"""Slow duels for search processes, which find their games by a function of a module.

`SLOW` decides every command in a process. `AHEAD` decides `give_back` before it is given, and
its bots are slow. A bot of `BOTS` fails in the process of a test. The command `nasty` does to the
process what it says.
"""

import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.games import tile_duel as duel
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.game import AnyGame, Seat


def decide(state: duel.State, seat: Seat, command: Any) -> Any:
    if isinstance(command, dict) and command.get("command") == "nasty":
        return nasty(command)
    return duel.decide(state, seat, command)


def nasty(command: dict[str, Any]) -> Any:
    match command["do"]:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "die once":
            # The file is there from the first time on.
            if not (file := Path(command["file"])).exists():
                file.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise ZeroDivisionError("as it was told to")
        case "print":
            print("x" * 10_000)
        case "burn":
            end = time.process_time() + command["ms"] / 1000
            while time.process_time() < end:
                pass
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    return duel.rejected("bad_command", detail=f"{os.getpid()} {os.getppid()} {niceness}")


def always(state: duel.State, seat: Seat, command: object) -> bool:
    return True


def ahead(state: duel.State) -> tuple[Seat, dict[str, object]] | None:
    to_act = duel.to_act(state)
    return (to_act[0], {"command": "give_back"}) if state.phase == "place" else None


def choose_by_pid(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """The first command that is offered, for a bot that must not run in this process."""
    if "pytest" in sys.modules:
        raise AssertionError("a slow bot chose in the process of the server")
    return next(iter(offers[0].commands()))


SLOW: AnyGame = replace(duel.GAME, decide=decide, slow=always)
AHEAD: AnyGame = replace(duel.GAME, name="ahead", ahead=ahead, slow_bots=True)
BOTS: AnyGame = replace(AHEAD, name="bots", bots={"medium": choose_by_pid})


def games() -> Mapping[str, AnyGame]:
    return {game.name: game for game in (SLOW, AHEAD, BOTS)}
