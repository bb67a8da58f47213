"""A place at a table: the room as this client sees it, and everything that it may do there.

`connect` keeps the place over any number of breaks. Commands are answered or refused in the end,
however often the connection broke in between; a caller that awaits an answer waits longer. A
value that no message can hold raises `ValueError` or `TypeError` at the call, and nothing is sent.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from weakref import WeakSet

from towerhall_client.errors import RefusedError, TableClosedError, closed_by
from towerhall_client.evidence_folder import EvidenceFolder
from towerhall_client.history import History
from towerhall_client.line import Address, Disconnected, Line, Update
from towerhall_client.retry import Retry
from towerhall_client.room_commands import Answer, RoomCommands
from towerhall_client.sendable import as_read, body_as_read
from towerhall_protocol import updates as u
from towerhall_protocol.document import Document
from towerhall_protocol.evidence import Evidence
from towerhall_protocol.level import MSGPACK
from towerhall_protocol.messages import (
    ClientChat,
    ClientCommand,
    ClientEmote,
    ClientSign,
    ServerFrame,
)
from towerhall_protocol.offers import Offer
from towerhall_protocol.replay import Replay

__all__ = ["Answer", "Disconnected", "Table", "Update", "connect"]

PING_SECONDS: Final = 10.0


@asynccontextmanager
async def connect(
    url: str,
    code: str,
    token: str,
    *,
    key: str = "",
    subprotocol: str = MSGPACK,
    keep_frames: bool = False,
    retry: Retry | None = None,
    ping_seconds: float = PING_SECONDS,
    random_bytes: Callable[[int], bytes] = secrets.token_bytes,
    evidence: EvidenceFolder | None = None,
) -> AsyncIterator["Table"]:
    """The table of that room, from the first welcome on. `TableClosedError` if there is none. What
    the service says of its log is kept in the folder for `evidence`, if there is one."""
    table = Table(
        Address(url, code, token, key, subprotocol),
        Replay(
            random_bytes,
            keep_frames=keep_frames,
            recall=_nothing if evidence is None else evidence.find,
        ),
        retry or Retry(),
        ping_seconds,
        _nothing if evidence is None else evidence.keep,
    )
    task = asyncio.create_task(table.run(), name=f"table {code}")
    try:
        await table.entered()
        yield table
    finally:
        task.cancel()
        await asyncio.wait((task,))
        if not task.cancelled():
            task.result()


class Table(RoomCommands):
    """The view of one client of a room, and its commands there."""

    def __init__(
        self,
        address: Address,
        replay: Replay,
        retry: Retry,
        ping_seconds: float,
        keep: Callable[[Evidence], None] = lambda evidence: None,
    ) -> None:
        self.code = address.code
        self.replay = replay
        self._line = Line(address, replay, self._happened, retry, ping_seconds)
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._history = History(self._line, self._line_is_up, retry.sleep)
        self._listeners: WeakSet[_Listener] = WeakSet()
        self._change = asyncio.Event()
        self._closed: TableClosedError | None = None
        self._keep, self._kept = keep, replay.evidence

    # State

    @property
    def view(self) -> Document:
        """What this client sees. Never change it: its parts are shared with later views."""
        return self.replay.view

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The legal commands of this seat; empty while it is not its turn."""
        return self.replay.offers

    @property
    def seat(self) -> int | None:
        """The seat of this person, or `None`."""
        return self.replay.seat

    @property
    def seq(self) -> int:
        """The last commit that is in the view."""
        return self.replay.seq

    @property
    def you(self) -> str:
        """The id of this person in this room (P-19)."""
        return self.replay.you

    @property
    def name(self) -> str:
        """The name of this person, as others see it."""
        return self.replay.name

    @property
    def online(self) -> tuple[int, ...]:
        """The seats that are connected."""
        return self.replay.online

    @property
    def watchers(self) -> int:
        """How many connections have no seat."""
        return self.replay.watchers

    @property
    def paused(self) -> bool:
        """Whether no commit is possible at this moment (P-95)."""
        return self.replay.paused

    @property
    def is_private(self) -> bool:
        """Whether the room opens by its key only."""
        return self.replay.private

    @property
    def unanswered(self) -> int:
        """How many commands are under way."""
        return len(self.replay.unanswered)

    @property
    def status(self) -> str:
        """`waiting`, `sealed`, `playing` or `over`."""
        room = self.view.get("room")
        return str(room.get("status", "")) if isinstance(room, dict) else ""

    @property
    def is_up(self) -> bool:
        """Whether the connection stands at this moment."""
        return self._line.up

    @property
    def evidence(self) -> Evidence | None:
        """Evidence of this room, to be compared with its record (P-87)."""
        return self.replay.evidence

    # Waiting

    def __aiter__(self) -> AsyncIterator[Update]:
        """Everything that happens from now on."""
        listener = _Listener(self)
        self._listeners.add(listener)
        return listener

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until the condition, which is looked at whenever something happens, holds."""
        while not condition():
            if self._closed is not None:
                raise self._closed
            await self._change.wait()

    async def entered(self) -> None:
        """Wait until the room has welcomed this client for the first time."""
        await self.until(lambda: self._line.entered)

    async def turn(self) -> tuple[Offer, ...]:
        """Wait for this seat's turn: its offers, or nothing when the game is over."""
        await self.until(lambda: self.offers or self.status == "over")
        # A room that was closed in the middle of a game leaves its last offers standing.
        return () if self.status == "over" else self.offers

    # Doing

    async def send(self, command: Mapping[str, Any]) -> Answer:
        """Do a command of the game or of the room. `RefusedError` if it is not allowed."""
        return await self._game_command(command, dry=False)

    async def dry(self, command: Mapping[str, Any]) -> Answer:
        """Ask what a command would lead to, without doing it."""
        return await self._game_command(command, dry=True)

    async def chat(self, text: str) -> None:
        """Send a chat line to the room. It was delivered when it comes back as `ChatSaid`."""
        await self._say(ClientChat(text))

    async def emote(self, emote: str) -> None:
        """Send one of `messages.EMOTES` to the people who are in the room now."""
        await self._say(ClientEmote(emote))

    async def sign(self) -> None:
        """Ask the service to sign the present place (P-99), for the evidence."""
        await self._say(ClientSign())

    async def history(self, first: int = 1, last: int | None = None) -> tuple[ServerFrame, ...]:
        """The frames of that range, both ends included; up to now if no end is given."""
        return await self._history.frames(first, self.seq if last is None else last)

    async def _say(self, message: ClientChat | ClientEmote | ClientSign) -> None:
        as_read(message)
        await self._line_is_up()
        self._line.post(message)

    async def _line_is_up(self) -> None:
        await self.until(lambda: self.is_up)

    async def _game_command(self, command: Mapping[str, Any], *, dry: bool) -> Answer:
        body = body_as_read(command)
        tag = self.replay.tag

        def make() -> ClientCommand:
            # It waited for others to be answered, and meanwhile the game went on.
            if self.replay.tag != tag:
                raise RefusedError("stale", "the decision has passed")
            return self.replay.command(body, dry=dry)

        return await self._ask(make)

    async def _ask(self, make: Callable[[], ClientCommand]) -> Answer:
        await self.until(lambda: not self.replay.is_full)
        if self._closed is not None:
            raise self._closed
        command = make()
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[command.n] = answer
        self._line.post(command)
        try:
            return await answer
        finally:
            self._answers.pop(command.n, None)

    # Events

    async def run(self) -> None:
        """Keep the line up; when it is down for good, fail all waiting callers."""
        try:
            await self._line.keep()
        except TableClosedError as error:
            self._end(error)
        except BaseException as error:
            self._end(closed_by(error))
            raise
        finally:
            await self._line.close()

    def _end(self, error: TableClosedError) -> None:
        self._closed = error
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error)
        self._history.end(error)
        self._changed()

    def _happened(self, update: Update) -> None:
        match update:
            case u.Answered(n, seq):
                self._answer(n, Answer(n, seq))
            case u.DryAnswered(n, effect):
                self._answer(n, Answer(n, 0, effect))
            case u.Rejected(n, code, rule, params, hint):
                self._answer(n, RefusedError(code, hint, rule, params))
        evidence = self.replay.evidence
        if evidence is not None and evidence is not self._kept:
            self._kept = evidence
            self._keep(evidence)
        self._history.happened(update)
        for listener in self._listeners:
            listener.queue.append(update)
        self._changed()

    def _answer(self, n: int, answer: Answer | RefusedError) -> None:
        future = self._answers.get(n)
        if future is None or future.done():
            return
        if isinstance(answer, RefusedError):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()


def _nothing(about: object) -> None:
    """Where no evidence is kept."""


class _Listener:
    """One reader of updates. It is forgotten when its reader forgets it."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.queue: deque[Update] = deque()

    def __aiter__(self) -> "_Listener":
        return self

    async def __anext__(self) -> Update:
        await self._table.until(lambda: self.queue)
        return self.queue.popleft()
