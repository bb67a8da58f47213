"""Views, facts and offers of any game as lines of text, and typed lines as commands.

This is the part of a terminal client that needs no terminal. It knows no game: whatever it shows
comes from the documents, whatever it accepts comes from the offers.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer

FEW: Final = 20
"""Commands that a listing shows one by one. If there are more, an offer with ranges is one line."""
MOST_LISTED: Final = 60
"""Lines for one offer, and for the commands that begin with certain words."""
MOST_CHOICES: Final = 40
"""Choices that such a line names."""
MOST_OFFERS: Final = 3
"""Offers of one command that are told apart when a turn begins."""
BETWEEN_VALUES: Final = re.compile(r"[@,;]")


def view_lines(view: Document, indent: str = "") -> Iterator[str]:
    """The view as an outline: maps of maps are indented, everything else stays on one line."""
    for key in sorted(view):
        value = view[key]
        if isinstance(value, dict) and any(isinstance(part, dict) for part in value.values()):
            yield f"{indent}{key}:"
            yield from view_lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {_compact(value)}"


def fact_line(fact: Sequence[object]) -> str:
    """A fact, as its name and its fields: `bid_made 2 3 false`."""
    name, *fields = fact
    return " ".join((str(name), *map(_compact, fields)))


def offer_line(offer: Offer) -> str:
    """The offers: `bid number 1..4`, `pass`, `build (12 choices)`."""
    words = [offer.command]
    words += [f"{name} {numbers.least}..{numbers.most}" for name, numbers in offer.ranges.items()]
    if offer.choices is not None:
        words.append(f"({len(offer.choices)} choices)")
    if offer.unsure:
        words.append("(may be refused)")
    return " ".join(words)


def turn_line(offers: Iterable[Offer]) -> str:
    """All that may be done, in one line: `bid number 1..4 | pass`."""
    by_command: dict[str, list[Offer]] = {}
    for offer in offers:
        by_command.setdefault(offer.command, []).append(offer)
    parts: list[str] = []
    for command, of_command in by_command.items():
        if len(of_command) <= MOST_OFFERS:
            parts += map(offer_line, of_command)
        else:
            count = sum(offer.count() for offer in of_command)
            parts.append(f"{command} ({count} ways; type: offers {command})")
    return " | ".join(parts)


def listing(offers: Sequence[Offer], first_words: Sequence[str] = ()) -> Iterator[str]:
    """The offered commands with their numbers, as far as they begin with these words.

    Where there are many, an offer with ranges is one line:
    `#7..#24 place D4.1|D4.3 x 0..2 y -1..1`.
    """
    pairs = [pair for offer in offers for pair in offer.with_effects()]
    found = [
        (number, command_line(*pair))
        for number, pair in enumerate(pairs, start=1)
        if list(first_words)
        in (words[: len(first_words)] for words in (_short_words(pair[0]), _long_words(pair[0])))
    ]
    if len(found) <= (MOST_LISTED if first_words else FEW):
        yield from (f"#{number} {line}" for number, line in found)
        return
    wanted, first = dict(found), 1
    for offer in offers:
        numbers = [n for n in range(first, first + offer.count()) if n in wanted]
        first += offer.count()
        if offer.ranges and len(numbers) == offer.count() > 1:
            yield f"#{numbers[0]}..#{numbers[-1]} {_ways(offer)}"
            continue
        yield from (f"#{number} {wanted[number]}" for number in numbers[:MOST_LISTED])
        if len(numbers) > MOST_LISTED:
            yield f"and so on to #{numbers[-1]}"


def _ways(offer: Offer) -> str:
    """An offer with its choices: `place D4.1|D4.3 x 0..2 y -1..1`."""
    words = [offer.command]
    if offer.choices:
        ways = [" ".join(map(_spoken, choice.parameters.values())) for choice in offer.choices]
        shown = "|".join(islice(ways, MOST_CHOICES))
        words.append(shown + (f"|... ({len(ways)} in all)" if len(ways) > MOST_CHOICES else ""))
    for name, numbers in offer.ranges.items():
        most = f"..{numbers.most}" if numbers.most > numbers.least else ""
        words.append(f"{name} {numbers.least}{most}")
    return " ".join([*words, "(may be refused)"] if offer.unsure else words)


def command_line(command: Document, effect: Document | None = None) -> str:
    """A command as one would say it: `build cards tree:3 sand:7 demolish sand -> score 12`."""
    words = [str(command["command"])]
    for name, value in command.items():
        if name != "command":
            words += [name, _spoken(value)]
    if effect:
        words += ["->", *(f"{name} {_spoken(value)}" for name, value in effect.items())]
    return " ".join(words)


def find_command(line: str, offers: Iterable[Offer]) -> dict[str, object] | None:
    """The offered command that a typed line means, or `None`.

    A line is the command's name and its values (`bid 3`, `build sand:7 tree:3`), with or without
    the names of the parameters, or `#5`: the fifth of all offered commands. Values may be joined
    as in a log: `place D4.3@1,-1` is `place D4.3 1 -1`.
    """
    words = line.split()
    commands = [command for offer in offers for command in offer.commands()]
    if len(words) == 1 and words[0].startswith("#"):
        numbered = {f"#{number}": command for number, command in enumerate(commands, start=1)}
        return numbered.get(words[0])
    for command in commands:
        if words in (_short_words(command), _long_words(command)):
            return command
    apart = BETWEEN_VALUES.sub(" ", line).split()
    return next((c for c in commands if apart == _short_words(c)), None) if apart != words else None


def _short_words(command: Document) -> list[str]:
    """The command's name and its values."""
    values = [_spoken(value) for name, value in command.items() if name != "command"]
    return " ".join([str(command["command"]), *values]).split()


def _long_words(command: Document) -> list[str]:
    """The same with the names of the parameters."""
    return command_line(command).split()


def _spoken(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return str(value)


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
