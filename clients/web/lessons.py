"""Plays the lessons of the page: real rules, fixed entropy, a script for the learner and the bot.

    python clients/web/lessons.py     writes `src/games/<game>/lesson.json` for each game

A lesson is a list of beats. A beat shows the table at one moment. If it has a deed, the learner
gives that command, and the script goes on with what the bot does next. The page has the texts.
No rule of any game may live here: the game decides, and refuses a script that breaks its rules.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from towerhall_protocol.document import Document
from towerhall_protocol.merge_patch import diff
from towerhall_protocol.offers import Offer, Range
from towerhall_server.game import STANDARD, AnyGame, Rejected, Seat
from towerhall_server.games.five_towers import GAME as FIVE_TOWERS
from towerhall_server.games.nikitin_towers import GAME as NIKITIN_TOWERS

GAMES: Final = Path(__file__).resolve().parent / "src" / "games"
LEARNER: Final = Seat(0)
BOT: Final = Seat(1)
SEED_BYTES: Final = 32
SEARCHES: Final = "give_back"
"""Never part of a lesson: its answer would be the game's search for a place."""

Command: TypeAlias = Mapping[str, Any]


class Beat(NamedTuple):
    """One moment of a lesson, and what happens until the next one."""

    name: str
    round: int
    deed: Command | None = None
    """The learner's command. Without one, the learner reads and goes on."""
    then: tuple[Command, ...] = ()
    """The bot's commands after it."""
    free: bool = False
    """Whether the table shows all that the rules allow. Otherwise it offers only the deed."""
    key: str | None = None
    """The key of the keyboard that the text names."""


class Lesson(NamedTuple):
    game: AnyGame
    seed: int
    beats: tuple[Beat, ...]


def bid(number: int) -> Command:
    return {"command": "bid", "number": number}


def build(*cards: str, demolish: str | None = None) -> Command:
    torn = {} if demolish is None else {"demolish": demolish}
    return {"command": "build", "cards": cards, **torn}


def choose(block: str) -> Command:
    return {"command": "choose", "block": block}


def place(shape: str, x: int, y: int) -> Command:
    return {"command": "place", "shape": shape, "x": x, "y": y}


PASS: Final = {"command": "pass"}

LESSONS: Final = (
    Lesson(
        FIVE_TOWERS,
        5701,
        (
            Beat("cards", 1),
            Beat("bid", 1, bid(3), (PASS,)),
            Beat("build", 1, build("tree:11", "tree:4", "sand:5"), (bid(2),)),
            Beat("pass", 2, PASS, (build("tree:8", "tree:3"),)),
            Beat("nine", 3, bid(2), (PASS,)),
            Beat("nine.build", 3, build("tree:9", "scrap:10"), (bid(1),)),
            Beat("tear", 4, bid(3)),
            Beat(
                "tear.build", 4, build("candy:10", "tree:1", "sand:7", demolish="sand"), (bid(1),)
            ),
            Beat("spire", 5, bid(2)),
            Beat("spire.build", 5, build("tree:0", "sand:1")),
            Beat("end", 5),
        ),
    ),
    Lesson(
        NIKITIN_TOWERS,
        83727,
        (
            Beat("die", 1, None, (choose("F1"),)),
            Beat("place", 1, place("F1.5", 1, 0), free=True, key="F"),
            Beat("choose", 1, choose("E3"), (place("E3.11", 0, 0), choose("C1"))),
            Beat("tip", 2, place("C1.1", 1, 1), free=True, key="T"),
            Beat("reply", 2, choose("E4"), (place("E4.3", 0, 0), choose("D2"))),
            Beat("move", 3, place("D2.1", 2, 0), free=True),
            Beat("risk", 3, choose("C1"), (place("C1.3", 2, 1),)),
            Beat("crash", 3, None, (choose("C1"),)),
            Beat("pole", 4, place("C1.1", 1, 1), free=True, key="T"),
            Beat("awkward", 4, choose("E5"), (place("E5.3", 0, 0), choose("C1"))),
            Beat("crown", 5, place("C1.2", 1, 0), free=True),
            Beat("end", 5),
        ),
    ),
)


class _Table:
    """The game at work, and the frames that its viewers get."""

    def __init__(self, lesson: Lesson) -> None:
        game = lesson.game
        seed = lesson.seed.to_bytes(SEED_BYTES, "big")
        state = game.start(game.presets[STANDARD], 2, seed)
        self.game = game
        self.frames: list[dict[str, object]] = []
        self._view: Document = {}
        self._follow([], game.setup(state), game.play(state, game.setup(state)))

    def do(self, seat: Seat, command: Command) -> None:
        outcome = self.game.outcome(self.state, seat, dict(command))
        if isinstance(outcome, Rejected):
            raise ValueError(f"the script breaks the rules: {seat} {command} {outcome}")
        self._follow([seat], *outcome)

    def offers(self, beat: Beat) -> list[Offer]:
        """The real offers of this moment, as far as the script can follow them."""
        if beat.deed is None:
            return []
        offered = self.game.offers(self.state, LEARNER)
        if beat.free:
            return [offer for offer in offered if offer.command != SEARCHES]
        narrow = [only for offer in offered for only in _narrowed(offer, beat.deed)]
        if not narrow:
            raise ValueError(f"the game does not offer {beat.deed}")
        return narrow

    def _follow(self, cause: list[Seat], events: tuple[Any, ...], state: Any) -> None:
        view: Document = {
            "room": {"seats": {str(LEARNER): {}, str(BOT): {"bot": "easy"}}},
            "game": msgspec.to_builtins(self.game.view(state, LEARNER)),
        }
        self.frames.append(
            {
                "seq": len(self.frames) + 1,
                "mark": "",
                "cause": cause,
                "facts": [self.game.facts(event) for event in events],
                "patch": diff(self._view, view),
            }
        )
        self.state, self._view = state, view


def _narrowed(offer: Offer, deed: Command) -> Iterator[Offer]:
    """The offer with the commands that do the same as the deed only."""
    if offer.command != deed["command"]:
        return
    ranges = {name: Range(deed[name], deed[name]) for name in offer.ranges}
    choices = offer.choices and tuple(c for c in offer.choices if _same(c.parameters, deed))
    if choices != ():
        yield Offer(offer.command, ranges, choices)


def _same(parameters: Document, deed: Command) -> bool:
    """Whether the parameters are those of the deed, in any order."""
    wanted = {name: value for name, value in deed.items() if name != "command"}
    return _unordered(parameters) == _unordered(wanted)


def _unordered(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: sorted(value) if isinstance(value, (list, tuple)) else value
        for name, value in parameters.items()
    }


def play(lesson: Lesson) -> bytes:
    """The file of a lesson."""
    table = _Table(lesson)
    beats = []
    for beat in lesson.beats:
        shown = {"name": beat.name, "round": beat.round, "seq": len(table.frames)}
        if beat.key is not None:
            shown["key"] = beat.key
        if beat.deed is not None:
            shown |= {"deed": beat.deed, "offers": table.offers(beat)}
            table.do(LEARNER, beat.deed)
        for command in beat.then:
            table.do(BOT, command)
        beats.append(shown)
    written = msgspec.json.encode({"frames": table.frames, "beats": beats})
    return msgspec.json.format(written, indent=1) + b"\n"


def path_of(lesson: Lesson) -> Path:
    return GAMES / lesson.game.name / "lesson.json"


if __name__ == "__main__":
    for each in LESSONS:
        path_of(each).write_bytes(play(each))
