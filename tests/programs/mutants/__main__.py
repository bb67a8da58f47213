"""`make mutants`: seed one bug after the other, and see that the tests turn red for each.

All happens in a copy of the project as it lies here, changes that are not committed included.

examples:
  python -m tests.programs.mutants                     all of them, some minutes
  python -m tests.programs.mutants no-dedup            one of them, some seconds
  python -m tests.programs.mutants 'append-*' 'heal-*' those of some kinds
  python -m tests.programs.mutants --list              what there is, and what each one breaks
"""

import argparse
import sys
from fnmatch import fnmatchcase

from tests.programs.mutants.copies import copied
from tests.programs.mutants.seeded import Mutant, read_all
from tests.programs.mutants.trial import SOME_FAILED, Row, green_run, trials
from towerhall_server.cli.progress import progress


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a bug, or a pattern for several")
    parser.add_argument("--list", action="store_true", help="tell what there is, and run nothing")
    given = parser.parse_args()
    known = read_all()
    for name in given.names:
        if not any(fnmatchcase(one, name) for one in known):
            parser.error(f"no such bug: {name}; --list tells what there is")
    wanted = [
        mutant
        for mutant in known.values()
        if not given.names or any(fnmatchcase(mutant.name, name) for name in given.names)
    ]
    if given.list:
        print_list(wanted)
        return 0
    return 0 if run(wanted) else 1


def run(mutants: list[Mutant]) -> bool:
    """Try all of them, and print what became of each."""
    with copied() as folder:
        print(f"mutants: the tests of {len(mutants)} bugs, without any", file=sys.stderr)
        green = green_run(folder, mutants)
        if green.status not in (0, SOME_FAILED):
            print(green.said)
            return False
        rows = list(progress(trials(folder, mutants, green), len(mutants), "mutants:"))
    if green.status != 0:
        print(green.said)
    print_table(rows)
    return all(row.found for row in rows)


def print_list(mutants: list[Mutant]) -> None:
    width = max(len(mutant.name) for mutant in mutants)
    for mutant in mutants:
        print(f"{mutant.name:{width}}  {mutant.breaks}")


def print_table(rows: list[Row]) -> None:
    width = max(len(row.name) for row in rows)
    print(f"{'bug':{width}}  seconds  found by")
    for row in rows:
        how = row.how if row.found else f"NOT FOUND: {row.how}"
        print(f"{row.name:{width}}  {row.seconds:7.1f}  {how}")
    found = sum(row.found for row in rows)
    seconds = sum(row.seconds for row in rows)
    print(f"{found} of {len(rows)} seeded bugs were found in {seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
