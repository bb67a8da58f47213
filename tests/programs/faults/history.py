"""What every client did and saw, and what was done to the service, in one order.

All clients of a run live in one process, so one counter of ticks orders everything that they have
recorded. A client that comes back keeps its recorder: a history is that of a person, not of a
connection. Nothing is judged here; that is the `checker`'s.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TypeAlias

import msgspec


class Invoke(msgspec.Struct, frozen=True, tag="invoke"):
    """A command was sent for the first time. A tagged one answers one decision and no other."""

    tick: int
    n: int
    tagged: bool = True


class Ack(msgspec.Struct, frozen=True, tag="ack"):
    """The command was said to stand in that commit."""

    tick: int
    n: int
    seq: int


class Reject(msgspec.Struct, frozen=True, tag="reject"):
    """The command was said not to be done, ever."""

    tick: int
    n: int
    code: str


class Unknown(msgspec.Struct, frozen=True, tag="unknown"):
    """The connection ended before the answer came; the same command will be sent again."""

    tick: int
    n: int


class Recv(msgspec.Struct, frozen=True, tag="recv"):
    """A commit was shown; afterwards the view had that hash."""

    tick: int
    seq: int
    mark: str
    view: str


class Sync(msgspec.Struct, frozen=True, tag="sync"):
    """A welcome or a reset. `whole`: the view was replaced; `lost`: so many commits went back."""

    tick: int
    seq: int
    mark: str
    view: str
    lost: int = 0
    whole: bool = True


class Gone(msgspec.Struct, frozen=True, tag="gone"):
    """The client was told that there is no such room."""

    tick: int


class Fault(msgspec.Struct, frozen=True, tag="fault"):
    """Something was done to the service while so many commands were under way there."""

    tick: int
    kind: str
    in_flight: int


Entry: TypeAlias = Invoke | Ack | Reject | Unknown | Recv | Sync | Gone


class Recorder:
    """The history of one client of one room."""

    def __init__(self, room: str, origin: str, ticks: Iterator[int]) -> None:
        self.room = room
        self.origin = origin
        self.entries: list[Entry] = []
        self._ticks = ticks

    def invoke(self, n: int, *, tagged: bool) -> None:
        self.entries.append(Invoke(next(self._ticks), n, tagged))

    def ack(self, n: int, seq: int) -> None:
        self.entries.append(Ack(next(self._ticks), n, seq))

    def reject(self, n: int, code: str) -> None:
        self.entries.append(Reject(next(self._ticks), n, code))

    def unknown(self, n: int) -> None:
        self.entries.append(Unknown(next(self._ticks), n))

    def recv(self, seq: int, mark: str, view: str) -> None:
        self.entries.append(Recv(next(self._ticks), seq, mark, view))

    def sync(self, seq: int, mark: str, view: str, *, lost: int, whole: bool) -> None:
        self.entries.append(Sync(next(self._ticks), seq, mark, view, lost, whole))

    def gone(self) -> None:
        self.entries.append(Gone(next(self._ticks)))


class History:
    """Everything of one run."""

    def __init__(self) -> None:
        self.recorders: dict[str, list[Recorder]] = {}
        """By room."""
        self.faults: list[Fault] = []
        self._ticks = count(1)

    def client(self, room: str, origin: str) -> Recorder:
        """A recorder for somebody new in that room."""
        recorder = Recorder(room, origin, self._ticks)
        self.recorders.setdefault(room, []).append(recorder)
        return recorder

    def fault(self, kind: str, in_flight: int) -> int:
        """Its tick."""
        fault = Fault(next(self._ticks), kind, in_flight)
        self.faults.append(fault)
        return fault.tick

    def count(self, kind: type[Entry]) -> int:
        """How many entries of a kind all clients have together."""
        everybody = (each for recorders in self.recorders.values() for each in recorders)
        return sum(type(entry) is kind for each in everybody for entry in each.entries)

    def write(self, folder: Path) -> None:
        """One file of JSON lines for each client, and one for the faults."""
        encode = msgspec.json.Encoder().encode
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "faults.jsonl").write_bytes(b"\n".join(map(encode, self.faults)))
        for room, recorders in self.recorders.items():
            for recorder in recorders:
                lines = b"\n".join(map(encode, recorder.entries))
                (folder / f"{room}-{recorder.origin}.jsonl").write_bytes(lines)
