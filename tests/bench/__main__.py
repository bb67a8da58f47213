"""`make bench`: all figures as tables, and as JSON in the file named by `BENCH_JSON`.

`python -m tests.bench moves frames` measures some parts only; `--help` lists them.
"""

import argparse
import sys
from collections.abc import Callable

from tests.bench import (
    appends,
    bots,
    frames,
    game_steps,
    memory,
    moves,
    nodes,
    replay,
    scale,
    sizes,
)
from tests.bench.report import Figure, json_target, print_table, write_json

PARTS: dict[str, tuple[str, Callable[[], list[Figure]]]] = {
    "moves": ("Moves and their latency, 200 rooms of four", moves.measure),
    "scale": ("Many rooms", scale.measure),
    "nodes": ("Two server processes on one store, 200 rooms of four", nodes.measure),
    "memory": ("Memory", memory.measure),
    "replay": ("After a restart", replay.measure),
    "frames": ("Bytes on the wire", frames.measure),
    "steps": ("Five Towers, one command", game_steps.measure),
    "sizes": ("Five Towers, sizes", sizes.measure),
    "bots": ("Five Towers, bots", bots.measure),
    "log": ("The log", appends.measure),
}

LINUX_ONLY = ("moves", "scale", "nodes", "memory", "replay")
"""They pin processes to cores and read their use of them. Whoever asks for one by name is told."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    wanted = parser.parse_args().parts
    if not wanted:
        wanted = [part for part in PARTS if sys.platform == "linux" or part not in LINUX_ONLY]
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    target = json_target()
    sections = {}
    for part in wanted:
        title, measure = PARTS[part]
        sections[title] = measure()
        print_table(title, sections[title])
    write_json(sections, target)


if __name__ == "__main__":
    main()
