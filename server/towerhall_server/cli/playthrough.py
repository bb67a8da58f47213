"""`towerhall playthrough`: one whole game between bots as readable text.

The text is deterministic and shows all data of a player: facts, patches, offers. Kept in
`tests/games/playthroughs/<game>/`, such texts guard against unintended changes of a game.
"""

import argparse
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from towerhall_client.text import command_line, fact_line, offer_line, view_lines
from towerhall_protocol.codec import canonical
from towerhall_protocol.merge_patch import diff
from towerhall_server.cli.arena import final_result, match_seed, play
from towerhall_server.cli.arguments import (
    Subparsers,
    add_match_arguments,
    find_match,
)
from towerhall_server.cli.errors import UsageError

EXAMPLES = """\
examples:
  towerhall playthrough five_towers --bots hard,easy --seed 7
  towerhall playthrough five_towers --bots random,random,random --preset printed \\
      --out tests/games/playthroughs/five_towers/printed_3.txt
"""


def add_parser(commands: "Subparsers[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "playthrough",
        help="show one game between bots, move by move",
        description="Plays one game between bots and writes down every event.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_match_arguments(parser)
    parser.add_argument("--out", type=Path, help="write to this file instead of the screen")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    text = "".join(line + "\n" for line in lines(arguments))
    if arguments.out is None:
        print(text, end="")
    else:
        try:
            arguments.out.parent.mkdir(parents=True, exist_ok=True)
            arguments.out.write_text(text)
        except (OSError, ValueError) as error:
            raise UsageError(f"--out {arguments.out} cannot be written: {error}") from error
    return 0


def lines(arguments: argparse.Namespace) -> Iterator[str]:
    """Return the whole text. Its first line is the command that makes it again."""
    match = find_match(arguments)
    game, bots, options = match.game, match.bots, match.options
    singles = "".join(f" --option {single}" for single in arguments.option)
    yield (
        f"# towerhall playthrough {game.name} --bots {arguments.bots}"
        f" --preset {arguments.preset}{singles} --seed {arguments.seed}"
    )
    yield f"# rules {game.version}"
    seed = match_seed(arguments.seed, 0)
    blank = game.start(options, len(bots), seed)
    setup = game.setup(blank)
    state = game.play(blank, setup)
    yield "setup"
    yield from (f"  {fact_line(game.facts(event))}" for event in setup)
    yield from view_lines(game.view(state, None), "  ")
    steps = list(play(game, options, bots, seed))
    for number, step in enumerate(steps, start=1):
        offered = " | ".join(map(offer_line, game.offers(step.before, step.seat)))
        yield f"{number}. seat {step.seat} may {offered}"
        yield f"  > {command_line(step.command)}"
        yield from (f"  {fact_line(game.facts(event))}" for event in step.events)
        before, after = game.view(step.before, None), game.view(step.after, None)
        patch = json.dumps(diff(before, after), separators=(",", ":"), sort_keys=True)
        yield f"  patch {patch}"
        yield f"  view {sha256(canonical(after)).hexdigest()[:12]}"
    yield "end"
    yield from view_lines(game.view(steps[-1].after, None), "  ")
    result = final_result(game, steps)
    for seat, (bot, score, place) in enumerate(
        zip(bots, result.scores, result.places, strict=True)
    ):
        yield f"seat {seat}, {bot}: {score} points, place {place}"
