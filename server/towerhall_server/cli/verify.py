"""`towerhall verify`: check the record of a finished game, without any server."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.progress import progress
from towerhall_server.game import discover

if TYPE_CHECKING:
    from towerhall_server.eventlog.entry import Entry
    from towerhall_server.room.findings import Finding
    from towerhall_server.room.verify import Summary

EXAMPLES = """\
examples:
  towerhall verify towerhall-KXWMPA.json
  curl -s http://localhost:8000/v1/rooms/KXWMPA/record | towerhall verify -

Everything is worked out again from the file: the chain of commits, the server's secret and the
players' nonces, every move by the rules, every shuffle, every frame, the result. What a file cannot
show is that it belongs to the game that you saw: compare the mark, which is the one that your
client was sent with the last frame.

Exit status: 0 if all is well, 1 if not, 2 if there is no such file.
"""

STDIN = "-"
PATIENCE_SECONDS = 1.0
"""Work that takes no longer shows no progress."""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "verify",
        help="check the record of a finished game",
        description="Checks the record of a finished game, which any server gives out.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="the record; - reads standard input")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    # Here, because no other command needs rooms, and every command would wait for them.
    from towerhall_server.room.verify import check

    report = check(_content(arguments.file), discover(), _with_progress)
    if report.summary is not None:
        for line in about(report.summary):
            print(_printable(line))
    for finding in report.findings:
        print(_printable(complaint(finding)))
    if report.findings or report.summary is None:
        print(f"NOT OK: {_count(len(report.findings), 'finding')}")
        return 1
    print(_printable(_praise(report.summary)))
    print("OK")
    return 0


def about(summary: "Summary") -> Iterator[str]:
    """What a record holds, and how far it was checked."""
    ended = "a result" if summary.ending == "result" else f"no result: {summary.ending}"
    yield (
        f"{summary.game}, rules {summary.version}, room {summary.code}:"
        f" {_count(summary.seats, 'seat')}, ended with {ended}"
    )
    made = ", ".join(f"{summary.actors[actor]} {by}" for actor, by in _BY.items()
                     if actor in summary.actors)  # fmt: skip
    yield f"{_count(summary.commits, 'commit')}, last mark {summary.mark}"
    yield f"{summary.decided} decided again by the rules{f': {made}' if made else ''}"
    yield (
        f"{_count(summary.deals, 'deal')}, {summary.cancelled} of them cancelled,"
        f" {_count(summary.nonces, 'nonce')} opened; {_chance(summary)}"
    )


_BY = {"person": "by persons", "bot": "by bots", "timer": "when time was up", "room": "by the room"}


def _chance(summary: "Summary") -> str:
    if not summary.took_part:
        return "no player's nonce was in the cards"
    seats = ", ".join(map(str, summary.took_part))
    return f"in the cards were the nonces of {'seats' if ',' in seats else 'seat'} {seats}"


def _praise(summary: "Summary") -> str:
    return (
        f"chain ok, times ok, secret and nonces ok, commits ok, {_count(summary.draws, 'draw')} ok,"
        f" {_count(summary.frames, 'frame')} ok, result ok"
    )


def complaint(finding: "Finding") -> str:
    """A finding in plain words."""
    from towerhall_server.room.findings import KINDS

    return f"{finding.code}: {KINDS[finding.code]} First seen at {finding.where}: {finding.detail}."


def _content(name: str) -> bytes:
    from towerhall_server.room.record_shape import LIMITS

    # One byte more than a record can have is enough to see that it is none.
    most = LIMITS.message_bytes + 1
    try:
        if name == STDIN:
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:
        raise UsageError(f"{name} cannot be read: {error}; name a file, or - for input") from error


def _with_progress(entries: "tuple[Entry, ...]") -> "Iterable[Entry]":
    began, left = monotonic(), iter(entries)
    for count, entry in enumerate(left, start=1):
        yield entry
        if monotonic() - began > PATIENCE_SECONDS and count < len(entries):
            yield from progress(left, len(entries) - count, "verify the rest")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _printable(text: str) -> str:
    """Names in a file from anywhere must not talk to the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
