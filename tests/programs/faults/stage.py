"""Where a part is played: a rig with a crowd, the history of both, and the judgement at the end."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from io import StringIO
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Final

import msgspec

from tests.programs.bench.report import Figure
from tests.programs.faults.checker import Violation, check
from tests.programs.faults.crowd import Crowd, Size
from tests.programs.faults.habits import Habits
from tests.programs.faults.history import Ack, History, Invoke, Recv, Reject, Sync, Unknown
from tests.programs.faults.logs import RoomLog, read_logs
from tests.programs.faults.logs import told as read
from tests.programs.faults.players import ROOM_GONE
from tests.programs.faults.report import Outcome, share_in_flight
from tests.programs.faults.rig import SERVE, Rig, Store, running
from tests.proxy.faults import HOST, FaultProxy
from tests.store.several import Group
from towerhall_server.cli.progress import Progress
from towerhall_server.game import discover

HOT_SECONDS: Final = 5.0
HOT_LOOK_SECONDS: Final = 0.001


class Order(msgspec.Struct, frozen=True):
    """How a part is to be run."""

    folder: Path
    """Empty, and its own."""
    short: bool = False
    seed: int = 1
    alone: bool = True
    """Nothing else is run at the same time."""

    def of(self, short: int, full: int) -> int:
        return short if self.short else full


class Stage:
    """One run of one part."""

    def __init__(
        self, part: str, order: Order, rig: Rig, crowd: Crowd, fronts: Sequence[FaultProxy] = ()
    ) -> None:
        self.part = part
        self.order = order
        self.rig = rig
        self.crowd = crowd
        self.history = crowd.history
        self.fronts = fronts
        """Between clients and nodes."""
        self.failures: list[str] = []
        self.losses: list[int] = []
        """Ticks at which the store went back."""
        self.discarded: list[Path] = []
        """What it held until then."""
        self.allow_exceptions = False
        self.late_ms: list[int] = []
        """How late each timer has fired, by the service clock; known when all is judged."""
        self._began = monotonic()

    def progress(self, total: int) -> Progress:
        # Several bars would draw over each other.
        return Progress(total, self.part, None if self.order.alone else StringIO())

    async def hot(self, at: int | None = None) -> None:
        """Wait for a moment at which commands are under way."""
        deadline = monotonic() + HOT_SECONDS
        while not self.crowd.in_flight(at) and monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(HOT_LOOK_SECONDS)

    def fault(self, kind: str, at: int | None = None) -> int:
        """Note that something is being done to a node, or to all of them."""
        return self.history.fault(kind, self.crowd.in_flight(at))

    async def hit(self, kind: str, at: int | None = None) -> int:
        """The same at a moment that counts."""
        await self.hot(at)
        return self.fault(kind, at)

    async def finish(self, figures: Sequence[Figure] = ()) -> Outcome:
        """Let everything come to rest, and judge it."""
        await self.crowd.settle()
        # As soon as players leave they see nothing more: what comes after is not theirs.
        await self.crowd.leave()
        violations = await self._judged()
        if violations:
            self.history.write(self.order.folder / "history")
        rig, history = self.rig, self.history
        codes = (player.sent_away for player in self.crowd.everybody)
        sent_away = Counter(code for code in codes if code not in (0, ROOM_GONE))
        self.failures += [f"{n} players were sent away by {code}" for code, n in sent_away.items()]
        self.failures += self.crowd.unfinished
        if rig.exceptions and not self.allow_exceptions:
            self.failures.append(f"{rig.exceptions} stacks in the logs of the nodes")
        in_flight = tuple(fault.in_flight for fault in history.faults)
        return Outcome(
            part=self.part,
            seconds=monotonic() - self._began,
            rooms=self.crowd.opened,
            commands=history.count(Invoke),
            acks=history.count(Ack),
            rejects=history.count(Reject),
            unknown=history.count(Unknown),
            frames=history.count(Recv) + history.count(Sync),
            faults=Counter(fault.kind for fault in history.faults),
            in_flight=in_flight,
            violations=tuple(violations),
            failures=tuple(self.failures),
            figures=(share_in_flight(in_flight), *figures),
        )

    async def _judged(self) -> list[Violation]:
        rooms = tuple(self.history.recorders)
        dumps = [await self._dumped(folder, rooms) for folder in self.discarded]
        dumps.append(await read_logs(self.rig.store_url, rooms))
        games = discover()
        found: list[Violation] = []
        for room, clients in self.history.recorders.items():
            logs = [read(dump[room], games) for dump in dumps]
            self.late_ms += [c.late_ms for c in logs[-1] if c.late_ms is not None]
            found += check(room, clients, logs, self.losses)
        return found

    async def _dumped(self, folder: Path, rooms: Sequence[str]) -> dict[str, RoomLog]:
        """The logs in a copy of the store's files."""
        store = Store(folder)
        try:
            await store.start()
            return await read_logs(store.url, rooms)
        finally:
            await store.kill()


@asynccontextmanager
async def stage(
    part: str,
    order: Order,
    *,
    size: Size | None = None,
    habits: Habits | None = None,
    nodes: int | None = None,
    proxied: bool = False,
    cut: Callable[[], tuple[int, int]] | None = None,
    launch: Sequence[str] = SERVE,
    told: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
    several: Callable[[str, Path], AbstractContextManager[Group]] | None = None,
) -> AsyncIterator[Stage]:
    """A rig with a crowd that plays. With `cut`, through proxies that end connections by it."""
    size = size or Size(rooms=order.of(5, 12))
    nodes = order.of(2, 3) if nodes is None else nodes
    async with (
        running(
            order.folder, nodes, proxied=proxied, launch=launch, told=told, several=several
        ) as rig,
        AsyncExitStack() as stack,
    ):
        addresses = [node.address for node in rig.nodes]
        fronts: list[FaultProxy] = []
        if cut is not None:
            for node in rig.nodes:
                fronts.append(await stack.enter_async_context(FaultProxy(node.port, cut)))
            addresses = [f"{HOST}:{front.port}" for front in fronts]
        crowd = Crowd(lambda: addresses, History(), size, habits or Habits(), order.seed)
        set_up = Stage(part, order, rig, crowd, fronts)
        try:
            await crowd.open()
            yield set_up
        finally:
            await crowd.leave()
