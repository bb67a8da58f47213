"""`make faults`: every part of the fault suite, or those that are named."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from traceback import print_exception
from types import ModuleType
from typing import Final

import uvloop

from tests.programs.bench.usage import allow_many_sockets
from tests.programs.faults import (
    all_gone_back,
    cluster_confirmed,
    cluster_lag,
    cluster_primary_killed,
    connect_storm,
    drops,
    hostile_frames,
    hung_command,
    log_gone,
    node_killed,
    node_paused,
    poison,
    replica_failover,
    reply_lost,
    rolling_restart,
    sentinel_confirmed,
    sentinel_failover,
    slow_connections,
    slow_readers,
    store_cut,
    store_full,
    store_killed,
    tail_lost,
    timers,
)
from tests.programs.faults.report import Outcome, failed, json_target, print_outcome, write_json
from tests.programs.faults.stage import Order
from towerhall_server.cli.progress import Progress

PARTS: Final[dict[str, ModuleType]] = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        node_killed,
        node_paused,
        store_cut,
        reply_lost,
        store_killed,
        tail_lost,
        all_gone_back,
        replica_failover,
        sentinel_failover,
        sentinel_confirmed,
        cluster_primary_killed,
        cluster_lag,
        cluster_confirmed,
        hung_command,
        log_gone,
        drops,
        slow_readers,
        slow_connections,
        connect_storm,
        rolling_restart,
        timers,
        store_full,
        poison,
        hostile_frames,
    )
}
MOST_SECONDS: Final = (55, 1800)
"""Of one part: the short one, the full one."""
AT_ONCE: Final = 4
"""So many parts of a short run: most of each is waiting. A full one is measured alone."""
LONGEST: Final = ("timers", "store_cut", "rolling_restart", "tail_lost")
"""Of the short ones."""
EXAMPLES: Final = """\
examples:
  python -m tests.programs.faults
  python -m tests.programs.faults node_killed store_cut
  python -m tests.programs.faults --short --seed 7
  FAULTS_JSON=faults.json python -m tests.programs.faults reply_lost

Real processes on 127.0.0.1 are started, killed, paused and restarted; they end with the run. The
exit status is 1 if a history breaks a rule, a bar is missed, or faults hit nothing.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.faults",
        description=__doc__,
        epilog=EXAMPLES + "\n" + _list_of_parts(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="all, if none is named")
    parser.add_argument("--short", action="store_true", help="few faults: the suite in a minute")
    parser.add_argument("--seed", type=int, default=1, help="of every choice made here (default 1)")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="leave logs, stores and bad histories there"
    )
    arguments = parser.parse_args()
    wanted = arguments.parts or list(PARTS)
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    allow_many_sockets()
    target = json_target()
    outcomes: list[Outcome] = []

    def tell(outcome: Outcome) -> None:
        outcomes.append(outcome)
        print_outcome(PARTS[outcome.part].TITLE, outcome)
        write_json(outcomes, target)

    if arguments.short and len(wanted) > 1:
        uvloop.run(_run_at_once(wanted, arguments, tell))
    else:
        for part in wanted:
            tell(uvloop.run(_run(part, arguments)))
    red = [outcome.part for outcome in outcomes if not outcome.ok]
    print(
        f"\n{len(outcomes) - len(red)} of {len(outcomes)} parts are ok", *red and ("; red:", *red)
    )
    sys.exit(bool(red))


async def _run_at_once(
    wanted: Sequence[str], arguments: argparse.Namespace, tell: Callable[[Outcome], None]
) -> None:
    """Several parts beside each other, in a process that is started once. Those that wait longest
    come first."""
    free = asyncio.Semaphore(AT_ONCE)
    shown = Progress(len(wanted), "parts")

    async def run(part: str) -> Outcome:
        async with free:
            return await _run(part, arguments, alone=False)

    longest_first = sorted(wanted, key=lambda part: part not in LONGEST)
    running = [asyncio.create_task(run(part), name=part) for part in longest_first]
    for done, outcome in enumerate(asyncio.as_completed(running), start=1):
        tell(await outcome)
        shown.show(done)
    shown.done()


async def _run(part: str, arguments: argparse.Namespace, *, alone: bool = True) -> Outcome:
    with TemporaryDirectory(prefix="faults-") as folder:
        place = Path(folder) if arguments.keep is None else arguments.keep / part
        place.mkdir(parents=True, exist_ok=True)
        return await _bounded(part, Order(place, arguments.short, arguments.seed, alone))


async def _bounded(part: str, order: Order) -> Outcome:
    """A part that fails, or does not end, is red; the others are run all the same."""
    began = monotonic()
    try:
        async with asyncio.timeout(order.of(*MOST_SECONDS)):
            outcome: Outcome = await PARTS[part].run(order)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        print_exception(error)
        seconds = monotonic() - began
        return failed(part, seconds, f"{type(error).__name__}: {error}")
    return outcome


def _list_of_parts() -> str:
    rows = (f"  {name:<16} {m.TITLE}; {m.USUAL}" for name, m in PARTS.items())
    return "parts, and how long they usually take in full on two cores:\n" + "\n".join(rows)


if __name__ == "__main__":
    main()
