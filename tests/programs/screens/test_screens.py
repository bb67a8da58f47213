"""The pictures are taken: of the screens that are named, at the sizes that are named."""

import struct
from pathlib import Path

from tests.programs.screens.__main__ import main
from tests.programs.screens.scenes import SCENES


def test_pictures_and_a_sheet_are_taken_of_what_is_named(tmp_path: Path) -> None:
    main(["saved_game", "--size", "360x640", "--into", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {
        "saved_game-360x640-light.png",
        "saved_game-360x640-dark.png",
        "sheet-360x640.png",
    }
    light, dark = (
        (tmp_path / f"saved_game-360x640-{each}.png").read_bytes() for each in ("light", "dark")
    )
    # The size stands in the head of the file.
    assert struct.unpack(">II", light[16:24]) == (360, 640)
    assert light != dark


def test_each_game_is_shown_from_its_first_choice_to_its_end() -> None:
    assert len(SCENES) >= 22
    assert {"hall", "waiting", "bidding", "building", "end", "replay", "settings"} <= set(SCENES)
    assert {f"nikitin_{each}" for each in ("choose", "place", "collapse", "end")} <= set(SCENES)
