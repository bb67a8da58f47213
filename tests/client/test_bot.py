"""The bot loop: it plays to the end with whatever policy, and copes with refusals."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from tests.client.fake_server import Visit, fake_server, joined
from tests.client.game import Game
from towerhall_client.bot import play_bot, random_policy
from towerhall_client.errors import RefusedError, TableClosedError
from towerhall_protocol.document import Document
from towerhall_protocol.offers import Choice, Offer, Range


def stubborn(view: Document, offers: Sequence[Offer]) -> Mapping[str, Any]:
    """Always the last command, which is always refused."""
    return [command for offer in offers for command in offer.commands()][-1]


async def played(game: Game, policy: Any) -> Document:
    async with fake_server(game.serve) as server, joined(server) as table:
        await table.sit()
        await table.start()
        return await play_bot(table, policy)


async def test_a_random_bot_plays_to_the_end() -> None:
    game = Game()
    view = await played(game, random_policy(Random(5)))
    assert view["game"] == {"round": 3}
    assert len(game.done) == 3


async def test_a_policy_sees_the_view_and_the_offers() -> None:
    seen: list[object] = []

    def policy(view: Document, offers: Sequence[Offer]) -> Mapping[str, Any]:
        seen.append(view["game"])
        return next(iter(offers[0].commands()))

    game = Game()
    await played(game, policy)
    assert seen == [{"round": 0}, {"round": 1}, {"round": 2}]
    assert game.done == [{"command": "bid", "card": "sand", "number": 1}] * 3


async def test_a_policy_that_insists_on_what_is_refused_plays_on_with_something_else() -> None:
    game = Game()
    await played(game, stubborn)
    assert game.refused == [{"command": "bid", "card": "tree", "number": 3}] * 3
    assert game.done == [{"command": "bid", "card": "sand", "number": 1}] * 3


async def test_a_bot_whose_every_command_is_refused_says_so() -> None:
    game = Game(may_refuse_all=True)
    with pytest.raises(RefusedError, match="stuck"):
        await played(game, stubborn)
    assert len(game.refused) == 6


async def test_a_bot_that_is_too_fast_waits_and_tries_the_same_again() -> None:
    game = Game()
    game.busy_once = True
    await played(game, lambda view, offers: next(iter(offers[0].commands())))
    assert len(game.done) == 3
    assert game.refused == []


async def test_a_bot_ends_with_its_connection() -> None:
    async def closing(visit: Visit) -> None:
        await visit.welcome()
        await visit.close("replaced")

    async with fake_server(closing) as server, joined(server) as table:
        with pytest.raises(TableClosedError, match="replaced"):
            await play_bot(table, stubborn)


def test_a_random_policy_takes_every_command_alike() -> None:
    offers = (
        Offer("bid", {"number": Range(1, 3)}),
        Offer("pass"),
        Offer("build", choices=(Choice({"card": "sand"}), Choice({"card": "tree"}))),
        Offer("never", choices=()),
    )
    policy = random_policy(Random(7))
    drawn = Counter(str(policy({}, offers)) for _ in range(6000))
    assert len(drawn) == 6
    assert all(800 < count < 1200 for count in drawn.values())


def test_a_random_policy_without_offers_says_so() -> None:
    with pytest.raises(ValueError, match="empty range"):
        random_policy()({}, ())
