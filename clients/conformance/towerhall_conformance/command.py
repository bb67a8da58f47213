"""The command line of the kit: `towerhall conformance`, or `python -m towerhall_conformance`."""

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic
from typing import Any, Final

from websockets.exceptions import WebSocketException

from towerhall_conformance import report, server_cases
from towerhall_conformance.case import BrokenError, Case, NotTriedError, Verdict
from towerhall_conformance.cases import ALL, EVERY_BYTE
from towerhall_conformance.guest import Patience
from towerhall_conformance.host import Host
from towerhall_conformance.programs import ALL_URLS, ONE_URL, run_program
from towerhall_conformance.stage import NEXT, code_of, open_stage
from towerhall_protocol import codec

DESCRIPTION: Final = """\
Checks whether a client keeps to the protocol: a scripted server takes it through numbered cases,
and prints a verdict for each, with the clauses of protocol/SPEC.md. The client has to do one thing:
connect to a WebSocket address, and play one command for each list of offers until the room is over.
"""
EXAMPLES: Final = f"""\
examples:
  towerhall conformance --list
  towerhall conformance --run "python my_client.py {ONE_URL}"
  towerhall conformance --run "node my_client.js {ALL_URLS}" --json report.json
  towerhall conformance --run "./my_client {ONE_URL}" --only "close *" --only gap
  towerhall conformance --port 9100
  towerhall conformance --server http://127.0.0.1:8000

With {ONE_URL} the program is run once for each case. With {ALL_URLS} it is run once, with the
addresses of all cases, to be played at the same time. Without --run the kit waits until you have
connected: each case has a room of its own (--list shows the codes), and the room {NEXT} stands
for the next case without a verdict. Any token will do.

A client that prints lines such as {{"code": "CFAAAB", "view": {{...}}}} has its views compared.

Exit status: 0 if nothing failed, 1 if something did, 2 if the command line is wrong.
"""
DEFAULT_PORT: Final = 9100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"port of the kit ({DEFAULT_PORT})"
    )
    parser.add_argument("--run", dest="program", metavar="COMMAND", help="program of the client")
    parser.add_argument(
        "--jobs", type=int, default=4, help=f"programs at once, with {ONE_URL} (default: 4)"
    )
    parser.add_argument("--server", metavar="URL", help="check the server at this address instead")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="cases by number or name"
    )
    parser.add_argument(
        "--every-byte", action="store_true", help="cut a frame after each of its bytes as well"
    )
    parser.add_argument(
        "--watch", action="store_true", help="the client only watches: no case waits for a move"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a report")
    parser.add_argument("--list", action="store_true", help="list the cases and run nothing")


def run(arguments: argparse.Namespace) -> int:
    """Exit status; `ValueError` about wrong arguments."""
    if arguments.server is not None:
        return _run_on_server(arguments)
    cases = _chosen(ALL.all + (EVERY_BYTE.all if arguments.every_byte else []), arguments.only)
    if arguments.list:
        print(report.listing((code_of(case.number), case) for case in cases))
        return 0
    if arguments.program is not None and not any(
        place in arguments.program for place in (ONE_URL, ALL_URLS)
    ):
        raise ValueError(f"--run needs {ONE_URL} or {ALL_URLS} in the place of the address")
    verdicts: list[Verdict] = []
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_play(cases, arguments, verdicts))
    return _end(verdicts, len(cases), arguments.json)


def _run_on_server(arguments: argparse.Namespace) -> int:
    cases = _chosen(server_cases.ALL.all, arguments.only)
    if arguments.list:
        print(report.listing(("", case) for case in cases))
        return 0
    if not arguments.server.startswith(("http://", "https://")):
        raise ValueError("--server needs an address such as http://127.0.0.1:8000")
    verdicts: list[Verdict] = []
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(check_server(arguments.server, cases, verdicts, _print))
    return _end(verdicts, len(cases), arguments.json)


async def check_server(
    url: str,
    cases: Sequence[Case[Host]],
    verdicts: list[Verdict],
    tell: Callable[[Verdict], None],
) -> None:
    """One case after the other, so that no rate is exceeded."""
    host = Host(url)
    for case in cases:
        began = monotonic()
        verdict, why = "passed", ""
        try:
            await case.play(host)
        except NotTriedError as error:
            verdict, why = "not tried", str(error)
        except BrokenError as error:
            verdict, why = "failed", str(error)
        except (OSError, WebSocketException, codec.CodecError, LookupError, TypeError) as error:
            verdict, why = "failed", f"{case.clauses[0]}: {type(error).__name__}: {error}"
        verdicts.append(
            Verdict(
                case.number, case.name, case.clauses, verdict, why, round(monotonic() - began, 3)
            )
        )
        tell(verdicts[-1])


async def _play(
    cases: Sequence[Case[Any]], arguments: argparse.Namespace, verdicts: list[Verdict]
) -> None:
    by_hand = arguments.program is None
    patience = Patience(arrival=3600.0) if by_hand else Patience()
    port = arguments.port if by_hand else 0
    async with open_stage(
        cases, port=port, patience=patience, tell=_print, watches=arguments.watch
    ) as stage:
        try:
            if by_hand:
                print(f"connect to {stage.url}{NEXT}, again and again until all cases have ended")
                await stage.ended.wait()
            else:
                await run_program(stage, arguments.program, arguments.jobs)
                stage.compare_views()
        finally:
            verdicts += stage.verdicts.values()


def _chosen(cases: Sequence[Case[Any]], only: Sequence[str]) -> list[Case[Any]]:
    found = [
        case
        for case in cases
        if not only or any(fnmatchcase(case.name, one) or str(case.number) == one for one in only)
    ]
    if not found:
        raise ValueError(f"there is no case {' or '.join(only)}; --list shows them")
    return found


def _print(verdict: Verdict) -> None:
    print(report.line(verdict), flush=True)


def _end(verdicts: Sequence[Verdict], cases: int, target: Path | None) -> int:
    print(report.summary(verdicts, cases))
    if target is not None:
        target.write_text(json.dumps(report.document(verdicts), indent=1) + "\n")
    return 1 if any(verdict.verdict == "failed" for verdict in verdicts) else 0


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m towerhall_conformance",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    try:
        return run(parser.parse_args(words))
    except ValueError as error:
        print(f"towerhall_conformance: {error}", file=sys.stderr)
        return 2
