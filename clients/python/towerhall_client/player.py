"""The player in a terminal: lines in, lines out.

It plays any game, for it shows documents and picks from offers. It knows nothing of terminals:
lines come from wherever the caller reads them, and go to wherever it prints them, so that a pipe or
a test plays as well as a person does.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Final

from towerhall_client.connection import Answer, Table, Update
from towerhall_client.errors import RefusedError, ServiceError, TableClosedError
from towerhall_client.line import Disconnected
from towerhall_client.muted import Muted
from towerhall_client.text import (
    command_line,
    fact_line,
    find_command,
    listing,
    turn_line,
    view_lines,
)
from towerhall_protocol import updates as u
from towerhall_protocol.codec import CodecError
from towerhall_protocol.messages import EMOTES
from towerhall_protocol.offers import Offer

HELP: Final = (
    "bid 3      give an offered command: its name and values; #5 gives the fifth of them",
    "try bid 3  preview the effect of a command",
    "offers     list what you may do now; offers WORDS: only commands that begin with them",
    "view       show the whole view",
    "history    list the events so far",
    "say TEXT   send a chat line; emote NAME sends a reaction",
    "mute WHO   hide the chat of a name or a seat; unmute WHO shows it again",
    "sit, sit 2, stand, ready, unready",
    "bot LEVEL, nobot 2, kick 2, preset NAME, clock SECONDS, start   for the host",
    "admit ID, silence 2, silence ID, unsilence 2   for the host; view shows the ids",
    "leave      let a bot play for you, until you say: back",
    "call 2     let a bot play for the absent player in that seat",
    "end        agree to end the game without a result; noend withdraws it",
    "resign     resign from the game; this cannot be undone",
    "rematch    ask for a room with the same people, when the game is over",
    "quit       leave; your seat stays yours",
)


async def play(
    table: Table,
    lines: AsyncIterator[str],
    out: Callable[[str], None],
    *,
    patient: bool = False,
) -> None:
    """Play until `quit`, the end of the lines, or the end of the connection.

    A patient player, as is right for pipes, waits for its turn when a line gives a command of the
    game too early, and leaves when the game is over.
    """
    player = _Player(table, out, patient)
    player.greet()
    tasks = {asyncio.create_task(player.tell()), asyncio.create_task(player.obey(lines))}
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    try:
        for task in done:
            task.result()
    except TableClosedError as error:
        player.say(f"closed: {error}")


class _Player:
    def __init__(self, table: Table, out: Callable[[str], None], patient: bool) -> None:
        self._table = table
        self._out = out
        self._patient = patient
        self._muted = Muted()
        # From here on nothing that happens is missed.
        self._updates = aiter(table)

    def say(self, line: str) -> None:
        # Names and chat are other people's: they must not steer a terminal.
        self._out("".join(mark if mark.isprintable() else "?" for mark in line))

    def greet(self) -> None:
        table = self._table
        place = "watching" if table.seat is None else f"seat {table.seat}"
        self.say(f"room {table.code}, {table.status}; you are {table.replay.name}, {place}")
        if table.offers:
            self._say_offers(table.offers)

    async def tell(self) -> None:
        """Say what happens, as it happens."""
        async for update in self._updates:
            match update:
                case u.ChatSaid() | u.EmoteCame() if not self._muted.hears(update):
                    continue
            for line in _told(update):
                self.say(line)
            if isinstance(update, u.OffersCame) and update.offers:
                self._say_offers(update.offers)

    async def obey(self, lines: AsyncIterator[str]) -> None:
        """Do what the lines say, one after the other."""
        async for line in lines:
            words = line.split()
            if words == ["quit"]:
                return
            if words and not await self._do(words):
                return

    async def _do(self, words: list[str]) -> bool:
        """One line; whether to go on."""
        try:
            if find_command(" ".join(words), self._table.offers) is None:
                known = self._words().get(words[0])
                if known is not None:
                    await known(words[1:])
                    return True
            return await self._choose(words)
        except RefusedError as error:
            where = f" ({error.rule})" if error.rule else ""
            self.say(f"refused: {error}{where}")
        except ServiceError as error:
            self.say(f"not granted: {error}")
        except CodecError as error:
            self.say(f"this cannot be sent: {error}")
        return True

    async def _choose(self, words: list[str]) -> bool:
        table = self._table
        offers = await table.turn() if self._patient else table.offers
        command = find_command(" ".join(words), offers)
        if command is not None:
            await table.send(command)
        elif offers:
            self.say(f"{' '.join(words)} is not offered; ? helps")
        elif table.status == "over":
            self.say("the game is over")
        else:
            self.say("it is not your turn; ? helps")
        return not self._patient or table.status != "over"

    def _words(self) -> dict[str, Callable[[list[str]], Awaitable[object]]]:
        return {
            "?": self._help,
            "help": self._help,
            "offers": self._offers,
            "view": self._view,
            "history": self._history,
            "try": self._try,
            "say": lambda words: self._table.chat(" ".join(words)),
            "sit": lambda words: self._table.sit(_number(words)),
            "stand": lambda words: self._table.stand(),
            "ready": lambda words: self._table.ready(),
            "unready": lambda words: self._table.ready(is_ready=False),
            "start": lambda words: self._table.start(),
            "bot": self._bot,
            "nobot": lambda words: self._table.remove_bot(_needed(words)),
            "kick": lambda words: self._table.kick(_needed(words)),
            "admit": lambda words: self._table.admit(" ".join(words)),
            "silence": lambda words: self._table.mute(self._person(words)),
            "unsilence": lambda words: self._table.unmute(self._person(words)),
            "preset": lambda words: self._table.set_options({"preset": " ".join(words)}),
            "clock": lambda words: self._table.set_options(turn_seconds=_needed(words)),
            "leave": lambda words: self._table.leave(words[0] if words else None),
            "back": lambda words: self._table.take_back(),
            "call": lambda words: self._table.call_bot(_needed(words)),
            "end": lambda words: self._table.want_end(),
            "noend": lambda words: self._table.want_end(wanted=False),
            "resign": lambda words: self._table.resign(),
            "rematch": self._rematch,
            "emote": self._emote,
            "mute": self._mute,
            "unmute": self._mute_no_more,
        }

    async def _help(self, words: list[str]) -> None:
        for line in HELP:
            self.say(line)

    async def _offers(self, words: list[str]) -> None:
        lines = list(listing(self._table.offers, words))
        for line in lines or [" ".join(["nothing", *words, "is offered now"])]:
            self.say(line)

    async def _view(self, words: list[str]) -> None:
        for line in view_lines(self._table.view):
            self.say(line)

    async def _history(self, words: list[str]) -> None:
        for frame in await self._table.history():
            for fact in frame.facts:
                self.say(f"{frame.seq} {fact_line(fact)}")

    async def _try(self, words: list[str]) -> None:
        command = find_command(" ".join(words), self._table.offers)
        if command is None:
            self.say(f"{' '.join(words)} is not offered")
            return
        answer = await self._table.dry(command)
        self.say(f"it would be done: {command_line(command, answer.effect)}")

    async def _bot(self, words: list[str]) -> Answer:
        return await self._table.add_bot(words[0] if words else "easy", _number(words[1:]))

    async def _rematch(self, words: list[str]) -> None:
        self.say(f"play again in room {await self._table.rematch()}")

    async def _emote(self, words: list[str]) -> None:
        if words:
            await self._table.emote("_".join(words))
        else:
            self.say("emotes: " + " ".join(EMOTES))

    async def _mute(self, words: list[str]) -> None:
        if words and not self._muted.mute(" ".join(words), self._table.view.get("room")):
            self.say(f"there is no {' '.join(words)} here")
        self.say("muted: " + (", ".join(self._muted.names) or "no one"))

    async def _mute_no_more(self, words: list[str]) -> None:
        self._muted.unmute(" ".join(words), self._table.view.get("room"))
        await self._mute([])

    def _person(self, words: list[str]) -> int | str:
        """A person as the host names them: by seat, or by id."""
        return int(words[0]) if words[:1] and words[0].isdecimal() else " ".join(words)

    def _say_offers(self, offers: tuple[Offer, ...]) -> None:
        self.say("your turn: " + turn_line(offers))


def _told(update: Update) -> Iterator[str]:
    """A update, as lines of text."""
    match update:
        case u.Moved(seq, _, facts):
            for fact in facts:
                yield f"{seq} {fact_line(fact)}"
        case u.Synced(seq, _, lost) | u.Reset(seq, lost):
            yield f"connected, at {seq}"
            if lost:
                yield f"the service lost the last {lost} commits: they have not happened"
        case u.SeatChanged(seat):
            yield "you have no seat" if seat is None else f"you have seat {seat}"
        case u.PresenceChanged(online, watchers):
            seats = " ".join(map(str, online)) or "no one"
            yield f"here: {seats}; watching: {watchers}"
        case u.ChatSaid(_, name, _, text):
            yield f"{name}: {text}"
        case u.EmoteCame(name, _, emote):
            yield f"{name} *{emote}*"
        case u.Searching(n, ahead):
            first = f"{ahead} other searches come first" if ahead else "it has begun"
            yield f"command {n} needs a search of the server: {first}"
        case u.Paused(paused):
            yield "paused: the store does not answer" if paused else "going on"
        case u.ErrorCame(code, _, hint):
            yield f"{code}: {hint}"
        case Disconnected(reason, seconds):
            yield f"connection lost ({reason}); trying again in {seconds:.1f} s"


def _number(words: list[str]) -> int | None:
    if not words:
        return None
    if not words[0].isdecimal():
        raise RefusedError("bad_command", "a seat is a number")
    return int(words[0])


def _needed(words: list[str]) -> int:
    number = _number(words)
    if number is None:
        raise RefusedError("bad_command", "a number is missing")
    return number
