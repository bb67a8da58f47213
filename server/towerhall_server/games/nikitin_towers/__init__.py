"""Nikitin Towers: a die, a neighbour's choice, and towers that must stand. Rules: `RULES.md`."""

from towerhall_server.game import Game
from towerhall_server.games.nikitin_towers.bots import BOTS
from towerhall_server.games.nikitin_towers.commands import CLOCK_COMMANDS
from towerhall_server.games.nikitin_towers.events import Event, facts
from towerhall_server.games.nikitin_towers.figures import figures
from towerhall_server.games.nikitin_towers.offers import offers
from towerhall_server.games.nikitin_towers.options import PRESETS, Options
from towerhall_server.games.nikitin_towers.reference import REFERENCE
from towerhall_server.games.nikitin_towers.rejections import REASONS
from towerhall_server.games.nikitin_towers.rules import (
    advance,
    ahead,
    decide,
    foresee,
    setup,
    slow,
    timeout,
)
from towerhall_server.games.nikitin_towers.stability import prepare
from towerhall_server.games.nikitin_towers.state import (
    State,
    fold,
    resample,
    shows_result,
    start,
    to_act,
)
from towerhall_server.games.nikitin_towers.view import result, standing, view

GAME: Game[State, Event] = Game(
    name="nikitin_towers",
    version=1,
    seats=range(2, 4),
    options_type=Options,
    presets=PRESETS,
    state_type=State,
    event_type=Event,
    reasons=REASONS,
    start=start,
    setup=setup,
    decide=decide,
    advance=advance,
    fold=fold,
    facts=facts,
    view=view,
    to_act=to_act,
    offers=offers,
    timeout=timeout,
    result=result,
    standing=standing,
    resample=resample,
    bots=BOTS,
    clock_commands=CLOCK_COMMANDS,
    slow=slow,
    ahead=ahead,
    slow_bots=True,
    foresee=foresee,
    shows_result=shows_result,
    prepare=prepare,
    figures=figures,
    reference=REFERENCE,
    shared_view=True,
)
