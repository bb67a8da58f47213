"""Simulate a server in front of 100,000 rooms, and print how long its loop stood still.

Exit status: 0 if the loop never stood still for more than 20 ms of processor time, else 1.
"""

import argparse
import sys
import tempfile
from operator import itemgetter
from pathlib import Path

from tests.programs.hall.simulation import LIMIT_SECONDS, Found, Wanted, simulate
from tests.store.engines import running


def main() -> int:
    usual = Wanted()
    parser = argparse.ArgumentParser(prog="python -m tests.programs.hall", description=__doc__)
    parser.add_argument("--rooms", type=int, default=usual.rooms)
    parser.add_argument("--seconds", type=float, default=usual.seconds)
    parser.add_argument("--wakes", type=int, default=usual.wakes)
    chosen = parser.parse_args()
    wanted = Wanted(rooms=chosen.rooms, seconds=chosen.seconds, wakes=chosen.wakes)
    with tempfile.TemporaryDirectory() as folder, running("valkey", Path(folder)) as engine:
        found = simulate(engine.url, wanted)
    print(told(found))
    return 1 if found.stalls.longest_round > LIMIT_SECONDS else 0


def told(found: Found) -> str:
    stalls = found.stalls
    read = f"{found.listed} in the list, read in {found.read_seconds:.1f} s"
    longest = f"the longest of {stalls.rounds} took {1000 * stalls.longest_round:.1f} ms"
    parts = stalls.in_longest_round.items()
    lines = [
        f"{found.rooms} rooms in the store, {read}",
        f"{found.ended} rooms were woken and ended; {found.patches} messages were sent",
        f"a new filter gets its page within {1000 * found.filter_seconds:.1f} ms",
        f"rounds of the loop, in time of the processor: {longest}",
        f"{stalls.long_rounds} of them took more than {1000 * LIMIT_SECONDS:.0f} ms",
        f"{found.cpu_seconds / found.wall_seconds:.0%} of a core, {found.megabytes:.0f} MB",
        "in the longest round:",
        *(
            f"  {1000 * s:6.1f} ms  {n}"
            for n, s in sorted(parts, key=itemgetter(1), reverse=True)[:5]
        ),
        "longest callbacks:",
        *(f"  {1000 * s:6.1f} ms  {name}" for s, name in sorted(stalls.longest, reverse=True)),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
