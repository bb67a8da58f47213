"""`towerhall verify`: check the record of a finished game, without any server."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from towerhall_protocol.chain import MARK_LENGTH
from towerhall_protocol.check_record import read_keys
from towerhall_protocol.commands import from_base64url
from towerhall_protocol.evidence import ANYWHERE, Evidence, Place, read_evidence
from towerhall_protocol.record import LIMITS
from towerhall_protocol.statements import CHAIN_BYTES
from towerhall_server.cli.arguments import Subparsers
from towerhall_server.cli.errors import UsageError
from towerhall_server.cli.progress import progress
from towerhall_server.game import discover

if TYPE_CHECKING:
    from towerhall_server.eventlog.entry import Entry
    from towerhall_server.record.findings import Finding
    from towerhall_server.record.verify import Summary, Verification

EXAMPLES = """\
examples:
  towerhall verify towerhall-KXWMPA.json
  towerhall verify towerhall-KXWMPA.json --mark 81:Zz0_-aaaaaa
  curl -s http://localhost:8000/v1/rooms/KXWMPA/record | towerhall verify -
  curl -s http://localhost:8000/.well-known/towerhall > keys.json
  towerhall verify towerhall-KXWMPA.json --keys keys.json --evidence kept.json

The command recomputes everything from the file: the chain of commits, the server's secret and the
players' nonces, every move by the rules and every bot's move by the bot, every shuffle, every
frame, the result. The file alone cannot prove that it belongs to the game that you saw. Give the
marks, the commitment and the nonces that your client kept. The keys of the server show that it
signed the record, and that its public log has it.

Exit status: 0 if the record is valid, 1 if not, 2 if the file cannot be read.
"""

STDIN = "-"
WELL_KNOWN = "/.well-known/towerhall"
PATIENCE_SECONDS = 1.0
"""Seconds of work before a progress bar appears."""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "verify",
        help="check the record of a finished game",
        description="Checks the record of a finished game, as servers export it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="the record; - reads standard input")
    parser.add_argument(
        "--mark",
        metavar="SEQ:MARK",
        action="append",
        default=[],
        help="a mark, or a whole chain, that was seen after that commit, or after any; repeatable",
    )
    parser.add_argument("--commitment", metavar="TEXT", help="the commitment that was seen first")
    parser.add_argument(
        "--nonce", metavar="TEXT", action="append", default=[], help="an own nonce; repeatable"
    )
    parser.add_argument("--evidence", metavar="FILE", help="all of it, as a client kept it")
    parser.add_argument(
        "--keys", metavar="FILE", help="the server's keys, as it publishes them at " + WELL_KNOWN
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    # Imported here: no other command needs rooms, and the import is slow.
    from towerhall_server.record.verify import check

    seen = _seen(arguments)
    keys = _keys(arguments)
    report = check(_content(arguments.file), discover(), _with_progress, seen, keys)
    if report.summary is not None:
        for line in (*about(report.summary), *checks(report, seen)):
            print(_printable(line))
    for finding in report.findings:
        print(_printable(complaint(finding)))
    if report.findings or report.summary is None:
        print(f"NOT OK: {_count(len(report.findings), 'finding')}")
        return 1
    print(
        "OK, but it is a sandbox room: no fairness is claimed" if report.summary.sandbox else "OK"
    )
    return 0


def about(summary: "Summary") -> Iterator[str]:
    """Describe a record, and the extent of the check."""
    ended = "a result" if summary.ending == "result" else f"no result: {summary.ending}"
    yield (
        f"{summary.game}, rules {summary.version}, room {summary.code}:"
        f" {_count(summary.seats, 'seat')}, ended with {ended}"
    )
    if summary.sandbox:
        yield (
            "a sandbox room: its maker may have chosen the draws, commits may have been dropped,"
            f" and its clocks ran {_count(summary.sandbox, 'time')} as fast"
        )
    made = ", ".join(f"{summary.actors[actor]} {by}" for actor, by in _BY.items()
                     if actor in summary.actors)  # fmt: skip
    yield f"{_count(summary.commits, 'commit')}, last mark {summary.mark}"
    yield f"{summary.decided} derived again by the rules{f': {made}' if made else ''}"
    yield (
        f"{_count(summary.deals, 'deal')}, {summary.cancelled} of them cancelled,"
        f" {_count(summary.nonces, 'nonce')} opened; {_chance(summary)}"
    )


_BY = {
    "person": "by persons",
    "bot": "by bots",
    "timer": "when time was up",
    "room": "by the room",
    "closer": "by closing the room",
}


def _chance(summary: "Summary") -> str:
    if not summary.took_part:
        return "no player's nonce took part in the deal"
    seats = ", ".join(map(str, summary.took_part))
    return f"in the cards were the nonces of {'seats' if ',' in seats else 'seat'} {seats}"


def checks(report: "Verification", seen: tuple[Evidence, ...]) -> Iterator[str]:
    """Yield a line for each check, and for each check that was impossible."""
    summary, found = report.summary, {finding.code for finding in report.findings}
    if summary is None:
        return
    # After the rules diverge from the log, nothing can be compared.
    ended = not found & {"unknown_rules", "undecided", "commit", "unfinished"}
    for what, codes, needs_end in (
        (f"chain of {_count(summary.commits, 'commit')}", {"chain", "repeated", "form"}, False),
        ("times", {"time", "clock"}, False),
        ("secret and nonces", {"commitment", "nonce"}, False),
        ("commits, derived again", {"decision", "undecided", "commit", "unknown_rules"}, False),
        ("moves of bots, chosen again", {"bot"}, False),
        ("steps of the room itself, in time", {"early", "late"}, False),
        ("end", {"unfinished"}, False),
        (_count(summary.frames, "frame"), {"frame"}, False),
        (f"{_count(summary.draws, 'draw')} and all deals", {"draw", "deal"}, True),
        ("head", {"head"}, True),
        ("result", {"result"}, True),
    ):
        if needs_end and not ended:
            yield f"not checked: {what}"
        else:
            yield f"{'NOT ok' if found & codes else 'ok'}: {what}"
    for code, what in (
        ("signature", "signature of the end"),
        ("log", "proof that the public log has the record"),
    ):
        if why := report.unsigned.get(code):
            yield f"not checked: {what} ({_UNSIGNED[why]})"
        else:
            yield f"{'NOT ok' if code in found else 'ok'}: {what}"
    if not seen:
        yield "not checked: whether this is the game that you saw (--evidence, --mark, --nonce)"
    else:
        bad = {code for code in found if code.startswith("other_")}
        yield f"{'NOT ok' if bad else 'ok'}: your evidence"
    yield "not checked: who the people were, and whether the server revealed hidden cards"


_UNSIGNED = {
    "no_signature": "the record has none",
    "not_logged": "the record has none",
    "no_key": "its key was not given: --keys",
    "no_ed25519": "the package cryptography is missing",
}


def complaint(finding: "Finding") -> str:
    """Describe a finding in plain words."""
    from towerhall_server.record.findings import KINDS

    times = f" It was found {finding.count} times." if finding.count > 1 else ""
    return (
        f"{finding.code}: {KINDS[finding.code]}"
        f" First seen at {finding.where}: {finding.detail}.{times}"
    )


def _seen(arguments: argparse.Namespace) -> tuple[Evidence, ...]:
    """Read the evidence that a player kept: a file of a client, and options."""
    try:
        places = tuple(map(place_of, arguments.mark))
    except ValueError as error:
        raise UsageError(f"--mark: {error}; give SEQ:MARK, or a mark alone") from None
    seen = [Evidence("", "", "", {str(ANYWHERE): nonce}) for nonce in arguments.nonce]
    if places or arguments.commitment:
        seen.append(Evidence("", "", arguments.commitment or "", places=places))
    if arguments.evidence is not None:
        try:
            seen.append(read_evidence(Path(arguments.evidence).read_bytes()))
        except (OSError, ValueError) as error:
            raise UsageError(f"--evidence {arguments.evidence} cannot be read: {error}") from None
    return tuple(seen)


def _keys(arguments: argparse.Namespace) -> dict[str, str]:
    if arguments.keys is None:
        return {}
    try:
        return read_keys(Path(arguments.keys).read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"--keys {arguments.keys} cannot be read: {error}") from None


def place_of(text: str) -> Place:
    """`SEQ:CHAIN`, or the chain alone; a mark may stand for the chain."""
    seq, _, chain = text.rpartition(":")
    if seq and not (seq.isascii() and seq.isdigit() and int(seq)):
        raise ValueError(f"{seq!r} is not the number of a commit")
    try:
        is_chain = len(chain) == MARK_LENGTH or len(from_base64url(chain)) == CHAIN_BYTES
    except ValueError:
        is_chain = False
    if not is_chain:
        raise ValueError(f"{chain!r} is neither a chain nor a mark of {MARK_LENGTH} characters")
    return Place(int(seq) if seq else ANYWHERE, chain)


def _content(name: str) -> bytes:
    # One byte more than the largest record is enough to refuse the file.
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
    """Escape names in an untrusted file: they must not control the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
