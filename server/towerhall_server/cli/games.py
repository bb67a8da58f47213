"""`towerhall games`: list games, with their options, presets, levels and bots."""

import argparse

import msgspec

from towerhall_server.cli.arguments import Subparsers, spell
from towerhall_server.game import discover, option_fields


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "games",
        help="list the games, their options, presets and bots",
        description=(
            "Lists the games with their options and bots. A level is a bot that people may seat in"
            " a room; `simulate`, `playthrough` and `bots` take any bot."
        ),
        epilog="example:\n  towerhall games",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    for game in discover().values():
        print(f"{game.name}: {game.seats[0]}-{game.seats[-1]} players, rules {game.version}")
        for name, field in option_fields(game.options_type).items():
            values = " | ".join(map(spell, field.values))
            print(f"  option {name}: {values} (default {spell(field.default)})")
        for name, options in game.presets.items():
            chosen = msgspec.to_builtins(options).items()
            print(f"  preset {name}: {', '.join(f'{key}={spell(v)}' for key, v in chosen)}")
        print(f"  levels of bots: {', '.join(game.levels)}")
        print(f"  bots: {', '.join(game.bots)}")
    return 0
