"""`make bench`: all figures as tables, and as JSON in the file named by `BENCH_JSON`."""

from tests.bench import bots, game_steps, sizes
from tests.bench.report import print_table, write_json


def main() -> None:
    sections = {}
    for title, measure in (
        ("Five Towers, one command", game_steps.measure),
        ("Five Towers, sizes", sizes.measure),
        ("Five Towers, bots", bots.measure),
    ):
        sections[title] = measure()
        print_table(title, sections[title])
    write_json(sections)


if __name__ == "__main__":
    main()
