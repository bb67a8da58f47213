"""Arguments that several commands share: a game, its bots and its options."""

import argparse

import msgspec

from towerhall_client.http import Service
from towerhall_server.cli.errors import UsageError
from towerhall_server.game import AnyGame, Rejected, discover, option_fields, read_options

Subparsers = argparse._SubParsersAction


def add_match_arguments(parser: argparse.ArgumentParser) -> None:
    """The game, its players, and its options."""
    parser.add_argument("game", help="name of the game; `towerhall games` lists them")
    parser.add_argument(
        "--bots",
        required=True,
        help="one bot for each seat, separated by commas",
        metavar="A,B,...",
    )
    parser.add_argument("--preset", default="standard", help="named options (default: standard)")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option that overrides the preset; may be repeated",
    )
    parser.add_argument("--seed", type=int, default=1, help="same seed, same games (default: 1)")


class Match(msgspec.Struct, frozen=True):
    """Read the arguments of `add_match_arguments`."""

    game: AnyGame
    bots: tuple[str, ...]
    options: msgspec.Struct


def find_match(arguments: argparse.Namespace) -> Match:
    game = find_game(arguments.game)
    return Match(
        game,
        _find_bots(game, arguments.bots),
        _find_options(game, arguments.preset, arguments.option),
    )


DEFAULT_URL = "http://127.0.0.1:8000"
DEFAULT_GAME = "five_towers"
"""The default game. Fixed, so that a new game folder does not change commands without `--game`."""


def add_game_argument(parser: argparse.ArgumentParser, use: str) -> None:
    """Add `--game`, for commands that have a default game."""
    parser.add_argument(
        "--game",
        default=DEFAULT_GAME,
        help=f"{use}; `towerhall games` lists them (default: {DEFAULT_GAME})",
    )


def find_service(url: str) -> Service:
    """Add the address of the running service."""
    try:
        return Service(url)
    except ValueError as error:
        raise UsageError(f"--url: {error}; `towerhall serve` prints the right address") from None


def find_game(name: str) -> AnyGame:
    games = discover()
    if name not in games:
        raise UsageError(f"there is no game {name!r}; the games are: {', '.join(games)}")
    return games[name]


def _find_bots(game: AnyGame, listed: str) -> tuple[str, ...]:
    names = tuple(find_bot(game, name) for name in listed.split(","))
    if len(names) not in game.seats:
        least, most = game.seats[0], game.seats[-1]
        raise UsageError(f"{game.name} takes {least} to {most} players; --bots names {len(names)}")
    return names


def find_bot(game: AnyGame, name: str) -> str:
    """Return the name, if the game has such a bot."""
    if name not in game.bots:
        raise UsageError(f"there is no bot {name!r}; the bots are: {', '.join(game.bots)}")
    return name


def _find_options(game: AnyGame, preset: str, singles: list[str]) -> msgspec.Struct:
    """Read `--preset` and `--option` like a lobby's document."""
    wanted: dict[str, object] = {"preset": preset}
    fields = option_fields(game.options_type)
    for single in singles:
        name, _, text = single.partition("=")
        if name not in fields:
            raise UsageError(f"there is no option {name!r}; the options are: {', '.join(fields)}")
        values = {spell(value): value for value in fields[name].values}
        if text not in values:
            raise UsageError(f"option {name} must be one of: {', '.join(values)}")
        wanted[name] = values[text]
    options = read_options(game, wanted)
    if isinstance(options, Rejected):
        raise UsageError(game.reasons[options.code].hint.format(**options.params))
    return options


def spell(value: object) -> str:
    """Parse an option's value: `true`, `table`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
