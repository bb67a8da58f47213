"""Five Towers: auction and tower building for two to five. The rules are in `RULES.md`."""

from towerhall_server.game import Game
from towerhall_server.games.five_towers.bots import BOTS
from towerhall_server.games.five_towers.events import Event
from towerhall_server.games.five_towers.options import PRESETS, Options
from towerhall_server.games.five_towers.reference import REFERENCE
from towerhall_server.games.five_towers.rejections import REASONS
from towerhall_server.games.five_towers.rules import advance, decide, offers, setup, timeout, to_act
from towerhall_server.games.five_towers.state import State, fold, resample, shows_result, start
from towerhall_server.games.five_towers.view import facts, result, standing, view

GAME: Game[State, Event] = Game(
    name="five_towers",
    version=1,
    seats=range(2, 6),
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
    shows_result=shows_result,
    reference=REFERENCE,
    shared_view=True,
)
