"""A server that notes which of its files each move passes, from receive to the last viewer.

SIGUSR1 starts the trace, SIGUSR2 ends it and logs one line of JSON for each move. A line of the log
confirms each of the two. Run as a module.
"""

import json
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

import towerhall_server
from towerhall_server.cli.main import main

SERVER: Final = f"{Path(towerhall_server.__file__).parent}/"
RULES: Final = "games/five_towers/rules.py"
MARK: Final = "passed: "
BEGUN: Final = "the trace has begun"
DONE: Final = "all is told"


class Call(NamedTuple):
    """A call of a function of the server. Paths are relative to its package."""

    caller: str
    """Empty if the event loop calls."""
    file: str
    function: str

    @property
    def receives(self) -> bool:
        return (self.file, self.function) == ("gateway/ws/socket.py", "data_received")

    @property
    def sends(self) -> bool:
        return (self.file, self.function) == ("gateway/ws/outbox.py", "send")


_calls: list[Call] = []


def _path(frame: FrameType | None) -> str:
    name = "" if frame is None else frame.f_code.co_filename
    return name.removeprefix(SERVER) if name.startswith(SERVER) else ""


def _note(frame: FrameType, event: str, _: object) -> None:
    if event == "call" and (file := _path(frame)):
        _calls.append(Call(_path(frame.f_back), file, frame.f_code.co_name))


def moves(calls: list[Call]) -> list[list[Call]]:
    """The calls of each move: from the message of a client to the last viewer's frame."""
    starts = [at for at, call in enumerate(calls) if call.receives]
    found = []
    for start, end in zip(starts, [*starts[1:], len(calls)], strict=True):
        sent = [at for at in range(start, end) if calls[at].sends]
        if sent and any(call.file == RULES for call in calls[start:end]):
            found.append(calls[start : sent[-1] + 1])
    return found


def _begin(*_: object) -> None:
    _say(BEGUN)
    sys.setprofile(_note)


def _end(*_: object) -> None:
    sys.setprofile(None)
    for move in moves(_calls):
        _say(f"{MARK}{json.dumps(move)}")
    _say(DONE)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _begin)
    signal.signal(signal.SIGUSR2, _end)
    sys.exit(main())
