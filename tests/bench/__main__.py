"""`make bench`: all figures as tables, and as JSON in the file named by `BENCH_JSON`."""

from tests.bench import appends, bots, game_steps, sizes
from tests.bench.report import json_target, print_table, write_json


def main() -> None:
    target = json_target()
    sections = {}
    for title, measure in (
        ("Five Towers, one command", game_steps.measure),
        ("Five Towers, sizes", sizes.measure),
        ("Five Towers, bots", bots.measure),
        ("The log", appends.measure),
    ):
        sections[title] = measure()
        print_table(title, sections[title])
    write_json(sections, target)


if __name__ == "__main__":
    main()
