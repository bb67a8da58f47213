"""A newcomer's first game of Nikitin Towers, from the hall through the lesson to the end."""

import pytest

from tests.browser.chromium import Visitors
from tests.browser.newcomer import begin, learn
from tests.browser.nikitin.player import Player
from tests.end_to_end.servers import ServerProcess


@pytest.mark.timeout(400)
async def test_a_newcomer_learns_and_builds_a_first_tower(
    shared: ServerProcess, visitors: Visitors
) -> None:
    page = await visitors.visit(shared.url, game=None)
    await learn(page, "Nikitin Towers")
    await begin(page)
    # The grid is quicker to draw than the board, and shows the same.
    player = Player(page)
    await player.decision()
    await page.keyboard.press("v")
    while await player.by_keys():
        pass
    await page.get_by_role("heading", name="The game is over").wait_for()
