"""The client under test, as the cases speak with it: it comes, moves, is silent, comes back."""

import asyncio
from typing import Any

import msgspec

from towerhall_conformance.case import BrokenError, NotTriedError, expect
from towerhall_conformance.conduct import Command, Conduct, Message
from towerhall_conformance.link import GoneError, Link
from towerhall_conformance.table import PLAIN, Table


class Patience(msgspec.Struct, frozen=True):
    """Seconds that the kit waits."""

    answer: float = 5.0
    """For a message."""
    arrival: float = 15.0
    """For a client that has to come back; the first waits are below 1 s (P-101)."""
    silence: float = 0.4
    """For a message that must not come."""
    absence: float = 1.5
    """For a client that must not come back."""


class Refusal(msgspec.Struct, frozen=True):
    """An answer over HTTP in place of a socket."""

    status: int
    retry_seconds: int


class Guest:
    """One client instance, in one case."""

    def __init__(self, code: str, patience: Patience, *, watches: bool = False) -> None:
        self.code = code
        self.patience = patience
        self.watches = watches
        """It never moves."""
        self.table = Table(code)
        self.conduct = Conduct()
        self.arrivals: asyncio.Queue[Link] = asyncio.Queue()
        self.refusals: list[Refusal] = []
        """For the next handshakes."""
        self.handshakes: list[float] = []
        """When the client tried to come, by the clock of the loop."""
        self.left = asyncio.Event()
        """The program of the client has ended."""
        self.final_view: dict[str, Any] | None = None
        """Conditions that it must show at the end."""
        self.notes: list[str] = []
        """Advice that it need not follow."""
        self._links: list[Link] = []

    # Coming

    async def arrive(self, clause: str = "P-101") -> Link:
        """The next connection, up to its hello."""
        link = await self._next_link(clause)
        self._links.append(link)
        message = await self._receive(link, "P-16", "no hello came")
        expect(message[0] == "hello", "P-16", f"{message[0]} came before hello")
        link.greeting = message[1]
        self.conduct.greets(link.greeting)
        return link

    async def enter(self, status: str = "playing", **more: Any) -> Link:
        """The first connection, up to its welcome with a view."""
        self.table = Table(self.code, status)
        link = await self.arrive()
        expect(link.cursor is None, "P-16", "the first hello has a cursor")
        await self.welcome(link, whole=True, **more)
        return link

    async def come_back(self, *, whole: bool = False, **more: Any) -> Link:
        """The next connection: it must say where it stands, and gets a welcome."""
        link = await self.return_to(self.table.cursor)
        await self.welcome(link, whole=whole, **more)
        return link

    async def return_to(self, cursor: Message | None, clause: str = "P-20") -> Link:
        """The next connection, with that cursor, up to its hello."""
        link = await self.arrive()
        found = None if link.cursor is None else list(link.cursor)
        expect(found == cursor, clause, f"it came back with the cursor {found}, not {cursor}")
        return link

    async def welcome(self, link: Link, *, whole: bool, **more: Any) -> None:
        await self.silent(link, "P-16", "it did not wait for welcome", seconds=0.02)
        self.conduct.is_synced()
        await link.send(self.table.welcome(whole=whole, **more))

    async def return_to_now(self) -> Link:
        """The next connection, with the cursor of the table as it is, up to its hello."""
        return await self.return_to(self.table.cursor)

    async def faulted(self, link: Link, clause: str, why: str, *, play_on: bool = True) -> Link:
        """The client must leave, and come back without a cursor (P-25)."""
        await self.leaves(link, clause, why)
        link = await self.return_to(None, clause)
        await self.welcome(link, whole=True)
        if play_on:
            await self.finish(link)
        return link

    def now(self) -> float:
        """The clock of `handshakes`."""
        return asyncio.get_running_loop().time()

    async def nobody_comes(self, clause: str, why: str) -> None:
        """Nothing may connect for a while."""
        try:
            async with asyncio.timeout(self.patience.absence):
                await self.arrivals.get()
        except TimeoutError:
            return
        raise BrokenError(clause, why)

    # Moving

    async def offer(self, link: Link, offered: Message = PLAIN) -> None:
        await link.send(self.table.offers(offered))

    async def command(self, link: Link, clause: str = "P-36", seconds: float = 0) -> Command:
        """The next command, whatever it is. Pings are answered on the way."""
        if self.watches:
            raise NotTriedError("it only watches")
        while True:
            message = await self._receive(link, clause, "no command came", seconds)
            if message[0] == "command":
                command = Command(message)
                self.conduct.commands_(command)
                return command
            await self._aside(link, message)

    async def move(self, link: Link) -> Command:
        """The next command. It must be new, and answer the latest offers."""
        known = set(self.conduct.commands)
        command = await self.command(link)
        expect(command.n not in known, "P-26", f"command {command.n} was sent again")
        self._check(command)
        return command

    async def asked(self, link: Link, offered: Message = PLAIN) -> Command:
        """Offers, and the command that answers them."""
        if self.watches:
            raise NotTriedError("it only watches")
        await self.offer(link, offered)
        return await self.move(link)

    async def asked_later(self, link: Link, offered: Message = PLAIN) -> Command:
        """The same where a command of the former offers may still be on its way: it is refused."""
        await self.offer(link, offered)
        command = await self.command(link)
        if command.tag != self.table.tag:
            await link.send(self.rejected(command))
            return await self.move(link)
        self._check(command)
        return command

    async def again(self, link: Link, *commands: Command) -> None:
        """The unanswered commands must come again, in order and unchanged."""
        for wanted in commands:
            found = await self.command(link, "P-26")
            expect(found == wanted, "P-26", f"{vars(found)} came again for {vars(wanted)}")

    async def do(self, link: Link, command: Command, *facts: Message) -> None:
        """The frame that answers the command."""
        await link.send(self.done(command, *facts))

    def done(self, command: Command, *facts: Message) -> Message:
        self.conduct.is_answered(command.n)
        return self.table.frame(None, [0, self.conduct.origin, command.n], *facts)

    def rejected(self, command: Command, code: str = "stale") -> Message:
        self.conduct.is_answered(command.n)
        return ["rejected", command.n, code, "P-43", {}, "This came too late."]

    def duplicate(self, command: Command, seq: int | None = None) -> Message:
        self.conduct.is_answered(command.n)
        return ["duplicate", command.n, self.table.seq if seq is None else seq]

    async def perhaps(self, link: Link, seconds: float = 0) -> Command | None:
        """The next command, if one comes soon."""
        try:
            async with asyncio.timeout(seconds or self.patience.silence):
                return await self.command(link)
        except TimeoutError:
            return None

    async def turn(self, link: Link, offered: Message = PLAIN) -> int:
        """Offers, the move, and its frame: the number of the move."""
        if self.watches:
            await link.send(self.table.frame(None, [1], ["passed", 1]))
            return 0
        command = await self.asked(link, offered)
        await self.do(link, command)
        return int(command.n)

    async def silent(self, link: Link, clause: str, why: str, *, seconds: float = 0) -> None:
        """No command may come for a while."""
        try:
            async with asyncio.timeout(seconds or self.patience.silence):
                while True:
                    message = await link.receive(self.patience.answer)
                    expect(message[0] != "command", clause, f"{why}: {message}")
                    await self._aside(link, message)
        except TimeoutError:
            return
        except GoneError:
            raise BrokenError("P-101", "it left in the middle") from None

    async def leaves(self, link: Link, clause: str, why: str) -> None:
        """The client must end this connection."""
        try:
            await link.gone(self.patience.answer)
        except TimeoutError:
            raise BrokenError(clause, why) from None

    async def finish(self, link: Link) -> None:
        """One more turn, which shows that all is well, and the end of the game."""
        await self.turn(link)
        await link.send(
            self.table.frame({"game": {"gone": None, "kept": {"a": None, "c": {"d": True}}}}),
            self.table.frame({"room": {"status": "over", "result": {"scores": [2, 1]}}}),
        )
        self.final_view = self.table.view
        await link.close(1000, "done")

    async def away(self) -> None:
        """Hang up, at the end of a case."""
        while not self.arrivals.empty():
            self._links.append(self.arrivals.get_nowait())
        for link in self._links:
            await link.close(1000, "done")
            link.forget()

    # Inner matters

    def _check(self, command: Command) -> None:
        expect(
            command.tag == self.table.tag,
            "P-43",
            f"command {command.n} has the tag {command.tag!r}, the offers have {self.table.tag!r}",
        )
        why_not = self.table.why_not(command)
        expect(not why_not, "P-38", why_not)

    async def _next_link(self, clause: str) -> Link:
        arrival = asyncio.ensure_future(self.arrivals.get())
        leaving = asyncio.ensure_future(self.left.wait())
        try:
            await asyncio.wait(
                (arrival, leaving),
                timeout=self.patience.arrival,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not arrival.done():
                ended = "its program has ended" if leaving.done() else "no connection came"
                raise BrokenError(clause, f"it did not come: {ended}")
            return arrival.result()
        finally:
            arrival.cancel()
            leaving.cancel()

    async def _receive(self, link: Link, clause: str, why: str, seconds: float = 0) -> Message:
        try:
            return await link.receive(seconds or self.patience.answer)
        except TimeoutError:
            raise BrokenError(clause, why) from None
        except GoneError:
            raise BrokenError(clause, f"{why}: it left") from None

    async def _aside(self, link: Link, message: Message) -> None:
        """Other messages that a client may send."""
        expect(message[0] != "hello", "P-16", "hello came twice")
        if message[0] == "ping":
            expect(message[1] <= self.table.seq, "P-94", "a ping names a commit that is not there")
            await link.send(["pong", message[1], [1700000000000, 5000]])
        elif message[0] == "history":
            await link.send(self.table.history(*message[1:3]))
        elif message[0] == "sign":
            await link.send(["error", "not_signed", {}, "this server has no key to sign with"])
