"""The kit as a server: it leads every connection to its case, and lets cases run side by side.

The case is chosen by the code of the room in the address. The code `CFNEXT` stands for all of them
in turn: the next case begins with the first connection after the one before has ended.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from towerhall_conformance.case import BrokenError, Case, NotTriedError, Verdict
from towerhall_conformance.guest import Guest, Patience
from towerhall_conformance.link import GoneError, Link
from towerhall_conformance.merge import same
from towerhall_protocol.codec import FROM_CLIENT
from towerhall_protocol.level import SUBPROTOCOLS

LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
NEXT: Final = "CFNEXT"
PATH: Final = "/v1/rooms/"


def code_of(number: int) -> str:
    """The room of a case: two letters of the kit, and the number in letters."""
    letters = ""
    for _ in range(4):
        number, rest = divmod(number, len(LETTERS))
        letters = LETTERS[rest] + letters
    return f"CF{letters}"


class _Running:
    """A case that has begun."""

    def __init__(self, guest: Guest, task: "asyncio.Task[None]") -> None:
        self.guest, self.task = guest, task


class Stage:
    """All cases, and who plays them."""

    def __init__(
        self,
        cases: Sequence[Case[Guest]],
        patience: Patience,
        tell: Callable[[Verdict], None],
        *,
        watches: bool = False,
    ) -> None:
        self.rooms: Mapping[str, Case[Guest]] = {code_of(case.number): case for case in cases}
        self.verdicts: dict[str, Verdict] = {}
        self.shown: dict[str, Any] = {}
        """The last views that clients showed, by code."""
        self.ended = asyncio.Event()
        """All cases have a verdict."""
        self.port = 0
        self._patience = patience
        self._tell = tell
        self._watches = watches
        self._running: dict[str, _Running] = {}
        self._views: dict[str, Any] = {}

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}{PATH}"

    def urls(self) -> Mapping[str, str]:
        """The address of each case."""
        return {code: self.url + code for code in self.rooms}

    def begin(self, code: str) -> Guest:
        """Begin that case, unless it has begun: from now on the client is waited for."""
        running = self._running.get(code)
        if running is None:
            guest = Guest(code, self._patience, watches=self._watches)
            task = asyncio.create_task(self._play(code, guest), name=code)
            running = self._running[code] = _Running(guest, task)
        return running.guest

    def leave(self, codes: Iterable[str]) -> None:
        """The client of these cases has ended: nothing more will come."""
        for code in codes:
            self.begin(code).left.set()

    async def verdict(self, code: str) -> None:
        """Wait until the case has one."""
        self.begin(code)
        await asyncio.wait((self._running[code].task,))

    def compare_views(self) -> None:
        """Hold what clients showed at the end against what they were told (P-33)."""
        for code, shown in self.shown.items():
            verdict, wanted = self.verdicts.get(code), self._views.get(code)
            if verdict is None or wanted is None or verdict.verdict != "passed":
                continue
            if not same(wanted, shown):
                why = f"P-33: its last view is {shown}, not {wanted}"
                self._set(code, "failed", why[:400], verdict.seconds)

    async def close(self) -> None:
        for running in self._running.values():
            running.task.cancel()
        await asyncio.gather(*(r.task for r in self._running.values()), return_exceptions=True)

    async def serve(self, socket: ServerConnection) -> None:
        code = None if socket.request is None else self._code(socket.request.path)
        link = Link(socket)
        if socket.subprotocol is None:
            link.refuse_subprotocol()
        try:
            if code is None or code in self.verdicts:
                await link.close(1000, "done")
                return
            self.begin(code).arrivals.put_nowait(link)
            await socket.wait_closed()
        finally:
            link.forget()

    def answer(self, socket: ServerConnection, request: Request) -> Response | None:
        """The handshake: an answer over HTTP, if a case wants one."""
        code = self._code(request.path)
        if code is None:
            return _refusal(404, 0)
        guest = self.begin(code)
        guest.handshakes.append(asyncio.get_running_loop().time())
        if guest.refusals:
            refusal = guest.refusals.pop(0)
            return _refusal(refusal.status, refusal.retry_seconds)
        return None

    def _code(self, path: str) -> str | None:
        code = path.removeprefix(PATH).partition("?")[0]
        if code == NEXT:
            return next((each for each in self.rooms if each not in self.verdicts), None)
        return code if code in self.rooms else None

    async def _play(self, code: str, guest: Guest) -> None:
        began = asyncio.get_running_loop().time()
        verdict, why = "passed", ""
        try:
            await self.rooms[code].play(guest)
            why = "; ".join(guest.notes)
        except BrokenError as error:
            verdict, why = "failed", str(error)
        except NotTriedError as error:
            verdict, why = "not tried", str(error)
        except GoneError:
            verdict, why = "failed", "P-101: it left in the middle"
        self._views[code] = guest.final_view
        self._set(code, verdict, why, asyncio.get_running_loop().time() - began)
        await guest.away()

    def _set(self, code: str, verdict: str, why: str, seconds: float) -> None:
        case = self.rooms[code]
        self.verdicts[code] = Verdict(
            case.number, case.name, case.clauses, verdict, why, round(seconds, 3)
        )
        self._tell(self.verdicts[code])
        if len(self.verdicts) == len(self.rooms):
            self.ended.set()


def _refusal(status: int, retry_seconds: int) -> Response:
    code = {404: "room_gone", 429: "too_many"}.get(status, "server_full")
    params = f'{{"retry_ms":{retry_seconds * 1000}}}' if retry_seconds else "{}"
    body = f'{{"error":{{"code":"{code}","params":{params},"hint":"try again"}}}}'.encode()
    headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(body))})
    if retry_seconds:
        headers["Retry-After"] = str(retry_seconds)
    headers["Connection"] = "close"
    return Response(status, "", headers, body)


def _select(socket: ServerConnection, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """The first of the client's that we speak (P-1). Without one the handshake goes on, and the
    case says what is wrong."""
    return next((each for each in offered if each in SUBPROTOCOLS), None)


@asynccontextmanager
async def open_stage(
    cases: Sequence[Case[Guest]],
    *,
    port: int = 0,
    patience: Patience | None = None,
    tell: Callable[[Verdict], None] = lambda verdict: None,
    watches: bool = False,
) -> AsyncIterator[Stage]:
    """The kit at work on that port of this machine; 0 is any free one."""
    stage = Stage(cases, patience or Patience(), tell, watches=watches)
    server = await serve(
        stage.serve,
        "127.0.0.1",
        port,
        process_request=stage.answer,
        select_subprotocol=_select,
        compression=None,
        ping_interval=None,
        close_timeout=0.5,
        max_size=4 * FROM_CLIENT.message_bytes,
    )
    stage.port = next(iter(server.sockets)).getsockname()[1]
    try:
        yield stage
    finally:
        await stage.close()
        server.close()
        await server.wait_closed()
