"""Views, facts and offers of any game as lines of text, and typed lines as commands.

This is the part of a terminal client that needs no terminal. It knows no game: whatever it shows
comes from the documents, whatever it accepts comes from the offers.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer


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
    """What happened, as a name and its fields: `bid_made 2 3 false`."""
    name, *fields = fact
    return " ".join((str(name), *map(_compact, fields)))


def offer_line(offer: Offer) -> str:
    """What may be done: `bid number 1..4`, `pass`, `build (12 choices)`."""
    words = [offer.command]
    words += [f"{name} {numbers.least}..{numbers.most}" for name, numbers in offer.ranges.items()]
    if offer.choices is not None:
        words.append(f"({len(offer.choices)} choices)")
    if offer.unsure:
        words.append("(may be refused)")
    return " ".join(words)


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
    the names of the parameters, or `#5`: the fifth of all offered commands.
    """
    words = line.split()
    commands = [command for offer in offers for command in offer.commands()]
    if len(words) == 1 and words[0].startswith("#"):
        numbered = {f"#{number}": command for number, command in enumerate(commands, start=1)}
        return numbered.get(words[0])
    for command in commands:
        values = [_spoken(value) for name, value in command.items() if name != "command"]
        short = " ".join([str(command["command"]), *values]).split()
        if words in (short, command_line(command).split()):
            return command
    return None


def _spoken(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return str(value)


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)
