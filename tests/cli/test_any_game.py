"""Commands without a seat number or a bot: each game gets what it takes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.games.dice_duel import GAME as DICE_DUEL
from tests.games.folders import more_folders
from towerhall_client.http import Service
from towerhall_server.cli.bots import usual_seats
from towerhall_server.cli.main import main
from towerhall_server.cli.play import fewest_seats

TOY = """
from dataclasses import replace
from tests.games.dice_duel import GAME
GAME = replace(GAME, name="toy", seats=range({least}, {most} + 1), bots={bots})
"""


class Games(Service):
    """A service that only tells which games it has."""

    def __init__(self, *spans: tuple[int, int]) -> None:
        super().__init__("http://127.0.0.1:1")
        self.spans = spans

    async def games(self) -> list[dict[str, Any]]:
        return [{"name": f"g{n}", "seats": list(span)} for n, span in enumerate(self.spans)]


@pytest.mark.parametrize(
    ("span", "seats"), [((2, 5), 2), ((1, 4), 2), ((1, 1), 1), ((3, 6), 3), ((2, 2), 2)]
)
async def test_a_new_room_has_two_seats_or_what_the_game_takes(
    span: tuple[int, int], seats: int
) -> None:
    assert await fewest_seats(Games((4, 4), span), "g1") == seats


async def test_a_game_that_the_service_does_not_have_is_left_to_its_refusal() -> None:
    assert await fewest_seats(Games((4, 4)), "chess") == 2


@pytest.mark.parametrize(("least", "most"), [(2, 3), (1, 1), (5, 8), (4, 4)])
@pytest.mark.parametrize("bots", ['{"hard": GAME.bots["easy"]}', "GAME.bots"])
def test_bots_need_neither_seats_nor_a_bot_by_name(
    least: int, most: int, bots: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with more_folders(tmp_path) as add:
        add("toy", TOY.format(least=least, most=most, bots=bots))
        assert main(["bots", "--game", "toy", "--url", "http://127.0.0.1:1"]) == 2
    assert "is a server running?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seats", "usual"), [(range(2, 6), 4), (range(2, 4), 3), (range(5, 9), 5), (range(1, 2), 1)]
)
def test_bots_play_in_fours_or_in_the_nearest_number(seats: range, usual: int) -> None:
    assert usual_seats(replace(DICE_DUEL, seats=seats)) == usual


def test_a_wrong_number_of_seats_is_refused_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with more_folders(tmp_path) as add:
        add("toy", TOY.format(least=2, most=3, bots="GAME.bots"))
        assert main(["bots", "--game", "toy", "--seats", "4"]) == 2
    assert "--seats must be 2 to 3" in capsys.readouterr().err
