"""The player in a terminal, by its lines: what it is told and what it says."""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from tests.client.fake_server import Visit, fake_server, joined
from tests.client.game import Game
from towerhall_client.muted import Muted
from towerhall_client.player import HELP, play
from towerhall_protocol import messages as m
from towerhall_protocol import updates as u


class Terminal:
    """Lines that are typed one by one, each when the last thing said allows it."""

    def __init__(self, *typed: tuple[str, str]) -> None:
        self._typed = typed
        self.said: list[str] = []
        self._more = asyncio.Event()

    def out(self, line: str) -> None:
        self.said.append(line)
        self._more.set()

    async def lines(self) -> AsyncIterator[str]:
        """Each line waits until something that holds its second part has been said since."""
        for line, wanted in self._typed:
            start = len(self.said)
            yield line
            await self._until(partial(self._heard, start, wanted))

    def _heard(self, start: int, wanted: str) -> bool:
        return not wanted or any(wanted in line for line in self.said[start:])

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._more.clear()
            await self._more.wait()


async def session(*typed: tuple[str, str], game: Game | None = None) -> list[str]:
    terminal = Terminal(*typed)
    async with fake_server((game or Game()).serve) as server, joined(server) as table:
        await asyncio.wait_for(play(table, terminal.lines(), terminal.out), 10)
    return terminal.said


async def test_a_whole_game_at_the_prompt() -> None:
    game = Game()
    said = await session(
        ("sit", "you have seat 0"),
        ("start", "your turn"),
        ("bid sand 2", "your turn"),
        ("#1", "your turn"),
        ("try bid tree 2", "it would be done"),
        ("bid tree 3", "refused"),
        ("bid card tree number 1", "seen 6"),
        ("quit", ""),
        game=game,
    )
    assert said == [
        "room QJXKZB, waiting; you are Ada, watching",
        "2 seen 2",
        "you have seat 0",
        "3 seen 3",
        "your turn: bid number 1..3 (2 choices) (may be refused)",
        "4 seen 4",
        "your turn: bid number 1..3 (2 choices) (may be refused)",
        "5 seen 5",
        "your turn: bid number 1..3 (2 choices) (may be refused)",
        "it would be done: bid card tree number 2 -> score 2",
        "refused: unstable: it would fall (NT 4)",
        "6 seen 6",
    ]
    assert [bid["number"] for bid in game.done] == [2, 1, 1]


async def test_everything_can_be_looked_at() -> None:
    said = await session(
        ("?", HELP[-1]),
        ("view", "status"),
        ("offers", "nothing is offered"),
        ("start", "your turn"),
        ("offers", "#6 bid card tree number 3"),
        ("offers bid tree 2", "#5 bid card tree number 2"),
        ("offers juggle", "nothing juggle is offered now"),
        ("history", "1 created"),
        ("say good evening", "good evening"),
        ("bot easy", "refused: unknown_command"),
        ("stand", "refused"),
        ("ready", "refused"),
        ("sit here", "a seat is a number"),
        ("try juggling", "juggling is not offered"),
        ("juggle", "juggle is not offered; ? helps"),
        ("", ""),
    )
    assert set(HELP) <= set(said)
    assert "#1 bid card sand number 1 -> score 4" in said
    assert '1 created "QJXKZB"' in said


async def test_what_others_wrote_cannot_steer_the_terminal() -> None:
    said = await session(("say \x1b[31mred\x07", "red"))
    assert said[-1] == "Ada?[2J: ?[31mred?"


async def test_a_command_before_ones_turn_is_refused_at_once() -> None:
    said = await session(("bid 3", "it is not your turn; ? helps"))
    assert len(said) == 2


async def test_a_pipe_is_patient_and_ends_with_the_game() -> None:
    game = Game()
    said: list[str] = []

    async def always_the_first() -> AsyncIterator[str]:
        yield "sit\n"
        yield "start\n"
        while True:
            yield "#1\n"

    async with fake_server(game.serve) as server, joined(server) as table:
        await asyncio.wait_for(play(table, always_the_first(), said.append, patient=True), 10)
        assert table.status == "over"
    assert len(game.done) == 3


async def test_a_pipe_that_comes_after_the_game_is_told_so() -> None:
    async def over(visit: Visit) -> None:
        await visit.welcome({"room": {"status": "over"}})
        await visit.stay()

    terminal = Terminal(("#1", "never"))
    async with fake_server(over) as server, joined(server) as table:
        await asyncio.wait_for(play(table, terminal.lines(), terminal.out, patient=True), 10)
    assert terminal.said[-1] == "the game is over"


async def test_breaks_pauses_and_losses_are_told() -> None:
    async def first(visit: Visit) -> None:
        await visit.welcome()
        await visit.receive()
        await visit.send(m.ServerPaused(True))
        await visit.send(m.ServerPaused(False))
        await visit.send(m.ServerPresence((0, 2), 5))
        await visit.send(m.ServerPresence((), 1))
        await visit.send(m.ServerError("bad_chat", {}, "too long"))
        await visit.send(m.ServerPong(1, (0, 0)))
        await visit.drop()

    async def second(visit: Visit) -> None:
        await visit.welcome(seq=7, lost=2, seat=1)
        await visit.send(m.ServerSeat(-1))
        await visit.close("replaced")

    terminal = Terminal(("say hello", "never"))
    async with fake_server(first, second) as server, joined(server) as table:
        await asyncio.wait_for(play(table, terminal.lines(), terminal.out), 10)
    assert terminal.said[1:] == [
        "paused: the store does not answer",
        "going on",
        "here: 0 2; watching: 5",
        "here: no one; watching: 1",
        "bad_chat: too long",
        "connection lost (closed_1006); trying again in 0.1 s",
        "connected, at 7",
        "the service lost the last 2 commits: they have not happened",
        "you have no seat",
        "closed: replaced: another connection of the same person took over the seat",
    ]


async def test_whoever_comes_back_is_told_that_it_is_their_turn() -> None:
    async def waiting_for_them(visit: Visit) -> None:
        await visit.welcome({"room": {"status": "playing"}}, seat=2)
        await visit.stay()

    terminal = Terminal()
    async with fake_server(waiting_for_them) as server, joined(server) as table:
        table.replay.receive(m.ServerOffers(1, "tag", ()))
        await play(table, terminal.lines(), terminal.out)
    assert terminal.said == ["room QJXKZB, playing; you are Ada, seat 2"]


async def test_a_fault_in_the_lines_is_not_hidden() -> None:
    async def broken() -> AsyncIterator[str]:
        yield "?"
        raise OSError("the pipe broke")

    async with fake_server(Game().serve) as server, joined(server) as table:
        with pytest.raises(OSError, match="the pipe broke"):
            await play(table, broken(), lambda line: None)


async def test_whoever_is_muted_is_not_heard_and_nobody_is_told() -> None:
    said = await session(
        ("sit", "you have seat 0"),
        ("say one", "one"),
        ("mute 0", "muted: Ada"),
        ("say two", ""),
        ("stand", "refused"),
        ("unmute ada", "muted: no one"),
        ("say three", "three"),
        ("mute BEN", "there is no BEN here"),
        ("emote wow", "Ben *wow*"),
        ("mute BEN", "muted: Ben"),
        ("emote laugh", ""),
        ("stand", "refused"),
        ("mute", "muted: Ben"),
        ("say four", "four"),
        ("emote", "emotes: hello"),
        ("quit", ""),
    )
    told = [line for line in said if line.startswith(("Ada", "Ben"))]
    assert told == ["Ada?[2J: one", "Ada?[2J: three", "Ben *wow*", "Ada?[2J: four"]


def test_muting_goes_by_the_person_and_not_by_the_name() -> None:
    muted = Muted()
    one, other = (u.EmoteCame("Ben", None, "wow", who) for who in ("benbenbenbe", "nebnebnebne"))
    renamed = u.EmoteCame("Benjamin", 2, "wow", one.who)
    assert muted.hears(one)
    assert muted.mute("ben", {"seats": {}})
    assert not muted.hears(one)
    assert not muted.hears(renamed)
    assert muted.hears(other)
    muted.unmute("ben", {})
    assert muted.hears(one)
    assert not muted.mute("2", {"seats": {"2": {"name": "bot easy", "bot": "easy"}}})
    assert muted.hears(u.EmoteCame("Ben", 0, "wow")), "rooms of older servers name nobody"


async def test_offers_that_are_taken_away_are_no_turn() -> None:
    async def serve(visit: Visit) -> None:
        await visit.welcome({"room": {"status": "playing", "seats": {}}})
        await visit.receive()
        await visit.send(m.ServerOffers(visit.seq, "tag", ()))
        await visit.send(m.ServerChat("1-0", "Ada", 0, "it is over", 5))
        await visit.receive()

    terminal = Terminal(("say is it?", "it is over"), ("quit", ""))
    async with fake_server(serve) as server, joined(server) as table:
        await asyncio.wait_for(play(table, terminal.lines(), terminal.out), 10)
    assert not any("your turn" in line for line in terminal.said)


async def test_what_cannot_be_sent_is_said_and_the_game_goes_on() -> None:
    said = await session(
        ("say caf\udce9", "cannot be sent"),
        ("clock 99999999999999999999", "cannot be sent"),
        ("sit", "you have seat 0"),
        ("quit", ""),
    )
    assert said[-2:] == ["2 seen 2", "you have seat 0"]
