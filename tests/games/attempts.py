"""Commands that nobody offered: edits of offered ones, mixtures of them, and plain nonsense.

Most are refused. One that is accepted must not lead anywhere that no offer leads.
"""

from collections.abc import Iterator, Sequence
from random import Random

from tests.games.plays import Command, Moment, Play
from towerhall_server.game import COPY_MARK, Seat


def nested(levels: int) -> list[object]:
    """A list in a list in a list ..."""
    inner: list[object] = []
    for _ in range(levels):
        inner = [inner]
    return inner


NONSENSE: tuple[object, ...] = (
    None,
    0,
    "pass",
    (),
    [{"command": "pass"}],
    {},
    {"command": None},
    {"command": 1},
    {"command": ["pass"]},
    {"command": {"command": "pass"}},
    {"command": ""},
    {"command": "no_such_command"},
    {"Command": "pass"},
    {1: "command"},
    nested(3000),
    {"command": nested(3000)},
)
"""What no game has for a command."""


def unwritable(play: Play) -> list[object]:
    """Commands with half a surrogate pair: JSON can carry one, but no codec can write it."""
    half = "\ud800"
    first = [step.command for step in play.steps[:1]]
    edited = [command | {key: half} for command in first for key in command]
    return [{half: 1}, *edited, *({**command, half: 1} for command in first)]


def attempts(play: Play, moment: Moment, seat: Seat, most: int) -> list[object]:
    """Some commands that a stranger might send for this seat now, by no means all legal."""
    chance = Random(f"{play.picks} {moment.number} {seat}")
    offered = _telling_commands(play, moment, seat, chance)
    elsewhere = [step.command for step in chance.sample(play.steps, min(3, len(play.steps)))]
    words = sorted(_words(play.game.view(moment.state, seat)))
    found: list[object] = [play.game.timeout(moment.state, seat)] if offered else []
    for command in offered:
        found += _edits(command, words, chance)
    found += (_mixed(offered + elsewhere, chance) for _ in range(8))
    found += elsewhere
    return found if len(found) <= most else chance.sample(found, most)


def _telling_commands(play: Play, moment: Moment, seat: Seat, chance: Random) -> list[Command]:
    """Of each offer the first and the last command, where limits show, and one in between."""
    telling = []
    for offer in play.game.offers(moment.state, seat):
        commands = list(offer.commands())
        telling += [*commands[:1], *commands[-1:], *chance.sample(commands, min(1, len(commands)))]
    return telling


def _edits(command: Command, words: Sequence[str], chance: Random) -> Iterator[Command]:
    for key, value in command.items():
        yield {other: command[other] for other in command if other != key}
        yield command | {key: None}
        for edited in _edited(value, words, chance):
            yield command | {key: edited}
    yield command | {"extra": 1}
    yield command | {chance.choice(words): chance.choice(words)}


def _edited(value: object, words: Sequence[str], chance: Random) -> Iterator[object]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value - 1, value + 2, -value, 1 << 40, 1 << 70)
            yield from (str(value), float(value), value == 1, [value])
        case str():
            yield other_copy(value)
            yield from (chance.choice(words), value.upper(), "", [value])
        case list() | tuple():
            items = list(value)
            yield from (items[::-1], items[1:] + items[:1], chance.sample(items, len(items)))
            yield from (items[1:], items[:-1], items + items[:1], [*items, chance.choice(words)])
            for index, item in enumerate(items):
                yield [*items[:index], other_copy(item), *items[index + 1 :]]
            if items:
                index = chance.randrange(len(items))
                for edited in _edited(items[index], words, chance):
                    yield [*items[:index], edited, *items[index + 1 :]]
        case dict():
            yield from _edits(value, words, chance)


def other_copy(card: object) -> object:
    """The id of the other copy of a card, whether there is one or not."""
    if not isinstance(card, str):
        return card
    return card.removesuffix(COPY_MARK) if card.endswith(COPY_MARK) else card + COPY_MARK


def _mixed(commands: Sequence[Command], chance: Random) -> Command:
    """One command's name with parameters of several."""
    mixed = dict(chance.choice(commands)) if commands else {}
    for other in chance.sample(commands, min(2, len(commands))):
        for key in other.keys() - {"command"}:
            if chance.random() < 0.5:
                mixed[key] = other[key]
    return mixed


def _words(value: object) -> set[str]:
    """Every string in a document, keys included."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set(value).union(*map(_words, value.values()))
    if isinstance(value, list | tuple):
        return set().union(*map(_words, value))
    return set()
