"""`make bench`: all figures as tables, and as JSON in the file named by `BENCH_JSON`.

`python -m tests.programs.bench moves frames` measures some parts only; `--help` lists them.
`python -m tests.programs.bench peers` installs other game servers by npm, and compares with them.
`python -m tests.programs.bench --against ../before` compares moves with another checkout, by turns.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from tests.programs.bench import (
    against,
    appends,
    bots,
    bounded,
    chat,
    cluster,
    drawing,
    frames,
    game_steps,
    memory,
    meters,
    moves,
    nikitin_games,
    nikitin_statics,
    nodes,
    patches,
    people,
    regulars,
    replay,
    scale,
    searches,
    sizes,
    summary,
    verifying,
)
from tests.programs.bench.peers import comparing as peers
from tests.programs.bench.report import Figure, json_target, print_table, write_json

PARTS: dict[str, tuple[str, Callable[[], list[Figure]]]] = {
    "moves": ("Moves and their latency, 200 rooms of four", moves.measure),
    "peers": (summary.PEERS, peers.measure),
    "scale": ("Many rooms", scale.measure),
    "people": ("1,500 rooms with a move every 5 s in each", people.measure),
    "nodes": ("Two server processes on one store, 200 rooms of four", nodes.measure),
    "memory": ("Memory", memory.measure),
    "replay": ("After a restart", replay.measure),
    "bounded": ("A room with a long log against one with a short one", bounded.measure),
    "frames": ("Bytes on the wire", frames.measure),
    "steps": ("Five Towers, one command", game_steps.measure),
    "patches": ("What patches of games save", patches.measure),
    "sizes": ("Five Towers, sizes", sizes.measure),
    "bots": ("Five Towers, bots", bots.measure),
    "statics": ("Nikitin Towers, statics", nikitin_statics.measure),
    "nikitin": ("Nikitin Towers, games, moves and sizes", nikitin_games.measure),
    "drawing": ("Nikitin Towers, the board", drawing.measure),
    "searches": ("Searches beside other rooms", searches.measure),
    "chat": ("Crowds that chat beside other rooms", chat.measure),
    "verifying": ("Verifying records of games with bots", verifying.measure),
    "log": ("The log", appends.measure),
    "regulars": ("People who come back", regulars.measure),
    "cluster": ("The log on three primaries", cluster.measure),
    "meters": ("Metrics", meters.measure),
}

ON_REQUEST = ("peers",)
"""Installs other servers, so it only runs if it is named."""
LINUX_ONLY = ("moves", "peers", "scale", "people", "nodes", "memory", "replay", "cluster")
"""They pin processes to cores and read their use of them. Whoever asks for one by name is told."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.programs.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument(
        "--against", metavar="FOLDER", type=Path, help="compare moves with another checkout"
    )
    parser.add_argument(
        "--rounds", metavar="N", type=int, default=peers.REPEATS, help="of peers; %(default)s"
    )
    given = parser.parse_args()
    wanted = given.parts
    if not wanted and given.against is None:
        left_out = ON_REQUEST + (() if sys.platform == "linux" else LINUX_ONLY)
        wanted = [part for part in PARTS if part not in left_out]
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    target = json_target()
    sections = {}
    for part in wanted:
        title, measure = PARTS[part]
        sections[title] = peers.measure(given.rounds) if part == "peers" else measure()
        print_table(title, sections[title])
    if given.against is not None:
        title = f"Moves, against {given.against}"
        sections[title] = against.measure(given.against)
        print_table(title, sections[title])
    write_json(sections, target)


if __name__ == "__main__":
    main()
