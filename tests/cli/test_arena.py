"""Whole games between bots without a server, also for games that Five Towers is not like."""

from dataclasses import replace

import pytest

from tests.games.tile_duel import GAME
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Offer
from towerhall_server.cli.arena import final_result, match_seed, play


def hopeful(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    """Tries whatever may be refused before anything else."""
    first = sorted(offers, key=lambda offer: not offer.unsure)[0]
    return next(first.commands())


def cheating(view: Document, offers: tuple[Offer, ...], entropy: bytes) -> dict[str, object]:
    return {"command": "win"}


DUEL = replace(GAME, bots={**GAME.bots, "hopeful": hopeful, "cheating": cheating})


def test_a_bot_may_try_an_unsure_offer_and_choose_again() -> None:
    refused = 0
    for number in range(5):
        steps = list(play(DUEL, DUEL.presets["standard"], ("hopeful",) * 2, match_seed(3, number)))
        for step in steps:
            unsure = any(offer.unsure for offer in DUEL.offers(step.before, step.seat))
            sure = {o.command for o in DUEL.offers(step.before, step.seat) if not o.unsure}
            refused += unsure and step.command["command"] in sure
        assert final_result(DUEL, steps).winners
    assert refused > 0


def test_a_bot_that_cheats_is_named() -> None:
    with pytest.raises(RuntimeError, match="cheating made an illegal command"):
        list(play(DUEL, DUEL.presets["standard"], ("cheating",) * 2, match_seed(3, 0)))
