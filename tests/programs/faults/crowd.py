"""Many rooms of players and spectators, kept busy: when a game is over, another one is begun."""

import asyncio
import math
from collections.abc import Callable, Container, Iterator, Sequence
from random import Random
from typing import Final, TypeVar

import msgspec

from tests.programs.faults.habits import Habits
from tests.programs.faults.history import History
from tests.programs.faults.players import Player
from tests.programs.faults.rig import KEY
from towerhall_client.errors import ServiceError
from towerhall_client.http import Service
from towerhall_protocol.replay import Replay
from towerhall_server.access.tokens import Tokens, new_person

GAME: Final = "five_towers"
QUIET_SECONDS: Final = 40.0
LOOK_SECONDS: Final = 0.05
SETTLED_LOOKS: Final = 6
OPEN_SECONDS: Final = 60.0
BEFORE: Final = ("", "waiting", "sealed")
PlayerKind = TypeVar("PlayerKind", bound=Player)


class Size(msgspec.Struct, frozen=True):
    """How many there are."""

    rooms: int = 12
    seats: int = 3
    watchers: int = 1
    turn_seconds: int = 0
    keep: bool = False
    """Stay in a room when its game is over."""


class CrowdTable:
    """One room with its players."""

    def __init__(self, crowd: "Crowd", code: str, chance: Random) -> None:
        self.code = code
        self.seats = crowd.size.seats
        self.players: list[Player] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.replaced = False
        """Another game was begun when this one was over."""
        self._watched_from = 0.0
        self._longest_wait = 0.0
        self._struck_at: float | None = None
        self._all_back = False
        self._crowd = crowd
        self._chance = chance

    @property
    def habits(self) -> Habits:
        return self._crowd.habits

    @property
    def quiet(self) -> bool:
        return self._crowd.quiet

    @property
    def over(self) -> bool:
        return all(player.status == "over" or player.sent_away for player in self.players)

    @property
    def is_struck(self) -> bool:
        """Whether no player has moved since something happened."""
        return self._struck_at is not None and not self.over

    @property
    def sent_away(self) -> bool:
        return all(player.sent_away for player in self.players)

    @property
    def level(self) -> bool:
        """Whether all are there, have no question open, and stand at the same place."""
        present = [player for player in self.players if not player.sent_away]
        places = {(p.replay.cursor.seq, p.replay.cursor.mark) for p in present if p.replay.cursor}
        busy = any(not player.up or player.replay.unanswered for player in present)
        return not busy and len(places) <= 1

    def addresses(self) -> Sequence[str]:
        return self._crowd.addresses()

    def enter(self, token: str, wanted: int | None, wish: int | None = None) -> Player:
        """A new person: for that seat or to watch, at that address or at any."""
        return self.enter_as(Player, token, wanted, wish)

    def enter_as(
        self, kind: type[PlayerKind], token: str, wanted: int | None, wish: int | None
    ) -> PlayerKind:
        """The same with other habits."""
        replay = Replay(self._chance.randbytes)
        recorder = self._crowd.history.client(self.code, replay.origin)
        player = kind(self, wanted, token, replay, recorder)
        player.wish = wish
        self.players.append(player)
        self.tasks.append(asyncio.create_task(player.run(), name=f"player in {self.code}"))
        return player

    def noticed(self, player: Player) -> None:
        if self._struck_at is not None and not self._all_back:
            self._all_back = all(each.up for each in self.players if each.wanted is not None)
        if player.status == "over" and self.over:
            self._crowd.ended(self)

    def moved(self, player: Player, seconds: float) -> None:
        """The first move after everybody is back: the room is playable again."""
        self._crowd.latencies.append(seconds)
        watched = asyncio.get_running_loop().time() - self._watched_from
        self._longest_wait = max(self._longest_wait, min(seconds, watched))
        if self._struck_at is not None and self._all_back:
            elapsed = asyncio.get_running_loop().time() - self._struck_at
            self._crowd.back_after.append(elapsed)
            self._struck_at = None

    @property
    def longest_wait(self) -> float:
        """Seconds for which a command has waited, at most, since `watch`. Those without an answer
        count as well."""
        now = asyncio.get_running_loop().time()
        return max(self._longest_wait, now - max(self.waits_since, self._watched_from))

    @property
    def waits_since(self) -> float:
        """When the oldest command without an answer was sent; infinite if all have one."""
        here = (player.waits_since for player in self.players if not player.sent_away)
        return min(here, default=math.inf)

    def watch(self) -> None:
        """From now on waiting counts."""
        self._watched_from, self._longest_wait = asyncio.get_running_loop().time(), 0.0

    def returned(self, seconds: float) -> None:
        self._crowd.away.append(seconds)

    def strike(self) -> None:
        """From now on it counts how long it takes until all are here and somebody has moved."""
        self._struck_at, self._all_back = asyncio.get_running_loop().time(), False

    async def leave(self) -> None:
        for player in self.players:
            player.stop()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


class Crowd:
    """All tables of a run."""

    def __init__(
        self,
        addresses: Callable[[], Sequence[str]],
        history: History,
        size: Size,
        habits: Habits,
        seed: int,
    ) -> None:
        self.addresses = addresses
        self.history = history
        self.size = size
        self.habits = habits
        self.quiet = False
        self.closing = False
        """No further game is begun; those that are played may go on."""
        self.tables: dict[str, CrowdTable] = {}
        """Those that are played at."""
        self.opened = 0
        self.back_after: list[float] = []
        """Seconds from a strike to the first move of each room after it."""
        self.away: list[float] = []
        """Seconds from each break to the next welcome."""
        self.latencies: list[float] = []
        """Seconds from sending each command to its answer."""
        self.unfinished: list[str] = []
        """What was not as it should be when all was quiet."""
        self._tokens = Tokens((KEY,), 1)
        self._chance = Random(seed)
        self._opening: set[asyncio.Task[None]] = set()
        self._ended: list[CrowdTable] = []

    def __iter__(self) -> Iterator[Player]:
        return (player for table in self.tables.values() for player in table.players)

    @property
    def everybody(self) -> list[Player]:
        """Those whose game is over and who have left as well."""
        tables = (*self.tables.values(), *self._ended)
        return [player for table in tables for player in table.players]

    def token(self, name: str = "Somebody") -> str:
        return self._tokens.issue(new_person(name))

    def in_flight(self, at: int | None = None) -> int:
        """Commands under way, at one of the addresses or anywhere."""
        return sum(player.in_flight for player in self if at is None or player.at == at)

    def strike(self, at: int | None = None, rooms: Container[str] | None = None) -> None:
        """Something happens to the node at this address: watch the games there. Or to all nodes:
        watch those whose players are all in. With `rooms`, only these are watched."""
        for table in self.tables.values():
            if rooms is not None and table.code not in rooms:
                continue
            seated = [each for each in table.players if each.wanted is not None]
            if any(each.status != "playing" for each in seated):
                continue
            if (
                all(e.up for e in seated)
                if at is None
                else any(e.up and e.at == at for e in seated)
            ):
                table.strike()

    async def recovered(self) -> None:
        """Wait until every room that was struck has moved again, and no player waits for an answer;
        not for a room that never has."""
        began = asyncio.get_running_loop().time()
        while any(t.is_struck or t.waits_since < began for t in self.tables.values()):
            if asyncio.get_running_loop().time() > began + QUIET_SECONDS:
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def open(self, rooms: int | None = None) -> None:
        """Begin so many games, and wait until they are played."""
        count = self.size.rooms if rooms is None else rooms
        await asyncio.gather(*(self._open() for _ in range(count)))
        async with asyncio.timeout(OPEN_SECONDS):
            while any(t.players[0].status in BEFORE for t in self.tables.values()):  # noqa: ASYNC110
                await asyncio.sleep(LOOK_SECONDS)

    async def _open(self) -> None:
        host = self.token("Host")
        chance = Random(self._chance.random())
        while not self.quiet:
            address = chance.choice(self.addresses())
            try:
                made = await Service(f"http://{address}").create_room(
                    host, GAME, seats=self.size.seats, turn_seconds=self.size.turn_seconds or None
                )
            except ServiceError:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            table = self.tables[made.code] = CrowdTable(self, made.code, chance)
            self.opened += 1
            table.enter(host, 0)
            for seat in range(1, self.size.seats):
                table.enter(self.token(), seat)
            for _ in range(self.size.watchers):
                table.enter(self.token("Watcher"), None)
            return

    def ended(self, table: CrowdTable) -> None:
        """Begin another game in its place, once everybody has seen the end of this one."""
        if table.replaced or table.code not in self.tables or not table.level:
            return
        table.replaced = True
        if not self.size.keep:
            del self.tables[table.code]
            self._ended.append(table)
            for player in table.players:
                player.stop()
        if not (self.quiet or self.closing):
            task = asyncio.create_task(self._open())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def settle(self) -> None:
        """Begin nothing new, and wait until everybody has all answers and sees the same."""
        self.quiet = True
        await asyncio.gather(*self._opening, return_exceptions=True)
        looks = 0
        deadline = asyncio.get_running_loop().time() + QUIET_SECONDS
        while looks < SETTLED_LOOKS and asyncio.get_running_loop().time() < deadline:
            looks = looks + 1 if all(table.level for table in self.tables.values()) else 0
            await asyncio.sleep(LOOK_SECONDS)
        self.unfinished += [
            f"{table.code} did not settle" for table in self.tables.values() if not table.level
        ]
        for table in (*self.tables.values(), *self._ended):
            for task in table.tasks:
                if task.done() and not task.cancelled() and task.exception() is not None:
                    self.unfinished.append(f"a player has failed: {task.exception()!r}")

    async def leave(self) -> None:
        for task in self._opening:
            task.cancel()
        tables = (*self.tables.values(), *self._ended)
        await asyncio.gather(*(table.leave() for table in tables))
