"""How many bytes a view and a patch take on the wire, in whole games of four planners."""

from tests.programs.bench.report import Figure
from towerhall_protocol.codec import encode
from towerhall_protocol.merge_patch import diff
from towerhall_server.cli.arena import match_seed, play
from towerhall_server.cli.progress import progress
from towerhall_server.game import discover

GAMES = 20
BOTS = ("planner",) * 4


def measure() -> list[Figure]:
    """The largest of each, over all games; views are taken at half of the game."""
    game = discover()["five_towers"]
    views, patches = [], []
    for number in progress(range(GAMES), GAMES, "sizes"):
        steps = list(play(game, game.presets["standard"], BOTS, match_seed(7, number)))
        views.append(len(encode(game.view(steps[len(steps) // 2].before, None))))
        for step in steps:
            before, after = game.view(step.before, None), game.view(step.after, None)
            if step.command["command"] == "bid" and before["round"] == after["round"]:
                patches.append(len(encode(diff(before, after))))
    mean = f"mean {sum(views) / len(views):.0f}, {GAMES} games"
    patch_mean = f"mean {sum(patches) / len(patches):.0f}, {len(patches)} bids"
    return [
        Figure("largest view at half-time", max(views), "bytes", at_most=700, note=mean),
        Figure("largest patch of a bid", max(patches), "bytes", at_most=45, note=patch_mean),
    ]
